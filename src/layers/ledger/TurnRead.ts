/**
 * Reads a turn's input in one statement: the oldest commands of a lane with the wallets and runs that they name, and the wallets of direct
 * commands.
 *
 * Postgres does not parse the JSON columns. Payloads and plans hold strings of providers and callers, and one that Postgres can't
 * parse would fail every turn of the lane. They arrive as text and are parsed here.
 */
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { AutoTopup } from "../../schema/wallet/AutoTopup.ts"
import { isRecord } from "../../schema/json/Json.ts"
import { storableJson } from "../../schema/json/StorableText.ts"
import { dollars, MicroUsd } from "../../schema/money/Money.ts"
import { Zones } from "../../schema/money/TimeZone.ts"
import { decodePlan, type Plan } from "../../schema/runs/Plan.ts"
import { isRunStatus } from "../../schema/runs/Run.ts"
import { decodeRules } from "../../schema/guards/Approval.ts"
import { repeatsOf, triesColumn } from "../guards/RepeatTurn.ts"
import { batchRowsOf, texts } from "../postgres/Rows.ts"
import { dayOf } from "../postgres/SpendDay.ts"
import { isUsableKey } from "../runs/NewRuns.ts"
import { runStatus } from "../runs/runStatus.ts"
import { freeUsed } from "../usage/freeStorage.ts"
import { type DirectCommand, newRunsOf } from "./DirectCommands.ts"
import { autoColumn, autoOf } from "./PaymentTurn.ts"
import type { TurnCommand, TurnRead, TurnRun, TurnWallet } from "./Turn.ts"

