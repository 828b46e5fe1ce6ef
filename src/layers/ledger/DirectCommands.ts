/**
 * Commands that a turn takes from the memory of its own process, and the parts of the turn's statements that they need.
 *
 * The process that takes a lane's turns need not store a command in the mailbox first: the turn that decides the command stores its
 * effects at once. A direct command that a turn can't take is rejected, and its sender stores it in the mailbox.
 */
import type { SqlClient, Statement } from "effect/sql"
import { bigints, texts } from "../postgres/Columns.ts"
import type { NewRun } from "../runs/RunStore.ts"
import type { CommandRow, Mail, TurnRun } from "./TurnView.ts"
import type { EndedRun } from "./TurnStore.ts"
import type { SettleReport } from "../../schema/runs/SettleReport.ts"
import { dollars, MicroUsd } from "../../schema/money/Money.ts"
import { storesNothing } from "../../schema/wallet/FreeStorage.ts"

/** Admits a run that is not stored yet. */
export interface DirectReserve {
  readonly _tag: "Reserve"
  readonly run: NewRun
}

/** Settles a run that this process executed under its lease. */
export interface DirectSettle {
  readonly _tag: "Settle"
  readonly run: TurnRun
  readonly report: SettleReport
  /** JSON text that becomes the run's result; null when there is none. */
  readonly result: string | null
}

export type DirectCommand = DirectReserve | DirectSettle

/** Organizations with a smaller limit of open runs get no direct admissions; see migration 0025. */
const countedLimitMax = 200

/** Tag of the rows that carry the wallets of direct commands. */
export const walletRow = "Direct"

/** The runs that direct commands admit. */
export const newRunsOf = (commands: ReadonlyArray<DirectCommand>): ReadonlyArray<NewRun> =>
  commands.flatMap((command) => (command._tag === "Reserve" ? [command.run] : []))

/** Rows of the wallets that direct commands name, for the statement that reads a turn. */
export const directRows = (sql: SqlClient.SqlClient, commands: ReadonlyArray<DirectCommand>) =>
  commands.length === 0
    ? sql.literal("")
    : sql`
        UNION ALL
        SELECT NULL, NULL, n.org_id, NULL, ${sql.literal(`'${walletRow}'`)}, NULL
        FROM unnest(${texts([...new Set(commands.map((one) => one.run.org_id))])}) AS n(org_id)`

/** Column with the Idempotency-Keys of direct commands that other runs of the organization hold already. */
export const heldKeys = (sql: SqlClient.SqlClient, commands: ReadonlyArray<DirectCommand>) => {
  const keys = commands.flatMap((one) =>
    one._tag === "Reserve" && one.run.idempotency_key !== null ? [one.run.idempotency_key] : []
  )
  return keys.length === 0
    ? sql.literal("NULL::text[] AS held_keys")
    : sql`CASE WHEN m.tag = ${sql.literal(`'${walletRow}'`)} THEN ARRAY(
           SELECT h.idempotency_key FROM run_keys h WHERE h.org_id = m.org_id AND h.idempotency_key = ANY(${texts(keys)})
         ) END AS held_keys`
}

/** A key in the version that a run was checked against, as `live_keys` lists it. */
export const liveKeyOf = ({ key_id, key_version }: Pick<NewRun, "key_id" | "key_version">): string =>
  `${key_id} ${key_version}`

/** Condition on an API key `k` that may be used. */
const isUsable = "k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())"

/**
 * Column with the live API keys that direct commands came with, and their versions. A caller may use a cached key for some seconds after
 * it was revoked, has expired or was changed. Such a run is left out here, because in the turn's statement it would undo the runs of all
 * others too.
 */
export const liveKeys = (sql: SqlClient.SqlClient, commands: ReadonlyArray<DirectCommand>) => {
  const keys = commands.flatMap((one) => (one._tag === "Reserve" && one.run.key_id !== null ? [one.run.key_id] : []))
  return keys.length === 0
    ? sql.literal("NULL::text[] AS live_keys")
    : sql`CASE WHEN m.tag = ${sql.literal(`'${walletRow}'`)} THEN ARRAY(
           SELECT k.key_id || ' ' || k.version FROM api_keys k
           WHERE k.org_id = m.org_id AND k.key_id = ANY(${texts([...new Set(keys)])}) AND ${sql.literal(isUsable)}
         ) END AS live_keys`
}

export const isDirectRow = (row: CommandRow): boolean => row.tag === walletRow

/**
 * Splits direct commands into those that the turn can take and those that must be stored. A command is stored when its wallet has
 * moved to another lane, whose turns would meet this one's again and again. A run is stored when its Idempotency-Key is
 * in use, when its API key was revoked, has expired or was changed, or when its organization has a quarter of the open runs that it may have: then admissions of all processes are counted
 * under one lock; see `room_for_runs` in migration 0019. So is a run that may not be stored (`storesNothing`): then admission refuses it. A small limit is always counted under the lock, because other processes could
 * use up its rest between this turn's reading and its commit.
 */
