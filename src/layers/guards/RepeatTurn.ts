/**
 * The repeat-guard part of a turn: the tries of its runs' inputs, read and written with the turn's own two statements.
 *
 * A turn that has read nothing assumes that nothing of its runs has failed. The statement that writes it counts the tries again, and a
 * turn that was wrong is undone and reads. Whoever changes an organization's tries also writes its wallet, so the wallet's version proves
 * what was read.
 */
import type { SqlClient } from "effect/sql"
import { callerOf, repeatSeconds, type Try } from "../../schema/guards/RepeatGuard.ts"
import { bigints, texts } from "../postgres/Rows.ts"

/** Whose input. */
export interface Repeated {
  readonly org_id: string
  readonly key_id: string | null
  /** Null for a run of a release that did not store it. Such a run is not guarded. */
  readonly input_hash: string | null
}

/** Keyed by `repeatKey`. */
export type RepeatView = ReadonlyMap<string, ReadonlyArray<Try>>
export const noRepeats: RepeatView = new Map()

export const repeatKey = ({ org_id, key_id, input_hash }: Repeated): string =>
  `${org_id} ${callerOf(key_id)} ${input_hash}`

/** What a turn changes. */
export interface RepeatEffects {
  readonly tried: ReadonlyArray<Repeated & { readonly run_id: string }>
  /** Inputs of which a run has succeeded: all their tries go. */
  readonly cleared: ReadonlyArray<Repeated>
  /** Runs that were admitted and never started. */
  readonly removed: ReadonlyArray<Repeated & { readonly run_id: string }>
}
export const noRepeatEffects: RepeatEffects = { tried: [], cleared: [], removed: [] }

const columnsOf = (runs: ReadonlyArray<Repeated>) =>
  [
    texts(runs.map((r) => r.org_id)),
    texts(runs.map((r) => callerOf(r.key_id))),
    texts(runs.map((r) => r.input_hash))
  ] as const

/** A part of the reading statement: the tries of each stored run that may be admitted, and of the direct ones. One text per try. */
export const triesColumn = (sql: SqlClient.SqlClient, limit: number, direct: ReadonlyArray<Repeated>) => {
  if (limit === 0) return sql.literal("NULL::text[] AS tries")
  const [orgs, callers, hashes] = columnsOf(direct)
  const fresh = sql.literal(`t.tried_at > now() - interval '${repeatSeconds} seconds'`)
  const text = sql.literal(
    "t.caller || ' ' || t.input_hash || ' ' || t.run_id || ' ' || (extract(epoch FROM t.tried_at) * 1000000)::bigint"
  )
  const ofDirect =
    direct.length === 0
      ? sql.literal("")
      : sql`WHEN m.tag = 'Direct' THEN ARRAY(
             SELECT ${text} FROM (SELECT DISTINCT * FROM unnest(${orgs}, ${callers}, ${hashes}) AS u(org_id, caller, input_hash)) n
             JOIN repeat_tries t ON t.org_id = n.org_id AND t.caller = n.caller AND t.input_hash = n.input_hash
             WHERE n.org_id = m.org_id AND ${fresh})`
  return sql`CASE ${ofDirect} WHEN m.tag = 'Reserve' AND r.input_hash IS NOT NULL THEN ARRAY(
             SELECT ${text} FROM repeat_tries t
             WHERE t.org_id = m.org_id AND t.caller = ${sql.literal(`coalesce(r.key_id, '${callerOf(null)}')`)} AND t.input_hash = r.input_hash AND ${fresh})
         END AS tries`
}

