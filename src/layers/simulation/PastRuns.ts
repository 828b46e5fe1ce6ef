/**
 * Reads the finished runs of an organization in pages, as simulations see them. Nothing here writes.
 *
 * A page is a few texts of many runs each: 100,000 rows of a dozen columns would take seconds to decode, cell by cell. One text of megabytes
 * would take as long, because the driver copies what it has of a row each time that more arrives.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Contacts } from "../../schema/guards/ContactGuard.ts"
import { touchCapabilities } from "../../schema/guards/Touches.ts"
import { rowsOf, texts } from "../postgres/Rows.ts"

/** JSON texts are null for a raw run, and after the run was erased. A long input is null too. */
export interface PastRow {
  readonly kind: string
  readonly capability: string
  readonly provider: string | null
  readonly status: string
  readonly charged: bigint
  readonly duration_ms: number
  readonly plan: string | null
  readonly attempts: string | null
  readonly input: string | null
}

export interface PastPage {
  /** How many rows `rows` gives. */
  readonly count: number
  /** Decodes each row when it is asked for. */
  readonly rows: () => Generator<PastRow, void>
  /** The newest id and the newest time of the page. Null for an empty page. */
  readonly last: { readonly run_id: string; readonly created_at: Date } | null
}

const partRows = rowsOf({
  rows: Schema.String,
  count: Schema.Int,
  run_id: Schema.String,
  created_at: Schema.Date
})

export interface PastQuestion {
  readonly org_id: string
  /** Null: all of them. */
  readonly capability: string | null
  readonly from: Date
  readonly to: Date
  /** Only runs with a later id. Ids sort by time. */
  readonly after: string
  readonly limit: number
}

export const LimitedRun = Schema.Struct({
  run_id: Schema.String,
  key_id: Schema.NullOr(Schema.String),
  capability: Schema.NullOr(Schema.String),
  provider: Schema.NullOr(Schema.String),
  hold: Schema.BigInt,
  charged: Schema.BigInt,
  /** JSON text. */
  metadata: Schema.NullOr(Schema.String),
  providers: Schema.NullOr(Schema.Array(Schema.String)),
  given_by: Schema.NullOr(Schema.Array(Schema.String)),
  contacts: Schema.NullOr(Contacts),
  created_at: Schema.Date,
  finished_at: Schema.Date
})
const limitedRows = rowsOf(LimitedRun.fields)

export interface NewestQuestion {
  readonly org_id: string
  readonly from: Date
  /** Null: until now. */
  readonly to: Date | null
  /** Null: from the newest on. */
  readonly before: string | null
  readonly limit: number
  /** What is read of runs beside their amounts. A plan costs the most. */
  readonly labels: boolean
  readonly providers: boolean
  readonly contacts: boolean
}

/** The kind of a longer input is not told apart: only the names of its fields would be used. */
const inputBytesMax = 2_000
/** Runs in one text: some tens of kilobytes. */
const partRuns = 50
/** Control characters that no column holds: JSON has them escaped only, and names and statuses have none. */
const cellEnd = "\u001f"
const rowEnd = "\u001e"

const orNull = (cell: string | undefined): string | null => (cell === undefined || cell === "" ? null : cell)

/** A part of a text keeps all of it in memory. Names of capabilities and providers are few, so runs share them. */
const namesMax = 10_000
const names = () => {
  const interned = new Map<string, string>()
  return (name: string): string => {
    const before = interned.get(name)
    if (before !== undefined) return before
    if (interned.size < namesMax) interned.set(name, name)
    return name
  }
}

const rowsIn = function* (parts: ReadonlyArray<{ readonly rows: string }>): Generator<PastRow, void> {
  const nameOf = names()
  for (const { rows } of parts)
    for (const row of rows.split(rowEnd)) {
      const cells = row.split(cellEnd)
      const [kind = "", capability = "", provider = "", status = "", charged = "0", duration = "0"] = cells
      yield {
        kind: nameOf(kind),
        capability: nameOf(capability),
        provider: provider === "" ? null : nameOf(provider),
        status: nameOf(status),
        charged: BigInt(charged),
        duration_ms: Number(duration),
        plan: orNull(cells[6]),
        attempts: orNull(cells[7]),
        input: orNull(cells[8])
      }
    }
}

