/**
 * The reuse part of a turn: earlier results, runs that are buying one, and runs that wait for them.
 *
 * Only a turn with runs that ask for reuse, or that others wait for, reads and writes anything here. Such runs come through the mailbox, so
 * they are stored before the turn. The primary key of `reuse_claims` is the second guarantee that one run buys.
 */
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { Reusable, Reuse } from "../../schema/guards/Reuse.ts"
import { bigints, ints, rowsOf, tableOf, texts } from "../postgres/Rows.ts"
import { isUsableKey } from "../runs/NewRuns.ts"

/** A run that asks for reuse. */
export interface ReuseAsk {
  readonly org_id: string
  readonly run_id: string
  readonly input_hash: string
  readonly reuse: Reuse
}

/** A run that waits for another one. It is stored, in status `created`. */
export const JoinedRun = Schema.Struct({
  org_id: Schema.String,
  run_id: Schema.String,
  joined: Schema.String,
  hold: Schema.BigInt,
  key_id: Schema.NullOr(Schema.String),
  input_hash: Schema.NullOr(Schema.String),
  capability: Schema.NullOr(Schema.String),
  endpoint: Schema.NullOr(Schema.String),
  budget_id: Schema.NullOr(Schema.String),
  /** The providers whose results it may take. Null: all. */
  providers: Schema.NullOr(Schema.Array(Schema.String)),
  /** Whether it would call the same providers as the run that it waits for. */
  same_providers: Schema.Boolean
})
export type JoinedRun = typeof JoinedRun.Type

export interface ReuseView {
  /** By the run that asks. */
  readonly results: ReadonlyMap<string, Reusable>
  /** The run that buys, by organization and input, and how many wait for it. */
  readonly buyers: ReadonlyMap<string, { readonly run_id: string; readonly joins: number }>
  /** By the run that they wait for. */
  readonly joined: ReadonlyMap<string, ReadonlyArray<JoinedRun>>
}
export const noReuse: ReuseView = { results: new Map(), buyers: new Map(), joined: new Map() }
export const inputKey = ({ org_id, input_hash }: { readonly org_id: string; readonly input_hash: string | null }) =>
  `${org_id} ${input_hash}`

/** How a run ended without a purchase. */
export interface ReuseEnd {
  readonly reused_from: string | null
  /** The stored run whose result it copies. */
  readonly copies: string | null
  /** The run of this turn whose result it shares, if a direct command brought that. */
  readonly shares: string | null
  /** What it did not pay. */
  readonly saved: bigint
}

interface Named {
  readonly org_id: string
  readonly run_id: string
}
export interface ReuseEffects {
  readonly claimed: ReadonlyArray<Named & { readonly input_hash: string }>
  /** Runs that no longer buy. */
  readonly unclaimed: ReadonlyArray<string>
  readonly joined: ReadonlyArray<Named & { readonly joined: string }>
  /** Runs that no longer wait. */
  readonly parted: ReadonlyArray<string>
  /** Runs that ask again in the next turn. */
  readonly again: ReadonlyArray<Named>
  /** Results that can be reused. */
  readonly results: ReadonlyArray<Named & { readonly input_hash: string }>
}
export const noReuseEffects: ReuseEffects = {
  ...{ claimed: [], unclaimed: [], joined: [], parted: [], again: [], results: [] }
}

interface Asking {
  readonly org_id: string
  readonly run_id: string
  readonly status: string
  readonly input_hash: string | null
  readonly reuses?: boolean
  readonly plan: () => { readonly reuse?: Reuse }
}

/** The runs that may be admitted and ask for reuse. */
export const reuseAsks = (asking: ReadonlyArray<Asking>): ReadonlyArray<ReuseAsk> =>
  asking.flatMap(({ org_id, run_id, status, input_hash, reuses, plan }) => {
    const reuse = status === "created" && reuses === true ? plan().reuse : undefined
    return reuse === undefined || input_hash === null ? [] : [{ org_id, run_id, input_hash, reuse }]
  })

/** The runs that others may wait for and that may end in the turn. */
export const endingBuyers = (
  commands: ReadonlyArray<{ readonly tag: string; readonly run_id: string | null }>,
  runs: ReadonlyMap<string, { readonly buys?: boolean }>
): ReadonlyArray<string> =>
  commands.flatMap(({ tag, run_id }) =>
    run_id !== null && tag !== "Reserve" && runs.get(run_id)?.buys === true ? [run_id] : []
  )

const askRows = rowsOf({
  org_id: Schema.String,
  run_id: Schema.String,
  input_hash: Schema.String,
  buyer: Schema.NullOr(Schema.String),
  joins: Schema.BigInt,
  source: Schema.NullOr(Schema.String),
  provider: Schema.NullOr(Schema.String),
  charged: Schema.NullOr(Schema.BigInt),
  bytes: Schema.NullOr(Schema.Int)
})
const joinedRows = rowsOf(JoinedRun.fields)

