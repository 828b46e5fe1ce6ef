/**
 * The page behind the link of an e-mail about a run that waits. It says what would run, for whom and up to which price, and its form decides.
 *
 * Opening it changes nothing. The link names a member, and is dead when that member may not decide, and once anybody has decided.
 */
import { Effect, Layer, Redacted, Schema } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { Approvals } from "../../actors/guards/Approvals.ts"
import { ApprovalStore } from "../../layers/members/ApprovalStore.ts"
import { approvalPath } from "../../schema/accounts/AccountMail.ts"
import { usd } from "../../schema/money/Money.ts"
import { LinkToken } from "../api/shapes/AccountFields.ts"
import { rateLimitedPage } from "../middleware/RequestChecks.ts"
import { answered, badLink, hidden, openedLink } from "./Forms.ts"
import { escaped, page } from "./Page.ts"

const ended = badLink("<p>The console lists the runs that wait. Somebody else may have decided already.</p>")

const DecisionForm = Schema.Struct({
  token: LinkToken,
  digest: Schema.String.check(Schema.isMaxLength(64)),
  decision: Schema.Literals(["approve", "deny"])
})

export const ApproveRunPage = Layer.unwrap(
  Effect.gen(function* () {
    const [store, approvals] = [yield* ApprovalStore, yield* Approvals]

    const shown = Effect.fnUntraced(function* (token: string) {
      const linked = yield* store.linked(Redacted.make(token))
      if (linked === null) return null
      const facts: ReadonlyArray<readonly [string, string]> = [
        ["Runs", linked.capability ?? `${linked.providers[0] ?? ""} ${linked.endpoint ?? ""}`],
        ["Input", linked.subject ?? "no text"],
        ["Costs at most", `$${usd(linked.hold)}`],
        ["Calls", linked.providers.join(", then ")],
        ["Started by", linked.key_id ?? "a member"],
        ["Rule", linked.rule],
        ["Waits until", linked.expires_at.toISOString()],
        ["Run", linked.run_id]
      ]
      const list = facts.map(([name, value]) => `<dt>${name}</dt><dd>${escaped(value)}</dd>`).join("")
      const digest = `<input type="hidden" name="digest" value="${escaped(linked.digest ?? "")}">`
      return page(
        200,
        "A run waits for your approval",
        `<dl>${list}</dl><form method="post">${hidden(token)}${digest}<p><button name="decision" value="approve">Approve</button> <button name="decision" value="deny">Deny</button></p></form>`
      )
    })

    const decide = Effect.gen(function* () {
      const { token, digest, decision } = yield* HttpServerRequest.schemaBodyUrlParams(DecisionForm)
      const linked = yield* store.linked(Redacted.make(token))
      if (linked === null) return ended
      const { org_id, run_id, user_id } = linked
      yield* approvals.decide(org_id, run_id, { act: decision, by: user_id, via: "link", digest })
      return decision === "approve"
        ? page(200, "Approved", `<p>The run ${escaped(run_id)} starts now.</p>`)
        : page(200, "Denied", `<p>The run ${escaped(run_id)} has ended. Nothing was charged.</p>`)
    })

    return Layer.mergeAll(
      HttpRouter.add("GET", approvalPath, openedLink(ended, shown)),
      HttpRouter.add("POST", approvalPath, rateLimitedPage(answered(decide)))
    )
  })
)