export class PastRuns extends Context.Service<
  PastRuns,
  {
    /** Oldest first. Runs that a limit blocked, that were cancelled or that took another run's result called nobody, and are left out. */
    readonly page: (question: PastQuestion) => Effect.Effect<PastPage>
    /** Newest first, with what limits decide by. What is not wanted is null. */
    readonly newest: (question: NewestQuestion) => Effect.Effect<ReadonlyArray<typeof LimitedRun.Type>>
  }
>()("rungate/layers/simulation/PastRuns") {
  static readonly layer = Layer.effect(
    PastRuns,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const page = Effect.fnUntraced(function* ({ org_id, capability, from, to, after, limit }: PastQuestion) {
        const parts = yield* partRows(sql`
          SELECT string_agg(concat_ws(${cellEnd}, p.kind, coalesce(p.capability, ''), coalesce(p.provider, ''), p.status, coalesce(p.charged, 0),
                   round(date_part('epoch', p.finished_at - p.created_at) * 1000), coalesce(CASE WHEN p.shown THEN p.plan::text END, ''),
                   coalesce(CASE WHEN p.shown THEN p.attempts::text END, ''),
                   CASE WHEN p.shown AND octet_length(p.input::text) <= ${inputBytesMax}::int THEN p.input::text ELSE '' END),
                   ${rowEnd} ORDER BY p.run_id) AS rows,
                 count(*)::int AS count, max(p.run_id) AS run_id, max(p.created_at) AS created_at
          FROM (SELECT *, (row_number() OVER (ORDER BY o.run_id) - 1) / ${partRuns}::int AS part FROM (
            SELECT *, r.kind = 'capability' AND r.erased_at IS NULL AS shown FROM runs r
            WHERE r.org_id = ${org_id} AND r.run_id > greatest(${after}, run_id_at(${from}::timestamptz - interval '1 hour'))
              AND r.run_id < run_id_at(${to}::timestamptz + interval '1 hour')
              AND r.created_at >= ${from} AND r.created_at < ${to}
              AND r.status IN ('succeeded', 'no_match', 'failed', 'timed_out')
              AND (r.attempts::text <> '[]' OR r.plan->'reuse' IS NULL)
              AND (${capability}::text IS NULL OR r.capability = ${capability})
            ORDER BY r.run_id LIMIT ${limit}) o) p
          GROUP BY p.part ORDER BY p.part`)
        return {
          count: parts.reduce((sum, { count }) => sum + count, 0),
          rows: () => rowsIn(parts),
          last: parts.at(-1) ?? null
        }
      })
      const newest = ({ org_id, from, to, before, limit, labels, providers, contacts }: NewestQuestion) =>
        limitedRows(sql`
          SELECT run_id, key_id, capability, provider, hold, coalesce(charged, 0) AS charged, CASE WHEN ${labels} THEN metadata::text END AS metadata,
                 CASE WHEN ${providers} THEN plan -> 'providers' END AS providers, CASE WHEN ${providers} THEN plan -> 'given_by' END AS given_by,
                 CASE WHEN ${contacts} AND coalesce(capability = ANY(${texts(touchCapabilities)}), true) THEN plan -> 'contacts' END AS contacts,
                 created_at, finished_at
          FROM runs WHERE org_id = ${org_id} AND run_id > run_id_at(${from}::timestamptz) AND (${before}::text IS NULL OR run_id < ${before})
            AND (${to}::timestamptz IS NULL OR (created_at < ${to} AND run_id < run_id_at(${to}::timestamptz + interval '1 hour')))
            AND status IN ('succeeded', 'no_match', 'failed', 'timed_out') AND finished_at IS NOT NULL
          ORDER BY run_id DESC LIMIT ${limit}`)
      return PastRuns.of({
        newest: (question) => Effect.orDie(newest(question)),
        page: (question) => Effect.orDie(page(question))
      })
    })
  )
}