/** One command with its wallet and run. Only the first command of a wallet has the wallet's columns; on others they are null. */
const CommandRow = Schema.Struct({
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
  moving: Schema.NullOr(Schema.Number),
  time_zones: Schema.NullOr(Zones),
  own_day: Schema.NullOr(Schema.String),
  budget_labels: Schema.NullOr(Schema.Array(Schema.String)),
  /** JSON. */
  approval_rules: Schema.Unknown,
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
  /** Whether the run waits for an approval. Null if it is not open. */
  waits: Schema.NullOr(Schema.Boolean),
  capability: Schema.NullOr(Schema.String),
  endpoint: Schema.NullOr(Schema.String),
  budget_id: Schema.NullOr(Schema.String),
  key_id: Schema.NullOr(Schema.String),
  input_hash: Schema.NullOr(Schema.String),
  metadata: Schema.NullOr(Schema.String),
  label_budgets: Schema.NullOr(Schema.Array(Schema.String)),
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
type CommandRow = typeof CommandRow.Type
const takenRows = batchRowsOf(CommandRow.fields)

/** Dies when a wallet or run that was read lacks a required column. */
const required = <A>(value: A | null, column: string): A => {
  if (value === null) throw new Error(`The turn read a wallet or a run whose column "${column}" is null.`)
  return value
}

/** By the number in `wallets.moving`. */
const movingStates = { 1: "draining", 2: "fenced" } as const

const walletOf = (row: CommandRow, version: bigint): TurnWallet => ({
  wallet: {
    org_id: row.org_id,
    balance: MicroUsd(required(row.balance, "balance")),
    reserved: MicroUsd(required(row.reserved, "reserved")),
    allowances_held: MicroUsd(required(row.allowances_held, "allowances_held")),
    entry_seq: required(row.entry_seq, "entry_seq"),
    per_run_limit: row.per_run_limit === null ? null : MicroUsd(row.per_run_limit),
    daily_limit: row.daily_limit === null ? null : MicroUsd(row.daily_limit),
    spent_day: required(row.spent_day, "spent_day"),
    spent: MicroUsd(required(row.spent, "spent")),
    ...(row.suspended === true ? { suspended: true } : {}),
    ...(row.time_zones === null ? {} : { time_zones: row.time_zones }),
    ...(row.budget_labels === null ? {} : { budget_labels: row.budget_labels }),
    ...(row.approval_rules === null ? {} : { approval_rules: decodeRules(row.approval_rules) })
  },
  lane: required(row.wallet_lane, "lane"),
  version,
  head: row.head,
  open_runs: required(row.open_runs, "open_runs"),
  free_used: row.free_used ?? 0n,
  ...(row.moving === 1 || row.moving === 2 ? { moving: movingStates[row.moving] } : {}),
  ...(row.own_day === null ? {} : { own_day: row.own_day })
})

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

const storedPlan = (text: string | null) => {
  const plan: unknown = text === null ? null : JSON.parse(text)
  let decoded: Plan | undefined
  return { plan, decode: () => (decoded ??= decodePlan(plan)) }
}
type StoredPlan = ReturnType<typeof storedPlan>

const runOf = (
  row: CommandRow,
  run_id: string,
  status: string | null,
  { plan, decode }: StoredPlan
): TurnRun | null => {
  if (status === null || !isRunStatus(status)) return null
  const { org_id, lease_token, capability, endpoint, budget_id, key_id, input_hash, metadata, label_budgets, input } =
    row
  return {
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
    metadata,
    label_budgets,
    reuses: isRecord(plan) && isRecord(plan["reuse"]),
    owns: isRecord(plan) && plan["own"] !== undefined,
    buys: row.buys === true,
    waits: row.waits === true,
    plan: decode,
    input: input ?? "null",
    request_bytes: () => row.request_bytes ?? 0
  }
}

const readOf = (rows: ReadonlyArray<CommandRow>): TurnRead | null => {
  const [first] = rows
  if (first === undefined) return null
  const { day, now_micros } = first
  const commands: Array<TurnCommand> = []
  const wallets = new Map<string, TurnWallet>()
  const runs = new Map<string, TurnRun>()
  const credited = new Map<string, string>()
  const autos = new Map<string, AutoTopup>()
  const heldKeys = new Set<string>()
  const liveKeys = new Set<string>()
  const plans = new Map<string | null, StoredPlan>()
  for (const row of rows) {
    const { id, command_id, org_id, run_id, tag } = row
    const payload = payloadOf(row)
    if (tag !== walletRow) commands.push({ id, command_id, org_id, run_id, tag, payload, report: null, result: null })
    for (const key of row.held_keys ?? []) heldKeys.add(`${org_id} ${key}`)
    for (const key of row.live_keys ?? []) liveKeys.add(key)
    const auto = autoOf(row.auto)
    if (auto !== null) autos.set(org_id, auto)
    if (row.version !== null) wallets.set(org_id, walletOf(row, row.version))
    const txn_id = creditedOf(row, payload)
    if (command_id !== null && txn_id !== null) credited.set(command_id, txn_id)
    // Most runs of a turn have the same plan. They share it, also as long as they wait for their providers.
    const stored = plans.get(row.plan) ?? storedPlan(row.plan)
    plans.set(row.plan, stored)
    const run = run_id === null || runs.has(run_id) ? null : runOf(row, run_id, row.status, stored)
    if (run !== null) runs.set(run.run_id, run)
  }
  return { commands, wallets, runs, credited, autos, day, now_micros, repeats: repeatsOf(rows), heldKeys, liveKeys }
}

/** Tag of the rows that carry the wallets of direct commands. */
const walletRow = "Direct"

/** Rows of the wallets that direct commands name, for the statement that reads a turn. */
const directRows = (sql: SqlClient.SqlClient, commands: ReadonlyArray<DirectCommand>) =>
  commands.length === 0
    ? sql.literal("")
    : sql`
        UNION ALL
        SELECT NULL, NULL, n.org_id, NULL, ${sql.literal(`'${walletRow}'`)}, NULL
        FROM unnest(${texts([...new Set(commands.map((one) => one.run.org_id))])}) AS n(org_id)`

/** Column with the Idempotency-Keys of direct commands that other runs of the organization hold already. */
const heldKeys = (sql: SqlClient.SqlClient, commands: ReadonlyArray<DirectCommand>) => {
  const keys = commands.flatMap((one) =>
    one._tag === "Reserve" && one.run.idempotency_key !== null ? [one.run.idempotency_key] : []
  )
  return keys.length === 0
    ? sql.literal("NULL::text[] AS held_keys")
    : sql`CASE WHEN m.tag = ${sql.literal(`'${walletRow}'`)} THEN ARRAY(
           SELECT h.idempotency_key FROM idempotency_keys h WHERE h.org_id = m.org_id AND h.idempotency_key = ANY(${texts(keys)})
         ) END AS held_keys`
}

/**
 * Column with the live API keys that direct commands came with, and their versions. A caller may use a cached key for some seconds after
 * it was revoked, has expired or was changed. Such a run is left out here, because in the turn's statement it would undo the runs of all
 * others too.
 */
const liveKeys = (sql: SqlClient.SqlClient, commands: ReadonlyArray<DirectCommand>) => {
  const keys = commands.flatMap((one) => (one._tag === "Reserve" && one.run.key_id !== null ? [one.run.key_id] : []))
  return keys.length === 0
    ? sql.literal("NULL::text[] AS live_keys")
    : sql`CASE WHEN m.tag = ${sql.literal(`'${walletRow}'`)} THEN ARRAY(
           SELECT k.key_id || ' ' || k.version FROM api_keys k
           WHERE k.org_id = m.org_id AND k.key_id = ANY(${texts([...new Set(keys)])}) AND ${sql.literal(isUsableKey)}
         ) END AS live_keys`
}

/** Null when the lane has no command. */
export const readTurn = (
  sql: SqlClient.SqlClient,
  lane: number,
  max: number,
  direct: ReadonlyArray<DirectCommand>,
  repeatGuard: number
) =>
  Effect.map(
    takenRows(sql`
  -- Read after the snapshot: now() may be earlier than that of a run whose command the snapshot has.
  WITH clock AS MATERIALIZED (SELECT clock_timestamp() AS now)
  SELECT m.id, m.command_id, m.org_id, m.run_id, m.tag, m.payload::text AS payload, ${sql.literal(dayOf("t.now"))}::text AS day,
         (extract(epoch FROM t.now) * 1000000)::bigint AS now_micros,
         w.lane::int AS wallet_lane, w.version, w.balance, w.reserved, w.entry_seq, w.head, w.per_run_limit, w.daily_limit, w.allowances_held, w.spent_day::text AS spent_day, w.spent, w.suspended, w.moving::int AS moving, w.time_zones,
         CASE WHEN w.time_zones IS NOT NULL THEN ${sql.literal(dayOf("t.now", "w.time_zones"))}::text END AS own_day, w.budget_labels, w.approval_rules, w.open_runs, ${sql.literal(freeUsed("w.org_id"))} AS free_used, ${heldKeys(sql, direct)}, ${liveKeys(sql, direct)},
         ${sql.literal(runStatus)} AS status, r.hold, o.lease_token, o.state = 'waiting' AS waits, r.capability,
         r.endpoint, r.budget_id, r.key_id, r.input_hash, o.label_budgets, CASE WHEN m.tag = 'Reserve' THEN r.metadata::text END AS metadata,
         CASE WHEN m.tag IN ('Settle', 'Cancel') THEN EXISTS (SELECT FROM reuse_claims c WHERE c.run_id = m.run_id) END AS buys, ${triesColumn(sql, repeatGuard, newRunsOf(direct))}, CASE WHEN m.tag = 'Reserve' OR r.endpoint IS NOT NULL THEN r.plan::text END AS plan,
         CASE WHEN m.tag = 'Reserve' THEN r.input::text END AS input,
         CASE WHEN m.tag IN ('Reserve', 'Cancel', 'Approval') THEN octet_length(r.input::text) + octet_length(r.plan::text) + coalesce(octet_length(r.metadata::text), 0) END AS request_bytes,
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
  ORDER BY m.id`),
    readOf
  )