/** Turns whose ended runs are not listed yet. Each second they are. */
const unlistedMax = 500

/** Results of runs that ended a moment ago are not listed yet, so the queue of the history worker is searched too: once for all runs that ask. */
export const readAsks = (sql: SqlClient.SqlClient, asks: ReadonlyArray<ReuseAsk>) =>
  askRows(sql`
      WITH asked AS (
        SELECT * FROM unnest(${texts(asks.map((a) => a.org_id))}, ${texts(asks.map((a) => a.run_id))}, ${texts(asks.map((a) => a.input_hash))},
                             ${ints(asks.map((a) => a.reuse.max_age_seconds))}, ${texts(asks.map((a) => a.reuse.providers?.join(",") ?? null))},
                             ${texts(asks.map((a) => a.reuse.keys?.join(",") ?? null))})
             AS n(org_id, run_id, input_hash, seconds, providers, keys)
      ), unlisted AS MATERIALIZED (
        SELECT r.org_id, r.run_id, r.input_hash FROM (SELECT DISTINCT org_id FROM asked) n
        CROSS JOIN LATERAL (SELECT run_ids FROM history_queue WHERE org_id = n.org_id ORDER BY turn DESC LIMIT ${unlistedMax}) q
        CROSS JOIN LATERAL unnest(q.run_ids) AS u(run_id)
        JOIN runs r ON r.org_id = n.org_id AND r.run_id = u.run_id
        WHERE r.input_hash IN (SELECT input_hash FROM asked)
      )
      SELECT n.org_id, n.run_id, n.input_hash, b.run_id AS buyer,
             (SELECT count(*) FROM reuse_joins j WHERE j.joined = b.run_id) AS joins, s.run_id AS source, s.provider, s.charged,
             (SELECT octet_length(x.result::text) FROM runs x WHERE x.org_id = n.org_id AND x.run_id = s.run_id LIMIT 1) AS bytes
      FROM asked n
      LEFT JOIN reuse_claims b ON b.org_id = n.org_id AND b.input_hash = n.input_hash AND n.keys IS NULL
        -- A process of the release before ends a run without its claim.
        AND EXISTS (SELECT FROM open_runs o WHERE o.run_id = b.run_id)
      LEFT JOIN LATERAL (
        SELECT r.run_id, r.provider, coalesce(r.charged, 0) AS charged FROM (
          SELECT x.run_id FROM reusable_results x WHERE x.org_id = n.org_id AND x.input_hash = n.input_hash
          UNION
          SELECT u.run_id FROM unlisted u WHERE u.org_id = n.org_id AND u.input_hash = n.input_hash
        ) c JOIN runs r ON r.org_id = n.org_id AND r.run_id = c.run_id
        WHERE r.input_hash = n.input_hash AND r.status = 'succeeded' AND r.result IS NOT NULL AND r.erased_at IS NULL AND r.reused_from IS NULL
          -- The warranty paid it back, because the address that it calls valid bounced.
          AND NOT EXISTS (SELECT FROM warranty_refunds w WHERE w.run_id = r.run_id)
          AND r.finished_at > now() - n.seconds * interval '1 second'
          AND (n.providers IS NULL OR r.provider = ANY(string_to_array(n.providers, ',')))
          AND (n.keys IS NULL OR r.key_id = ANY(string_to_array(n.keys, ',')))
        ORDER BY r.finished_at DESC LIMIT 1
      ) s ON true`)

/** Reads nothing for a turn without such runs. `ending` are runs that others may wait for. */
export const readReuse = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  asks: ReadonlyArray<ReuseAsk>,
  ending: ReadonlyArray<string>
) {
  if (asks.length + ending.length === 0) return noReuse
  const results = new Map<string, Reusable>()
  const buyers = new Map<string, { readonly run_id: string; readonly joins: number }>()
  for (const row of asks.length === 0 ? [] : yield* readAsks(sql, asks)) {
    const { run_id, source, provider, charged, bytes, buyer, joins } = row
    if (source !== null) results.set(run_id, { run_id: source, provider, charged: charged ?? 0n, bytes: bytes ?? 0 })
    if (buyer !== null) buyers.set(inputKey(row), { run_id: buyer, joins: Number(joins) })
  }
  const waiting: ReadonlyArray<JoinedRun> =
    ending.length === 0
      ? []
      : yield* joinedRows(sql`
        SELECT r.org_id, r.run_id, j.joined, r.hold, r.key_id, r.input_hash, r.capability, r.endpoint, r.budget_id,
               CASE WHEN r.plan->'reuse'->'providers' IS NOT NULL THEN ARRAY(SELECT json_array_elements_text(r.plan->'reuse'->'providers')) END AS providers,
               ARRAY(SELECT json_array_elements_text(r.plan->'providers') AS one ORDER BY one)
                 = ARRAY(SELECT json_array_elements_text(b.plan->'providers') AS one ORDER BY one) AS same_providers
        FROM reuse_joins j JOIN runs_recent r ON r.org_id = j.org_id AND r.run_id = j.run_id
        JOIN runs_recent b ON b.org_id = j.org_id AND b.run_id = j.joined
        WHERE j.joined = ANY(${texts(ending)}) AND r.finished_at IS NULL`)
  const view: ReuseView = { results, buyers, joined: Map.groupBy(waiting, (one) => one.joined) }
  return view
})

