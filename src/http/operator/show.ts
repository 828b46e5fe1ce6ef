/** `rungate admin show`: the full state of one organization, and whether its books add up. */
import { Console, Effect } from "effect"
import { Command } from "effect/cli"
import type { OperatorOrganizationDetail } from "../../schema/nouns/operator/Organization.ts"
import type { WalletAudit } from "../api/Wallet.ts"
import { fail } from "../cli/terminal/exits.ts"
import { ask } from "./ask.ts"
import { json, organizationId } from "./flags.ts"
import { type Columns, plain, print, table, violationLines, when } from "./output.ts"

const section = <Row>(title: string, rows: ReadonlyArray<Row>, columns: Columns<Row>): ReadonlyArray<string> =>
  rows.length === 0 ? ["", `${title}: none`] : ["", `${title}:`, ...table(rows, columns).map((line) => `  ${line}`)]

type Detail = typeof OperatorOrganizationDetail.Encoded

const autoLine = (auto: Detail["auto_topup"]) => {
  if (auto === null) return "never set"
  const terms = `${auto.amount} below ${auto.threshold}`
  return `${auto.enabled ? "on" : "off"}, ${terms}${auto.last_error === null ? "" : `; ${plain(auto.last_error)}`}`
}

const suspensionLines = ({ org_id, suspension }: Detail): ReadonlyArray<string> =>
  suspension === null
    ? []
    : [
        `suspended: since ${when(suspension.since)}, new runs are blocked (rungate admin resume ${org_id})`,
        ...suspension.violations.map((one) => plain(`  ${one}`))
      ]

const linesOf = (detail: Detail, { violations }: typeof WalletAudit.Type): ReadonlyArray<string> => {
  const { org_id, guard, losses, unknown_outcomes: unknown } = detail
  return [
    `${org_id}  ${plain(detail.name)}  (created ${when(detail.created_at)})`,
    `wallet: balance ${detail.balance}, reserved ${detail.reserved}, available ${detail.available} USD`,
    ...suspensionLines(detail),
    `guard: per run ${guard.per_run_limit ?? "no limit"}, per day ${guard.daily_limit ?? "no limit"}; today ${guard.spent_today} charged, ${detail.runs_today} runs`,
    `automatic top-up: ${autoLine(detail.auto_topup)}`,
    ...section("people, the oldest 20 first", detail.people, {
      id: (one) => one.id,
      "e-mail": (one) => one.email,
      role: (one) => one.role,
      joined: (one) => when(one.created_at),
      "e-mail address": ({ verification, email_verified_at }) =>
        ({
          pending: "not verified",
          not_asked: "verification was off",
          verified: `verified ${when(email_verified_at)}`
        })[verification]
    }),
    ...section("last 10 payments, newest first", detail.payments, {
      at: (one) => when(one.created_at),
      kind: (one) => one.kind,
      amount: (one) => one.amount,
      state: (one) => one.state,
      "taken back": (one) => one.clawed_back,
      "session or charge": (one) => one.session_id ?? one.payment_intent ?? one.payment_id,
      failure: (one) => one.failure
    }),
    ...section("keys, newest first (100 at most)", detail.keys, {
      id: (one) => one.id,
      name: (one) => one.name,
      environment: (one) => one.environment,
      display: (one) => one.display,
      "last used": (one) => when(one.last_used_at),
      revoked: (one) => when(one.revoked_at)
    }),
    ...section("last 20 ledger entries, newest first", detail.entries, {
      at: (one) => when(one.created_at),
      type: (one) => one.type,
      amount: (one) => one.amount,
      "balance after": (one) => one.balance_after,
      reference: (one) => one.reference,
      note: (one) => one.note
    }),
    ...section("open runs, oldest first (50 at most)", detail.open_runs, {
      id: (one) => one.run_id,
      of: (one) => one.capability ?? one.endpoint,
      status: (one) => one.status,
      hold: (one) => one.hold,
      since: (one) => when(one.since)
    }),
    "",
    `losses: ${losses.loss} USD in ${losses.runs} runs${losses.runs === 0 ? "" : ` (rungate admin losses --org ${org_id})`}`,
    `unknown outcomes: ${unknown}${unknown === 0 ? "" : ` (rungate admin unknown --org ${org_id})`}`,
    ...violationLines(violations),
    violations.length === 0 ? "books: add up" : `books: ${violations.length} violations`
  ]
}

export const show = Command.make(
  "show",
  { org_id: organizationId, json },
  Effect.fnUntraced(function* ({ org_id, json }) {
    const params = { org_id }
    const { detail, audit } = yield* ask("operatorOrganizations", (organizations) =>
      Effect.all({ detail: organizations.get({ params }), audit: organizations.audit({ params }) })
    )
    const { adds_up, violations } = audit
    yield* json
      ? print({ ...detail, books: { add_up: adds_up, violations } })
      : Console.log(linesOf(detail, audit).join("\n"))
    if (!adds_up) return yield* fail("failed", `The books of ${org_id} do not add up. See the violations above.`)
  })
).pipe(
  Command.withDescription(
    "Show an organization's wallet, keys, ledger and open runs; exit code 1 when its books don't add up"
  )
)
