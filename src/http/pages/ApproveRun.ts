/**
 * The page behind the link of an e-mail about a run that waits. It says what would run, for whom and up to which price, and its form decides.
 *
 * Opening it changes nothing. The link names a member, and is dead when that member may not decide, and once anybody has decided.
 */
import { Effect, Layer, Redacted, Schema } from "effect"
import { HttpServerRequest } from "effect/http"
import { makeDecideApproval } from "../../actors/guards/Approvals.ts"
import { ApprovalStore } from "../../layers/members/ApprovalStore.ts"
import { approvalPath } from "../../schema/accounts/AccountMail.ts"
import { usd } from "../../schema/money/Money.ts"
import { LinkToken } from "../api/shapes/AccountFields.ts"
import { badLink, formPage, hidden, openedLink } from "./Forms.ts"
import { escaped, page } from "./Page.ts"

const ended = badLink("<p>The console lists the runs that wait. Somebody else may have decided already.</p>")

const DecisionForm = Schema.Struct({
  token: LinkToken,
  digest: Schema.String.check(Schema.isMaxLength(64)),
  decision: Schema.Literals(["approve", "deny"])
})

export const ApproveRunPage = Layer.unwrap(
  Effect.gen(function* () {
    const { linked, approvals } = yield* ApprovalStore
    const decideApproval = yield* makeDecideApproval

    const shown = Effect.fnUntraced(function* (token: string) {
      const link = yield* linked(Redacted.make(token))
      const run = link === null ? null : yield* approvals.find(link.org_id, link.run_id)
      if (run === null) return null
      const facts: ReadonlyArray<readonly [string, string]> = [
        ["Runs", run.capability ?? `${run.providers[0] ?? ""} ${run.endpoint ?? ""}`],
        ["Input", run.subject ?? "no text"],
        ["Costs at most", `$${usd(run.hold)}`],
        ["Calls", run.providers.join(", then ")],
        ["Started by", run.key_id ?? "a member"],
        ["Rule", run.rule],
        ["Waits until", run.expires_at.toISOString()],
        ["Run", run.run_id]
      ]
      const list = facts.map(([name, value]) => `<dt>${name}</dt><dd>${escaped(value)}</dd>`).join("")
      const digest = `<input type="hidden" name="digest" value="${escaped(run.digest ?? "")}">`
      return page(
        200,
        "A run waits for your approval",
        `<dl>${list}</dl><form method="post">${hidden(token)}${digest}<p><button name="decision" value="approve">Approve</button> <button name="decision" value="deny">Deny</button></p></form>`
      )
    })

    const decide = Effect.gen(function* () {
      const { token, digest, decision } = yield* HttpServerRequest.schemaBodyUrlParams(DecisionForm)
      const link = yield* linked(Redacted.make(token))
      if (link === null) return ended
      const { org_id, run_id, user_id } = link
      yield* decideApproval(org_id, run_id, { act: decision, by: user_id, via: "link", digest })
      return decision === "approve"
        ? page(200, "Approved", `<p>The run ${escaped(run_id)} starts now.</p>`)
        : page(200, "Denied", `<p>The run ${escaped(run_id)} has ended. Nothing was charged.</p>`)
    })

    return formPage(approvalPath, openedLink(ended, shown), decide)
  })
)