/** The command of a run that would have to buy now. One whose API key was revoked or has expired meanwhile is cancelled. */
const asksAgain = (of: string) => `CASE WHEN EXISTS (
    SELECT FROM runs_recent r JOIN api_keys k ON k.key_id = r.key_id
    WHERE r.org_id = ${of}.org_id AND r.run_id = ${of}.run_id AND NOT (${isUsableKey})) THEN 'Cancel' ELSE 'Reserve' END`

/** Common table expressions of the turn's statement, each with a leading comma. */
export const writeReuse = (
  sql: SqlClient.SqlClient,
  lane: number,
  { claimed, unclaimed, joined, parted, again, results }: ReuseEffects,
  ended: ReadonlyArray<Named & { readonly reuse?: ReuseEnd }>
) => {
  const saved = ended.flatMap(({ org_id, run_id, reuse }) =>
    reuse === undefined || reuse.reused_from === null
      ? []
      : [{ org_id, run_id, reused_from: reuse.reused_from, saved: reuse.saved }]
  )
  const parts = [
    claimed.length === 0
      ? null
      : sql`, claims AS (
            INSERT INTO reuse_claims AS c (org_id, input_hash, run_id)
            SELECT * FROM ${tableOf("n", claimed, { org_id: texts, input_hash: texts, run_id: texts })}
            ON CONFLICT (org_id, input_hash) DO UPDATE SET run_id = excluded.run_id
              WHERE NOT EXISTS (SELECT FROM open_runs o WHERE o.run_id = c.run_id)
            RETURNING 1
          )`,
    unclaimed.length === 0
      ? null
      : sql`, unclaimed AS (DELETE FROM reuse_claims WHERE run_id = ANY(${texts(unclaimed)}))`,
    joined.length === 0
      ? null
      : sql`, joins AS (
            INSERT INTO reuse_joins (run_id, org_id, joined)
            SELECT * FROM ${tableOf("n", joined, { run_id: texts, org_id: texts, joined: texts })}
          )`,
    parted.length === 0 ? null : sql`, parted AS (DELETE FROM reuse_joins WHERE run_id = ANY(${texts(parted)}))`,
    again.length === 0
      ? null
      : sql`, again AS (
            INSERT INTO mailbox (lane, org_id, run_id, tag)
            SELECT ${lane}::int, n.org_id, n.run_id, ${sql.literal(asksAgain("n"))}
            FROM ${tableOf("n", again, { org_id: texts, run_id: texts })}
          )`,
    results.length === 0
      ? null
      : sql`, reusable AS (
            INSERT INTO reusable_results (org_id, input_hash, run_id, finished_at)
            SELECT n.*, now() FROM ${tableOf("n", results, { org_id: texts, input_hash: texts, run_id: texts })}
            ON CONFLICT DO NOTHING
          )`,
    saved.length === 0
      ? null
      : sql`, savings AS (
            INSERT INTO reuse_savings (org_id, run_id, reused_from, saved)
            SELECT * FROM ${tableOf("n", saved, { org_id: texts, run_id: texts, reused_from: texts, saved: bigints })}
          )`
  ]
  return parts.reduce((all, part) => (part === null ? all : sql`${all}${part}`), sql``)
}

/** Condition of the turn's statement: no other run buys the inputs that its runs have claimed. */
export const reuseClaimHeld = (sql: SqlClient.SqlClient, { claimed }: ReuseEffects) =>
  claimed.length === 0 ? sql.literal("") : sql` AND (SELECT count(*) FROM claims) = ${claimed.length}::int`

/** Lets runs that wait for a run which is no longer open ask again: a process of the release before ended that one alone. */
export const askAgain = (sql: SqlClient.SqlClient) => sql`
  WITH orphans AS (
    DELETE FROM reuse_joins j WHERE NOT EXISTS (SELECT FROM open_runs o WHERE o.run_id = j.joined) RETURNING org_id, run_id
  )
  INSERT INTO mailbox (lane, org_id, run_id, tag)
  SELECT w.lane, r.org_id, r.run_id, ${sql.literal(asksAgain("o"))} FROM orphans o JOIN wallets w ON w.org_id = o.org_id
  JOIN runs_recent r ON r.org_id = o.org_id AND r.run_id = o.run_id WHERE r.finished_at IS NULL`