export const sortDirect = (
  lane: number,
  commands: ReadonlyArray<DirectCommand>,
  rows: ReadonlyArray<CommandRow>,
  orgQueue: number,
  freeLimit = 0n
): { readonly taken: ReadonlyArray<DirectCommand>; readonly rejected: ReadonlyArray<DirectCommand> } => {
  if (commands.length === 0) return { taken: [], rejected: [] }
  const openRuns = new Map<string, number>()
  const keys = new Set<string>()
  const live = new Set<string>()
  const moved = new Set<string>()
  /** What the wallets can pay of organizations that have stored something at no charge. */
  const free = new Map<string, { readonly used: bigint; readonly funds: bigint }>()
  for (const row of rows) {
    if (row.wallet_lane !== null && row.wallet_lane !== lane) moved.add(row.org_id)
    if (row.open_runs !== null) openRuns.set(row.org_id, (openRuns.get(row.org_id) ?? 0) + Number(row.open_runs))
    const { balance, reserved, allowances_held, free_used: used } = row
    if (used !== null && balance !== null && reserved !== null && allowances_held !== null)
      free.set(row.org_id, { used, funds: balance - reserved + allowances_held })
    if (row.tag === "Reserve") openRuns.set(row.org_id, (openRuns.get(row.org_id) ?? 0) + 1)
    for (const key of row.held_keys ?? []) keys.add(`${row.org_id} ${key}`)
    for (const key of row.live_keys ?? []) live.add(key)
  }
  const taken: Array<DirectCommand> = []
  const rejected: Array<DirectCommand> = []
  const fits = (command: DirectCommand): boolean => {
    if (moved.has(command.run.org_id)) return false
    if (command._tag === "Settle") return true
    const { org_id, key_id, idempotency_key, hold } = command.run
    const { used, funds } = free.get(org_id) ?? { used: 0n, funds: 0n }
    // Whether the key has a scope is not known here. Admission knows it.
    if (storesNothing(used, freeLimit, hold > 0n && hold <= funds, key_id !== null)) return false
    if (key_id !== null && !live.has(liveKeyOf(command.run))) return false
    const open = openRuns.get(org_id)
    if (open === undefined || orgQueue < countedLimitMax || 4 * (open + 1) > orgQueue) return false
    if (idempotency_key !== null) {
      const key = `${org_id} ${idempotency_key}`
      if (keys.has(key)) return false
      keys.add(key)
    }
    openRuns.set(org_id, open + 1)
    return true
  }
  for (const command of commands) (fits(command) ? taken : rejected).push(command)
  return { taken, rejected }
}

/** The command as `decideTurn` reads it, after the commands of the mailbox. */
export const mailOf = (command: DirectCommand): Mail => ({
  id: null,
  command_id: null,
  org_id: command.run.org_id,
  run_id: command.run.run_id,
  tag: command._tag,
  payload: null,
  report: command._tag === "Settle" ? command.report : null,
  result: command._tag === "Settle" ? command.result : null
})

/** The run that a direct command names, before the turn. */
export const turnRunOf = (command: DirectCommand): TurnRun => {
  if (command._tag === "Settle") return command.run
  const { org_id, run_id, hold, capability, endpoint, budget_id, key_id, input_hash, plan, input, metadata } =
    command.run
  return {
    org_id,
    run_id,
    status: "created",
    hold: MicroUsd(hold),
    lease_token: null,
    capability,
    endpoint,
    method: null,
    ...(plan.total === undefined ? {} : { hold_max: dollars(plan.total.amount) }),
    budget_id,
    key_id,
    input_hash,
    owns: plan.own !== undefined,
    plan: () => plan,
    input,
    request_bytes: () => Buffer.byteLength(input + JSON.stringify(plan) + (metadata ?? ""))
  }
}

interface KeyUse {
  readonly key_id: string
  readonly org_id: string
  readonly version: bigint
  /** The highest hold among the runs. */
  readonly hold: bigint
}

/** The API keys of runs, each in the version that the runs were checked against. */
const usesOf = (runs: ReadonlyArray<NewRun>): ReadonlyMap<string, KeyUse> => {
  const uses = new Map<string, KeyUse>()
  for (const { key_id, key_version, org_id, hold } of runs) {
    if (key_id === null) continue
    // No key has a negative version, so a run without one is never admitted.
    const version = key_version ?? -1n
    const name = `${key_id} ${version} ${org_id}`
    const use = uses.get(name)
    if (use === undefined || use.hold < hold) uses.set(name, { key_id, org_id, version, hold })
  }
  return uses
}

/**
 * Parts of the turn's statement that insert the admitted runs, each with a leading comma. They are created at the turn's time, as
 * their ledger entries are. A run that was refused is inserted with its end. API keys are locked until the commit: a revocation or change waits for it, so nothing is admitted after it was answered. A key is
 * live only if it has the version that the runs were checked against, and if its `max_cost` covers their holds.
 */
