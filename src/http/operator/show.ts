/**
 * Handlers of `rungate admin show`, the full state of one organization from one database snapshot, and of `rungate admin audit-log`, who
 * changed what in one organization or in all.
 */
import { Console, Effect } from "effect"
import { bad, firstOf, orgOf, onDatabase, plain, print, table, violationLines, when } from "./output.ts"
import { fail } from "../cli/terminal/exits.ts"
import { AuditLog, everything } from "../../layers/auditlog/AuditLog.ts"
import type { Violation } from "../../layers/audit/equations.ts"
import { Books } from "../../layers/ledger/Books.ts"
import { makeOrganizationState, type OrganizationState, shownMax } from "../../layers/operator/OrganizationState.ts"
import type { AutoTopupRow } from "../../layers/payments/PaymentStore.ts"
import { usd } from "../../schema/money/Money.ts"
import { limitView, lossView, organizationStateView, verificationOf } from "../views/operator/OrganizationView.ts"

interface Shown {
  readonly state: OrganizationState
  readonly violations: ReadonlyArray<Violation>
}

const viewOf = ({ state, violations }: Shown) => ({
  ...organizationStateView(state),
  books: { add_up: violations.length === 0, violations }
})

const autoLine = (auto: AutoTopupRow | null) => {
  if (auto === null) return "never set"
  const terms = `${usd(auto.amount)} below ${usd(auto.threshold)}`
  return `${auto.enabled ? "on" : "off"}, ${terms}${auto.last_error === null ? "" : `; ${plain(auto.last_error)}`}`
}

const textOf = ({ state: shown, violations }: Shown): ReadonlyArray<string> => {
  const { organization, wallet, losses, unknown } = shown
  const { runs, loss } = lossView(losses)
  const section = (title: string, head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>) =>
    rows.length === 0 ? ["", `${title}: none`] : ["", `${title}:`, ...table(head, rows).map((line) => `  ${line}`)]
  const most = (title: string, count: number, max: number) => (count < max ? title : `${title} (the first ${max})`)
  return [
    `${organization.org_id}  ${plain(organization.name)}  (created ${when(organization.created_at)})`,
    `wallet: balance ${usd(wallet.balance)}, reserved ${usd(wallet.reserved)}, available ${usd(wallet.balance - wallet.reserved)} USD`,
    ...(organization.suspended_at === null
      ? []
      : [
          `suspended: since ${when(organization.suspended_at)}, new runs are blocked (rungate admin resume ${organization.org_id})`,
          ...organization.violations.map((one) => plain(`  ${one}`))
        ]),
    `guard: per run ${limitView(wallet.per_run_limit) ?? "no limit"}, per day ${limitView(wallet.daily_limit) ?? "no limit"}; today ${usd(wallet.spent_today)} charged, ${organization.runs_today} runs`,
    `automatic top-up: ${autoLine(shown.auto)}`,
    ...section(
      most("people, oldest first", shown.people.length, shownMax.people),
      ["id", "e-mail", "role", "joined", "e-mail address"],
      shown.people.map((person) => [
        person.user_id,
        person.email,
        person.role,
        when(person.created_at),
        {
          pending: "not verified",
          not_asked: "verification was off",
          verified: `verified ${when(person.email_verified_at)}`
        }[verificationOf(person)]
      ])
    ),
    ...section(
      `last ${shownMax.payments} payments, newest first`,
      ["at", "kind", "amount", "state", "taken back", "session or charge", "failure"],
      shown.payments.map((payment) => [
        when(payment.created_at),
        payment.kind,
        usd(payment.amount),
        payment.state,
        usd(payment.clawed_back),
        payment.session_id ?? payment.payment_intent ?? payment.payment_id,
        payment.failure ?? ""
      ])
    ),
    ...section(
      most("keys, newest first", shown.keys.length, shownMax.keys),
      ["id", "name", "environment", "display", "last used", "revoked"],
      shown.keys.map((key) => [
        key.key_id,
        key.name,
        key.environment,
        key.display,
        when(key.last_used_at),
        when(key.revoked_at)
      ])
    ),
    ...section(
      `last ${shownMax.entries} ledger entries, newest first`,
      ["at", "type", "amount", "balance after", "reference", "note"],
      shown.entries.map((entry) => [
        when(entry.created_at),
        entry.type,
        usd(entry.amount),
        usd(entry.balance_after),
        entry.reference,
        entry.note ?? ""
      ])
    ),
    ...section(
      most("open runs, oldest first", shown.runs.length, shownMax.runs),
      ["id", "of", "status", "hold", "since"],
      shown.runs.map((run) => [
        run.run_id,
        run.capability ?? run.endpoint ?? "",
        run.state,
        usd(run.hold),
        when(run.since)
      ])
    ),
    "",
    `losses: ${loss} USD in ${runs} runs${losses.length === 0 ? "" : ` (rungate admin losses --org ${organization.org_id})`}`,
    `unknown outcomes: ${unknown}${unknown === 0 ? "" : ` (rungate admin unknown --org ${organization.org_id})`}`,
    ...violationLines(violations),
    violations.length === 0 ? "books: add up" : `books: ${violations.length} violations`
  ]
}

export const show = (org_id: string, json: boolean) =>
  Effect.gen(function* () {
    const books = yield* Books
    const stateOf = yield* makeOrganizationState
    yield* orgOf(org_id)
    const shown = yield* books.snapshot(Effect.all({ state: stateOf(org_id), violations: books.violations(org_id) }))
    yield* json ? print(viewOf(shown)) : Console.log(textOf(shown).join("\n"))
    if (shown.violations.length > 0) {
      return yield* fail("failed", `The books of ${org_id} do not add up. See the violations above.`)
    }
  }).pipe(onDatabase)

export interface AuditLogFlags {
  readonly org: string | null
  readonly action: string | null
  readonly actor: string | null
  readonly limit: number
  readonly json: boolean
}

export const auditLog = ({ org, action, actor, limit, json }: AuditLogFlags) =>
  Effect.gen(function* () {
    if (org !== null) yield* orgOf(org)
    if ([action, actor].some((word) => word === "" || word?.includes("\u0000") === true))
      return yield* bad("--action and --actor must not be empty.")
    const log = yield* AuditLog
    const filter = { ...everything, action, actor }
    const { rows, more } = yield* firstOf(limit, (most) => log.list(org, filter, null, most))
    if (json)
      return yield* print({
        items: rows.map(({ entry_id, created_at, ...row }) => ({
          id: entry_id,
          ...row,
          created_at: created_at.toISOString()
        })),
        more
      })
    const valueOf = (value: unknown) => (value === null ? "" : JSON.stringify(value))
    const lines = table(
      ["at", "organization", "actor", "address", "action", "object", "before", "after"],
      rows.map((row) => [
        when(row.created_at),
        row.org_id ?? "-",
        row.actor_name === null ? row.actor : `${row.actor} ${row.actor_name}`,
        row.address ?? "-",
        row.action,
        row.object,
        valueOf(row.before),
        valueOf(row.after)
      ])
    )
    yield* Console.log(lines.join("\n"))
    if (more) yield* Console.error(`More entries exist. Raise --limit (now ${limit}).`)
  }).pipe(onDatabase)