/** The tries that the rows of the reading statement carry. */
export const repeatsOf = (
  rows: ReadonlyArray<{ readonly org_id: string; readonly tries: ReadonlyArray<string> | null }>
): RepeatView => {
  let triesByKey: Map<string, Map<string, Try>> | null = null
  for (const { org_id, tries } of rows) {
    for (const text of tries ?? []) {
      const [caller = "", input_hash = "", run_id = "", at = "0"] = text.split(" ")
      const key = `${org_id} ${caller} ${input_hash}`
      triesByKey ??= new Map()
      const triesByRun = triesByKey.get(key) ?? new Map<string, Try>()
      triesByKey.set(key, triesByRun.set(run_id, { run_id, at: BigInt(at) }))
    }
  }
  return triesByKey === null ? noRepeats : new Map(Array.from(triesByKey, ([key, tries]) => [key, [...tries.values()]]))
}

/** Common table expressions of the turn's statement, each with a leading comma. */
export const writeRepeats = (sql: SqlClient.SqlClient, { tried, cleared, removed }: RepeatEffects) => {
  const ids = texts(tried.map((one) => one.run_id))
  const [orgs, callers, hashes] = columnsOf(tried)
  const added =
    tried.length === 0
      ? sql.literal("")
      : sql`, tried AS (
            INSERT INTO repeat_tries AS t (org_id, caller, input_hash, run_id)
            SELECT * FROM unnest(${orgs}, ${callers}, ${hashes}, ${ids})
            ON CONFLICT (org_id, caller, input_hash, run_id) DO UPDATE SET tried_at = now()
          )`
  const [clearedOrgs, clearedCallers, clearedHashes] = columnsOf(cleared)
  const gone =
    cleared.length === 0
      ? sql.literal("")
      : sql`, cleared AS (
            DELETE FROM repeat_tries t USING unnest(${clearedOrgs}, ${clearedCallers}, ${clearedHashes}) AS n(org_id, caller, input_hash)
            WHERE t.org_id = n.org_id AND t.caller = n.caller AND t.input_hash = n.input_hash AND t.run_id <> ALL(${ids})
          )`
  const [removedOrgs, removedCallers, removedHashes] = columnsOf(removed)
  const untried =
    removed.length === 0
      ? sql.literal("")
      : sql`, untried AS (
            DELETE FROM repeat_tries t
            USING unnest(${removedOrgs}, ${removedCallers}, ${removedHashes}, ${texts(removed.map((one) => one.run_id))}) AS n(org_id, caller, input_hash, run_id)
            WHERE t.org_id = n.org_id AND t.caller = n.caller AND t.input_hash = n.input_hash AND t.run_id = n.run_id
          )`
  return sql`${added}${gone}${untried}`
}

/** The runs that ask to be admitted. */
export const askingRuns = <R extends Repeated>(
  commands: ReadonlyArray<{ readonly tag: string; readonly run_id: string | null }>,
  runs: ReadonlyMap<string, R>
): ReadonlyArray<R> => commands.flatMap(({ tag, run_id }) => (tag === "Reserve" ? (runs.get(run_id ?? "") ?? []) : []))

/** Condition of the turn's statement: the inputs of the runs that ask to be admitted have as many tries as the turn has seen. */
export const triesAreSeen = (
  sql: SqlClient.SqlClient,
  repeats: ReadonlyArray<Repeated>,
  seen: RepeatView,
  now_micros: bigint
) => {
  const inputs = new Map<string, Repeated>()
  for (const run of repeats) if (run.input_hash !== null) inputs.set(repeatKey(run), run)
  if (inputs.size === 0) return sql.literal("")
  const [orgs, callers, hashes] = columnsOf([...inputs.values()])
  let count = 0
  for (const key of inputs.keys()) count += seen.get(key)?.length ?? 0
  const oldest = bigints([now_micros - BigInt(repeatSeconds) * 1_000_000n])
  return sql`
                            AND (SELECT count(*) FROM unnest(${orgs}, ${callers}, ${hashes}) AS n(org_id, caller, input_hash)
                                 JOIN repeat_tries t ON t.org_id = n.org_id AND t.caller = n.caller AND t.input_hash = n.input_hash
                                 WHERE t.tried_at > 'epoch'::timestamptz + (${oldest})[1] * interval '1 microsecond') = ${count}::int`
}
