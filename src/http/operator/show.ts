/**
 * Handlers of `rungate admin show`, the full state of one organization from one database snapshot, and of `rungate admin audit-log`, who
 * changed what in one organization or in all.
 */
import { Console, Effect } from "effect"
import {
  bad,
  firstOf,
  known,
  onDatabase,
  organizationView,
  plain,
  print,
  table,
  violationLines,
  when
} from "./output.ts"
import { fail } from "../cli/terminal/exits.ts"
import { Accounts, type KeyRow, type OrganizationRow } from "../../layers/accounts/Accounts.ts"
import { AuditLog, everything } from "../../layers/auditlog/AuditLog.ts"
import type { Violation } from "../../layers/audit/equations.ts"
import { Books, type OpenRunRow, type WalletRow } from "../../layers/ledger/Books.ts"
import type { EntryRow } from "../../layers/ledger/EntryList.ts"
import { type LossTotal, Losses } from "../../layers/ledger/Losses.ts"
import { type MemberRow, Members } from "../../layers/members/Members.ts"
import { UnknownOutcomes } from "../../layers/runs/UnknownOutcomes.ts"
import { type AutoTopupRow, PaymentStore, type PaymentRow } from "../../layers/payments/PaymentStore.ts"
import { usd } from "../../schema/money/Money.ts"

const entriesShown = 20
const paymentsShown = 10
const keysShown = 100
const peopleShown = 20
const runsShown = 50
const unknownsCounted = 1_000

interface Shown {
  readonly organization: OrganizationRow
  readonly wallet: WalletRow
  readonly auto: AutoTopupRow | null
  readonly payments: ReadonlyArray<PaymentRow>
  readonly people: ReadonlyArray<MemberRow>
  readonly keys: ReadonlyArray<KeyRow>
  readonly entries: ReadonlyArray<EntryRow>
  readonly runs: ReadonlyArray<OpenRunRow>
  readonly losses: ReadonlyArray<LossTotal>
  /** Calls with an unresolved unknown outcome. */
  readonly unknown: number
  readonly violations: ReadonlyArray<Violation>
}

const limitOf = (limit: bigint | null) => (limit === null ? null : usd(limit))

/** `not_asked`: verification was off when the user signed up. */
const verificationOf = ({ pending, email_verified_at }: MemberRow) =>
  pending ? "pending" : email_verified_at === null ? "not_asked" : "verified"

const lossOf = (losses: ReadonlyArray<LossTotal>) => ({
  runs: losses.reduce((sum, one) => sum + Number(one.runs), 0),
  loss: usd(losses.reduce((sum, one) => sum + one.loss, 0n))
})

const viewOf = (shown: Shown) => ({
  ...organizationView(shown.organization),
  guard: {
    per_run_limit: limitOf(shown.wallet.per_run_limit),
    daily_limit: limitOf(shown.wallet.daily_limit),
    spent_today: usd(shown.wallet.spent_today),
    resets_at: shown.wallet.resets_at.toISOString()
  },
  auto_topup:
    shown.auto === null
      ? null
      : { ...shown.auto, threshold: usd(shown.auto.threshold), amount: usd(shown.auto.amount) },
  payments: shown.payments.map((payment) => ({
    ...payment,
    amount: usd(payment.amount),
    clawed_back: usd(payment.clawed_back),
    created_at: payment.created_at.toISOString(),
    ended_at: payment.ended_at?.toISOString() ?? null
  })),
  people: shown.people.map((person) => ({
    id: person.user_id,
    email: person.email,
    role: person.role,
    created_at: person.created_at.toISOString(),
    verification: verificationOf(person),
    email_verified_at: person.email_verified_at?.toISOString() ?? null
  })),
  keys: shown.keys.map((key) => ({
    id: key.key_id,
    name: key.name,
    environment: key.environment,
    display: key.display,
    created_at: key.created_at.toISOString(),
    last_used_at: key.last_used_at?.toISOString() ?? null,
    revoked_at: key.revoked_at?.toISOString() ?? null
  })),
  entries: shown.entries.map((entry) => ({
    id: entry.txn_id,
    type: entry.type,
    amount: usd(entry.amount),
    balance_after: usd(entry.balance_after),
    reference: entry.reference,
    note: entry.note,
    created_at: entry.created_at.toISOString()
  })),
  open_runs: shown.runs.map((run) => ({
    run_id: run.run_id,
    capability: run.capability,
    endpoint: run.endpoint,
    status: run.state,
    hold: usd(run.hold),
    since: run.since.toISOString()
  })),
  losses: lossOf(shown.losses),
  unknown_outcomes: shown.unknown,
  books: { add_up: shown.violations.length === 0, violations: shown.violations }
})

const autoLine = (auto: AutoTopupRow | null) => {
  if (auto === null) return "never set"
  const terms = `${usd(auto.amount)} below ${usd(auto.threshold)}`
  return `${auto.enabled ? "on" : "off"}, ${terms}${auto.last_error === null ? "" : `; ${plain(auto.last_error)}`}`
}

const textOf = (shown: Shown): ReadonlyArray<string> => {
  const { organization, wallet, losses, unknown, violations } = shown
  const { runs, loss } = lossOf(losses)
  const section = (title: string, head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>) =>
    rows.length === 0 ? ["", `${title}: none`] : ["", `${title}:`, ...table(head, rows).map((line) => `  ${line}`)]
  const most = (title: string, count: number, max: number) => (count < max ? title : `${title} (the first ${max})`)
  return [
    `${organization.org_id}  ${plain(organization.name)}  (created ${when(organization.created_at)})`,
    `wallet: balance ${usd(wallet.balance)}, reserved ${usd(wallet.reserved)}, available ${usd(wallet.balance - wallet.reserved)} USD`,
    `guard: per run ${limitOf(wallet.per_run_limit) ?? "no limit"}, per day ${limitOf(wallet.daily_limit) ?? "no limit"}; today ${usd(wallet.spent_today)} charged, ${organization.runs_today} runs`,
    `automatic top-up: ${autoLine(shown.auto)}`,
    ...section(
      most("people, oldest first", shown.people.length, peopleShown),
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
      `last ${paymentsShown} payments, newest first`,
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
      most("keys, newest first", shown.keys.length, keysShown),
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
      `last ${entriesShown} ledger entries, newest first`,
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
      most("open runs, oldest first", shown.runs.length, runsShown),
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
    const accounts = yield* Accounts
    const books = yield* Books
    const store = yield* PaymentStore
    const losses = yield* Losses
    const unknowns = yield* UnknownOutcomes
    const members = yield* Members
    yield* known(org_id)
    const shown = yield* books.snapshot(
      Effect.all({
        organization: Effect.orDie(known(org_id)),
        wallet: books.wallet(org_id),
        auto: store.autoTopup(org_id),
        payments: store.latest(org_id, paymentsShown),
        people: members.list(org_id, null, peopleShown),
        keys: accounts.keys(org_id, null, keysShown),
        entries: books.entries(org_id, null, entriesShown),
        runs: books.openRuns(org_id, runsShown),
        losses: losses.totals({ org_id, since: null }),
        unknown: Effect.map(unknowns.list({ org_id, resolved: false }, unknownsCounted), (rows) => rows.length),
        violations: books.violations(org_id)
      })
    )
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
    if (org !== null) yield* known(org)
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
