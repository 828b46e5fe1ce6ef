/**
 * Reads a turn's input in one statement: the oldest commands of a lane with the wallets and runs that they name.
 *
 * Postgres does not parse the JSON columns. Payloads and plans hold strings of providers and callers, and one that Postgres can't
 * parse would fail every turn of the lane. They arrive as text and are parsed here.
 */
import { Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { BudgetView } from "./BudgetTurn.ts"
import type { FreeView } from "../guards/FreeTurn.ts"
import { freeUsed } from "../usage/freeStorage.ts"
import { autoColumn, autoOf, type PaymentView } from "./PaymentTurn.ts"
import type { AutoTopup } from "../../schema/wallet/AutoTopup.ts"
import { runStatus } from "../runs/runStatus.ts"
import { isRecord } from "../../schema/json/Json.ts"
import { dollars, MicroUsd } from "../../schema/money/Money.ts"
import { isRunStatus } from "../../schema/runs/Run.ts"
import { storableJson } from "../../schema/json/StorableText.ts"
import { decodePlan, type Plan } from "../../schema/runs/Plan.ts"
import type { SettleReport } from "../../schema/runs/SettleReport.ts"
import type { WalletRun, Wallet } from "../../schema/wallet/Wallet.ts"
import type { ContactView } from "../guards/ContactTurn.ts"
import type { ReuseView } from "../guards/ReuseTurn.ts"
import { type RepeatView, repeatsOf, triesColumn } from "../guards/RepeatTurn.ts"
import {
  type DirectCommand,
  directRows,
  heldKeys,
  isDirectRow,
  liveKeys,
  mailOf,
  newRunsOf,
  turnRunOf
} from "./DirectCommands.ts"
import { batchRowsOf } from "../postgres/Rows.ts"

export interface Mail {
  /** Null for a direct command, which is in no mailbox. */
  readonly id: bigint | null
  readonly command_id: string | null
  readonly org_id: string
  readonly run_id: string | null
  readonly tag: string
  readonly payload: unknown
  /** The payload of a direct command that settles a run. */
  readonly report: SettleReport | null
  /** For a direct command: JSON text of the run's result. That of a stored command stays in the database. */
  readonly result: string | null
}

/** A run that a command of the turn names, in any status. */
export interface TurnRun extends WalletRun {
  readonly org_id: string
  /** Plan and input are read only for runs that start in this turn. */
  readonly plan: () => Plan
  readonly input: string
  readonly capability: string | null
  /** Bytes of input, plan and labels. Only for runs that the turn may refuse or cancel. */
  readonly request_bytes?: () => number
  /** A raw run's endpoint path and method; null for a capability run. */
  readonly endpoint: string | null
  readonly method: string | null
  /** The budget of its API key, fixed at admission. */
  readonly budget_id: string | null
  /** Null for a session. */
  readonly key_id: string | null
  /** Digest of target and input. Null for a run of a release that stored none. */
  readonly input_hash: string | null
  /** Whether its plan asks for reuse. Direct commands never do. */
  readonly reuses?: boolean
  /** Whether its plan has an own account of the organization. */
  readonly owns?: boolean
  /** Whether other runs may wait for its result. */
  readonly buys?: boolean
}

/** The input of a turn's decision. */
export interface TurnView {
  readonly mail: ReadonlyArray<Mail>
  readonly wallets: ReadonlyMap<string, Wallet>
  readonly runs: ReadonlyMap<string, TurnRun>
  /** Automatic top-up settings, keyed by organization. */
  readonly autos: ReadonlyMap<string, AutoTopup>
  /** Rows that the payment commands need. */
  readonly payments: PaymentView
  /** The budgets of API keys that the runs count against. */
  readonly budgets: BudgetView
  /** What the repeat guard knows of the inputs of the runs that may be admitted. */
  readonly repeats: RepeatView
  /** Whom the runs that may be admitted would contact, and who was contacted. */
  readonly contacts: ContactView
  /** Earlier results, and runs that wait for one. */
  readonly reuse: ReuseView
  /** What the free runs of organizations store, for those with a free run that may be admitted. */
  readonly free: FreeView
  /** Bytes that the free runs of an organization may store in a day. 0: any number. */
  readonly free_limit: bigint
  /** Tries of an input after which it is refused. 0: no guard. */
  readonly repeat_guard: number
  /** Credit commands whose reference the ledger already has: command id to transaction id. */
  readonly credited: ReadonlyMap<string, string>
  /** The database's UTC day. */
  readonly day: string
  /** The database's time in microseconds since 1970: of this turn's entries, and of the runs that it admits or ends. */
  readonly now_micros: bigint
  /** The most that automatic top-ups may charge a wallet in one day. */
  readonly auto_topup_daily_max: MicroUsd
}

/** One command with its wallet and run. Only the first command of a wallet has the wallet's columns; on others they are null. */
export const CommandRow = Schema.Struct({
  /** Null in a row that only carries the wallet of a direct command. */
  id: Schema.NullOr(Schema.BigInt),
  command_id: Schema.NullOr(Schema.String),
  org_id: Schema.String,
  run_id: Schema.NullOr(Schema.String),
  tag: Schema.String,
  /** JSON text. */
  payload: Schema.NullOr(Schema.String),
  day: Schema.String,
  now_micros: Schema.BigInt,
  wallet_lane: Schema.NullOr(Schema.Number),
  version: Schema.NullOr(Schema.BigInt),
  balance: Schema.NullOr(Schema.BigInt),
  reserved: Schema.NullOr(Schema.BigInt),
  entry_seq: Schema.NullOr(Schema.BigInt),
  head: Schema.NullOr(Schema.Uint8Array),
  per_run_limit: Schema.NullOr(Schema.BigInt),
  daily_limit: Schema.NullOr(Schema.BigInt),
  allowances_held: Schema.NullOr(Schema.BigInt),
  spent_day: Schema.NullOr(Schema.String),
  spent: Schema.NullOr(Schema.BigInt),
  suspended: Schema.NullOr(Schema.Boolean),
  open_runs: Schema.NullOr(Schema.BigInt),
  /** Bytes that the organization has stored today at no charge. Null if it has not. */
  free_used: Schema.NullOr(Schema.BigInt),
  /** Idempotency-Keys of direct commands that are in use. */
  held_keys: Schema.NullOr(Schema.Array(Schema.String)),
  /** Ids of the live API keys that direct commands came with. */
  live_keys: Schema.NullOr(Schema.Array(Schema.String)),
  status: Schema.NullOr(Schema.String),
  hold: Schema.NullOr(Schema.BigInt),
  lease_token: Schema.NullOr(Schema.String),
  capability: Schema.NullOr(Schema.String),
  endpoint: Schema.NullOr(Schema.String),
  budget_id: Schema.NullOr(Schema.String),
  key_id: Schema.NullOr(Schema.String),
  input_hash: Schema.NullOr(Schema.String),
  /** Whether other runs may wait for the run that ends. Null for other commands. */
  buys: Schema.NullOr(Schema.Boolean),
  /** Tries of the inputs of runs that may be admitted, as text; see RepeatTurn.ts. */
  tries: Schema.NullOr(Schema.Array(Schema.String)),
  /** JSON text; null unless the run may start in this turn or is a raw run. */
  plan: Schema.NullOr(Schema.String),
  input: Schema.NullOr(Schema.String),
  request_bytes: Schema.NullOr(Schema.Number),
  /** For a credit: transaction ids with its reference on the ledger, by entry type. */
  credited: Schema.Unknown,
  auto: Schema.Unknown
})
export type CommandRow = typeof CommandRow.Type
const takenRows = batchRowsOf(CommandRow.fields)

/** Dies when a wallet or run that was read lacks a required column. */
const required = <A>(value: A | null, column: string): A => {
  if (value === null) throw new Error(`The turn read a wallet or a run whose column "${column}" is null.`)
  return value
}

const walletOf = (row: CommandRow): Wallet => ({
  org_id: row.org_id,
  balance: MicroUsd(required(row.balance, "balance")),
  reserved: MicroUsd(required(row.reserved, "reserved")),
  allowances_held: MicroUsd(required(row.allowances_held, "allowances_held")),
  entry_seq: required(row.entry_seq, "entry_seq"),
  per_run_limit: row.per_run_limit === null ? null : MicroUsd(row.per_run_limit),
  daily_limit: row.daily_limit === null ? null : MicroUsd(row.daily_limit),
  spent_day: required(row.spent_day, "spent_day"),
  spent: MicroUsd(required(row.spent, "spent")),
  ...(row.suspended === true ? { suspended: true } : {})
})

/** The view, plus the wallet versions and chain heads that the write needs. */
export interface Taken
  extends Omit<
    TurnView,
    "payments" | "budgets" | "auto_topup_daily_max" | "repeat_guard" | "contacts" | "reuse" | "free" | "free_limit"
  > {
  readonly versions: ReadonlyMap<string, bigint>
  readonly heads: ReadonlyMap<string, Uint8Array>
}

/** Commands that an older version stored may hold characters that Postgres can't store. */
const payloadOf = ({ payload }: CommandRow): unknown => (payload === null ? null : JSON.parse(storableJson(payload)))

/** The method of a raw run's endpoint; `-` when the plan was erased. */
const methodOf = (endpoint: string | null, plan: unknown): string | null => {
  if (endpoint === null) return null
  const raw = isRecord(plan) ? plan["raw"] : null
  return isRecord(raw) && typeof raw["method"] === "string" ? raw["method"] : "-"
}

/** The cap of the plan's attempts together, `routing.max_total`. No member without one. */
const holdMaxOf = (plan: unknown) => {
  const total = isRecord(plan) ? plan["total"] : null
  return isRecord(total) && typeof total["amount"] === "string" ? { hold_max: dollars(total["amount"]) } : {}
}

const creditedOf = (row: CommandRow, payload: unknown): string | null => {
  const type = isRecord(payload) ? payload["type"] : null
  const txn_id = isRecord(row.credited) && typeof type === "string" ? row.credited[type] : null
  return typeof txn_id === "string" ? txn_id : null
}

export const viewOf = (rows: ReadonlyArray<CommandRow>, direct: ReadonlyArray<DirectCommand>): Taken => {
  const [first] = rows
  if (first === undefined) throw new Error("A turn needs at least one command.")
  const { day, now_micros } = first
  const wallets = new Map<string, Wallet>()
  const versions = new Map<string, bigint>()
  const heads = new Map<string, Uint8Array>()
  const runs = new Map<string, TurnRun>()
  const credited = new Map<string, string>()
  const autos = new Map<string, AutoTopup>()
  const mail: Array<Mail> = []
  for (const row of rows) {
    const payload = payloadOf(row)
    const { id, command_id, tag } = row
    if (!isDirectRow(row))
      mail.push({ id, command_id, org_id: row.org_id, run_id: row.run_id, tag, payload, report: null, result: null })
    const auto = autoOf(row.auto)
    if (auto !== null) autos.set(row.org_id, auto)
    if (row.version !== null) {
      wallets.set(row.org_id, walletOf(row))
      versions.set(row.org_id, row.version)
      if (row.head !== null) heads.set(row.org_id, row.head)
    }
    const txn_id = creditedOf(row, payload)
    if (row.command_id !== null && txn_id !== null) credited.set(row.command_id, txn_id)
    if (row.run_id === null || row.status === null || !isRunStatus(row.status) || runs.has(row.run_id)) continue
    const { org_id, run_id, status, lease_token, capability, endpoint, budget_id, key_id, input_hash, input } = row
    const plan: unknown = row.plan === null ? null : JSON.parse(row.plan)
    runs.set(run_id, {
      org_id,
      run_id,
      status,
      hold: MicroUsd(required(row.hold, "hold")),
      lease_token,
      capability,
      endpoint,
      method: methodOf(endpoint, plan),
      ...holdMaxOf(plan),
      budget_id,
      key_id,
      input_hash,
      reuses: isRecord(plan) && isRecord(plan["reuse"]),
      owns: isRecord(plan) && plan["own"] !== undefined,
      buys: row.buys === true,
      plan: () => decodePlan(plan),
      input: input ?? "null",
      request_bytes: () => row.request_bytes ?? 0
    })
  }
  for (const command of direct) {
    mail.push(mailOf(command))
    // A stored command of this turn may name the run too, and then the row that was read counts.
    const run = turnRunOf(command)
    if (!runs.has(run.run_id)) runs.set(run.run_id, run)
  }
  return { mail, wallets, versions, heads, runs, credited, autos, day, now_micros, repeats: repeatsOf(rows) }
}

export const take = (
  sql: SqlClient.SqlClient,
  lane: number,
  max: number,
  direct: ReadonlyArray<DirectCommand>,
  repeatGuard: number
) =>
  takenRows(sql`
  -- Read after the snapshot: now() may be earlier than that of a run whose command the snapshot has.
  WITH clock AS MATERIALIZED (SELECT clock_timestamp() AS now)
  SELECT m.id, m.command_id, m.org_id, m.run_id, m.tag, m.payload::text AS payload, (t.now AT TIME ZONE 'UTC')::date::text AS day,
         (extract(epoch FROM t.now) * 1000000)::bigint AS now_micros,
         w.lane::int AS wallet_lane, w.version, w.balance, w.reserved, w.entry_seq, w.head, w.per_run_limit, w.daily_limit, w.allowances_held, w.spent_day::text AS spent_day, w.spent, w.suspended,
         w.open_runs, ${sql.literal(freeUsed("w.org_id"))} AS free_used, ${heldKeys(sql, direct)}, ${liveKeys(sql, direct)},
         ${sql.literal(runStatus)} AS status, r.hold, o.lease_token, r.capability,
         r.endpoint, r.budget_id, r.key_id, r.input_hash,
         CASE WHEN m.tag IN ('Settle', 'Cancel') THEN EXISTS (SELECT FROM reuse_claims c WHERE c.run_id = m.run_id) END AS buys, ${triesColumn(sql, repeatGuard, newRunsOf(direct))}, CASE WHEN m.tag = 'Reserve' OR r.endpoint IS NOT NULL THEN r.plan::text END AS plan,
         CASE WHEN m.tag = 'Reserve' THEN r.input::text END AS input,
         CASE WHEN m.tag IN ('Reserve', 'Cancel') THEN octet_length(r.input::text) + octet_length(r.plan::text) + coalesce(octet_length(r.metadata::text), 0) END AS request_bytes,
         CASE WHEN m.tag = 'Credit' THEN (
           SELECT json_object_agg(l.type, l.txn_id) FROM ledger l
           WHERE l.run_id IS NULL AND l.org_id = m.org_id AND l.type IN ('bonus', 'refund') AND l.reference = m.command_id
         ) END AS credited, ${autoColumn(sql)}
  FROM (SELECT *, row_number() OVER (PARTITION BY org_id ORDER BY id) = 1 AS is_first
        FROM (SELECT * FROM (SELECT id, command_id, org_id, run_id, tag, payload FROM mailbox
                             WHERE lane = ${lane} AND parked IS NULL ORDER BY id LIMIT ${max}) stored${directRows(sql, direct)}) oldest) m
  LEFT JOIN wallets w ON m.is_first AND w.org_id = m.org_id
  LEFT JOIN runs_recent r ON r.org_id = m.org_id AND r.run_id = m.run_id
  LEFT JOIN open_runs o ON o.run_id = m.run_id
  CROSS JOIN clock t
  ORDER BY m.id`)