export const writeArrived = (
  sql: SqlClient.SqlClient,
  runs: ReadonlyArray<NewRun>,
  endings: ReadonlyMap<string, EndedRun>,
  at: Statement.Fragment
) => {
  const ending = runs.map((run) => endings.get(run.run_id))
  const keyed = runs.filter((run) => run.idempotency_key !== null)
  const claimed = sql`, claimed AS (
            INSERT INTO idempotency_keys (org_id, idempotency_key, run_id)
            SELECT * FROM unnest(${texts(keyed.map((r) => r.org_id))}, ${texts(keyed.map((r) => r.idempotency_key))}, ${texts(keyed.map((r) => r.run_id))})
          )`
  const keys = [...usesOf(runs).values()]
  return sql`, live_keys AS (
            -- A subquery with a limit for each key: otherwise a plan made while there are few keys reads those of all organizations.
            SELECT k.key_id
            FROM unnest(${texts(keys.map((k) => k.key_id))}, ${texts(keys.map((k) => k.org_id))}, ${bigints(keys.map((k) => k.version))},
                        ${bigints(keys.map((k) => k.hold))}) AS d(key_id, org_id, version, hold)
            CROSS JOIN LATERAL (SELECT * FROM api_keys k WHERE k.key_id = d.key_id LIMIT 1 FOR SHARE) k
            WHERE k.org_id = d.org_id AND k.version = d.version AND ${sql.literal(isUsable)} AND (k.max_cost IS NULL OR k.max_cost >= d.hold)
          )${keyed.length === 0 ? sql.literal("") : claimed}, arrived AS (
            INSERT INTO runs_recent (org_id, run_id, key_id, request_id, idempotency_key, fingerprint, kind, capability, endpoint, provider,
                              hold, quoted, input, plan, routing_reason, metadata, budget_id, input_hash, status, error_code, error_message,
                              control, created_at, finished_at, key_claimed)
            SELECT org_id, run_id, key_id, request_id, idempotency_key, fingerprint, kind, capability, endpoint, provider,
                   hold, quoted, input::json, plan::json, routing_reason, metadata::jsonb, budget_id, input_hash, coalesce(status, 'created'), error_code,
                   error_message, control, ${at}, CASE WHEN status IS NOT NULL THEN ${at} END, CASE WHEN idempotency_key IS NOT NULL THEN true END
            FROM unnest(
              ${texts(runs.map((r) => r.run_id))}, ${texts(runs.map((r) => r.org_id))}, ${texts(runs.map((r) => r.key_id))},
              ${texts(runs.map((r) => r.request_id))}, ${texts(runs.map((r) => r.idempotency_key))},
              ${texts(runs.map((r) => r.fingerprint))}, ${texts(runs.map((r) => r.kind))}, ${texts(runs.map((r) => r.capability))},
              ${texts(runs.map((r) => r.endpoint))}, ${texts(runs.map((r) => r.provider))}, ${bigints(runs.map((r) => r.hold))},
              ${bigints(runs.map((r) => r.quoted))}, ${texts(runs.map((r) => r.input))}, ${texts(runs.map((r) => JSON.stringify(r.plan)))},
              ${texts(runs.map((r) => r.routing_reason))}, ${texts(runs.map((r) => r.metadata))}, ${texts(runs.map((r) => r.budget_id))},
              ${texts(runs.map((r) => r.input_hash))},
              ${texts(ending.map((e) => e?.status ?? null))}, ${texts(ending.map((e) => e?.error_code ?? null))},
              ${texts(ending.map((e) => e?.error_message ?? null))}, ${texts(ending.map((e) => e?.control ?? null))}
            ) AS n(run_id, org_id, key_id, request_id, idempotency_key, fingerprint, kind, capability, endpoint, provider, hold,
                   quoted, input, plan, routing_reason, metadata, budget_id, input_hash, status, error_code, error_message, control)
          )`
}

/**
 * Conditions for a turn that has read nothing: none of its organizations has too many open runs, and no run from before `idempotency_keys` has
 * one of its Idempotency-Keys. The index of `idempotency_keys` refuses the keys of later runs.
 */
export const stillTrue = (sql: SqlClient.SqlClient, runs: ReadonlyArray<NewRun>, orgQueue: number) => {
  const keyed = runs.filter((run) => run.idempotency_key !== null)
  const free = sql`
                            AND NOT EXISTS (
                              SELECT FROM unnest(${texts(keyed.map((r) => r.org_id))}, ${texts(keyed.map((r) => r.idempotency_key))}) AS n(org_id, idempotency_key)
                              JOIN first_run_keys f ON f.org_id = n.org_id AND f.idempotency_key = n.idempotency_key)`
  return sql`
                            AND (SELECT coalesce(max(open_runs), 0) FROM paid) * 4 <= ${orgQueue}::int${keyed.length === 0 ? sql.literal("") : free}`
}

/** Condition of the turn's statement: every API key that the admitted runs came with is still live. */
export const keysAreLive = (sql: SqlClient.SqlClient, runs: ReadonlyArray<NewRun>) =>
  sql`AND (SELECT count(*) FROM live_keys) = ${usesOf(runs).size}::int`
