/** `rungate admin show`: the full state of one organization, and whether its books add up. */
import { Clock, Console, Effect, type Schema } from "effect"
import { Command } from "effect/cli"
import {
  KeyOfOrganization,
  OpenRun,
  OperatorOrganizationDetail,
  Person
} from "../../schema/nouns/operator/Organization.ts"
import { Payment } from "../../schema/nouns/operator/Payment.ts"
import { Transaction, WalletAudit } from "../../schema/nouns/Wallet.ts"
import { OperatorOrganizationsApi } from "../api/operator/Organizations.ts"
import { type Cells, nounTable, type Shown } from "../cli/answers/draw.ts"
import { ask } from "../cli/answers/operation.ts"
import { failedWith } from "../cli/terminal/exits.ts"
import { Screen } from "../cli/terminal/Screen.ts"
import { json, organizationId } from "./flags.ts"
import { harmless } from "../cli/terminal/text.ts"
import { print, violationLines, when } from "./output.ts"

const { endpoints } = OperatorOrganizationsApi
type Detail = typeof OperatorOrganizationDetail.Encoded

const autoLine = (auto: Detail["auto_topup"]) => {
  if (auto === null) return "never set"
  const terms = `${auto.amount} below ${auto.threshold}`
  return `${auto.enabled ? "on" : "off"}, ${terms}${auto.last_error === null ? "" : `; ${harmless(auto.last_error)}`}`
}

const suspensionLines = ({ org_id, suspension }: Detail): ReadonlyArray<string> =>
  suspension === null
    ? []
    : [
        `suspended: since ${when(suspension.since)}, new runs are blocked (rungate admin resume ${org_id})`,
        ...suspension.violations.map((one) => harmless(`  ${one}`))
      ]

const linesOf = (
  detail: Detail,
  { violations }: typeof WalletAudit.Encoded,
  paper: Pick<Shown, "screen" | "now">
): ReadonlyArray<string> => {
  const { org_id, guard, losses, unknown_outcomes: unknown } = detail
  const section = <A, I>(title: string, noun: Schema.Codec<A, I>, rows: ReadonlyArray<I>, cells: Cells<I> = {}) =>
    rows.length === 0
      ? ["", `${title}: none`]
      : ["", `${title}:`, ...nounTable(noun, rows, paper, cells).map((line) => `  ${line}`)]
  return [
    `${org_id}  ${harmless(detail.name)}  (created ${when(detail.created_at)})`,
    `wallet: balance ${detail.balance}, reserved ${detail.reserved}, available ${detail.available} USD`,
    ...suspensionLines(detail),
    `guard: per run ${guard.per_run_limit ?? "no limit"}, per day ${guard.daily_limit ?? "no limit"}; today ${guard.spent_today} charged, ${detail.runs_today} runs`,
    `automatic top-up: ${autoLine(detail.auto_topup)}`,
    ...section("people, the oldest 20 first", Person, detail.people),
    ...section("last 10 payments, newest first", Payment, detail.payments, {
      state: ({ state, failure }) => (failure === null ? state : `${state}: ${failure}`),
      payment_id: (one) => one.session_id ?? one.payment_intent ?? one.payment_id
    }),
    ...section("keys, newest first (100 at most)", KeyOfOrganization, detail.keys),
    ...section("last 20 ledger entries, newest first", Transaction, detail.entries),
    ...section("open runs, oldest first (50 at most)", OpenRun, detail.open_runs),
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
    const detail = yield* ask(endpoints.get, { params }, OperatorOrganizationDetail)
    const audit = yield* ask(endpoints.audit, { params }, WalletAudit)
    const { adds_up, violations } = audit
    const [screen, now] = [yield* Screen, yield* Clock.currentTimeMillis]
    yield* json
      ? print({ ...detail, books: { add_up: adds_up, violations } })
      : Console.log(linesOf(detail, audit, { screen, now }).join("\n"))
    if (!adds_up) return yield* failedWith(`The books of ${org_id} do not add up. See the violations above.`)
  })
).pipe(
  Command.withDescription(
    "Show an organization's wallet, keys, ledger and open runs; exit code 1 when its books don't add up"
  )
)
