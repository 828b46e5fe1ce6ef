/**
 * The plain way to find runs by subject, for comparison with segments: one row per run with its terms as `bigint[]` under a GIN index.
 *
 * It answers through the same `HistoryStore` as the product, so both do the same work after the look-up. Rows are written in batches, as the
 * history worker writes segments, and not in the transaction that ends a run.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, ManagedRuntime, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { Finder } from "../../src/layers/history/Finder.ts"
import { HistoryStore } from "../../src/layers/history/HistoryStore.ts"
import {
  addWords,
  runTextColumns,
  runTextRows,
  shortJson,
  subjectsIn,
  wholeJson,
  wholeText
} from "../../src/layers/history/index/IndexedRun.ts"
import { bigints, byteas, texts } from "../../src/layers/postgres/Rows.ts"
import { PostingsBuilder } from "../../src/schema/segments/PostingsBuilder.ts"
import { flagsIn } from "../../src/schema/segments/Segment.ts"
import { seedOf } from "../../src/schema/words/Term.ts"
import { ginFinder } from "./history-gin-finder.ts"

export interface Arm {
  readonly name: string
  readonly table: string
  readonly fastupdate: boolean
  readonly words: boolean
}
const arm = (table: string, fastupdate: boolean, words: boolean): Arm => ({
  name: `GIN, ${words ? "words too" : "subjects"}, fastupdate ${fastupdate ? "on" : "off"}`,
  ...{ table, fastupdate, words }
})
export const subjectArms = [arm("gin_subjects_on", true, false), arm("gin_subjects_off", false, false)]
export const wordArms = [arm("gin_words_on", true, true)]

/** Runs per statement, as many as a step of the segments. */
const pageMax = 1_024
const readMax = 256

/** `kind` is a number, and the rows are narrow: a question about a hundred thousand runs reads most of the table's pages. */
const tables = ({ table, fastupdate }: Arm) => [
  `CREATE TABLE IF NOT EXISTS gin_kinds (
    kind int GENERATED ALWAYS AS IDENTITY, status text, capability text, endpoint text, provider text,
    UNIQUE NULLS NOT DISTINCT (status, capability, endpoint, provider)
  )`,
  `CREATE TABLE ${table} (
    org_id text NOT NULL, run_id text COLLATE "C" NOT NULL, created_at timestamptz NOT NULL, kind int NOT NULL, charged bigint NOT NULL,
    subjects bigint[] NOT NULL, flags bytea NOT NULL, PRIMARY KEY (org_id, run_id)
  )`,
  `CREATE INDEX ${table}_subjects ON ${table} USING gin (subjects) WITH (fastupdate = ${fastupdate ? "on" : "off"})`
]

const queuedRows = runTextRows("runs of the bench")

const termsOf = (
  words: boolean,
  run: Parameters<typeof shortJson>[0] & { readonly org_id: string },
  whole: typeof run
) => {
  const flags = new Map(subjectsIn(wholeJson(whole), run.org_id))
  if (words) {
    const builder = new PostingsBuilder()
    addWords(builder, shortJson(run), seedOf(run.org_id), 0)
    const { terms, postings } = builder.postings()
    terms.forEach((term, n) => flags.set(term, flagsIn(postings[n] ?? 0)))
  }
  return flags
}

/** Writes runs into the arm's table, one transaction per thousand. */
const writer = ({ table, words }: Arm) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const into = sql.literal(table)
    const page = Effect.fnUntraced(function* (org_id: string, run_ids: ReadonlyArray<string>) {
      yield* sql`SELECT set_config('synchronous_commit', 'off', true)`
      const runs: Array<{ run: Effect.Success<ReturnType<typeof read>>[number]; flags: ReadonlyMap<number, number> }> =
        []
      for (let from = 0; from < run_ids.length; from += readMax)
        for (const run of yield* read(org_id, run_ids.slice(from, from + readMax)))
          runs.push({ run, flags: termsOf(words, run, yield* wholeText(sql, run)) })
      const column = (name: "run_id" | "status" | "capability" | "endpoint" | "provider") =>
        texts(runs.map(({ run }) => run[name]))
      const kinds = sql`unnest(${column("status")}, ${column("capability")}, ${column("endpoint")}, ${column("provider")}) AS k(status, capability, endpoint, provider)`
      yield* sql`
        INSERT INTO gin_kinds (status, capability, endpoint, provider) SELECT DISTINCT * FROM ${kinds} EXCEPT SELECT status, capability, endpoint, provider FROM gin_kinds`
      yield* sql`
        INSERT INTO ${into} (org_id, run_id, created_at, kind, charged, subjects, flags)
        SELECT ${org_id}, n.run_id, n.created_at::timestamptz, k.kind, n.charged, n.subjects::bigint[], n.flags
        FROM unnest(${column("run_id")}, ${texts(runs.map(({ run }) => run.created_at.toISOString()))}, ${bigints(runs.map(({ run }) => run.charged))},
                    ${texts(runs.map(({ flags }) => `{${[...flags.keys()].join(",")}}`))}, ${byteas(runs.map(({ flags }) => Uint8Array.from(flags.values())))},
                    ${column("status")}, ${column("capability")}, ${column("endpoint")}, ${column("provider")})
             AS n(run_id, created_at, charged, subjects, flags, status, capability, endpoint, provider)
        JOIN gin_kinds k ON k.status = n.status AND k.capability IS NOT DISTINCT FROM n.capability
                        AND k.endpoint IS NOT DISTINCT FROM n.endpoint AND k.provider IS NOT DISTINCT FROM n.provider`
    })
    const read = (org_id: string, run_ids: ReadonlyArray<string>) =>
      queuedRows(
        sql`SELECT ${runTextColumns(sql, "ended")} FROM runs r WHERE r.org_id = ${org_id} AND r.run_id = ANY(${texts(run_ids)})`
      )
    return Effect.fnUntraced(function* (org_id: string, run_ids: ReadonlyArray<string>) {
      for (let from = 0; from < run_ids.length; from += pageMax)
        yield* sql.withTransaction(page(org_id, run_ids.slice(from, from + pageMax)))
    })
  })

/** Settings under which each store answers best: segments as in production, GIN with a plan for each question. */
const client = (database: string, plan: "force_generic_plan" | "force_custom_plan") =>
  PgClient.layer({
    url: Redacted.make(database),
    maxConnections: 4,
    multiplex: true,
    startupParameters: {
      ...{ plan_cache_mode: plan, jit: "off", enable_seqscan: "off" },
      ...(plan === "force_generic_plan" ? { enable_hashjoin: "off", enable_mergejoin: "off" } : { work_mem: "16MB" })
    }
  })

export const ginStore = (database: string, of: Arm) => {
  const layer = HistoryStore.layer.pipe(
    Layer.provide(ginFinder(of.table)),
    Layer.provideMerge(client(database, "force_custom_plan"))
  )
  const runtime = ManagedRuntime.make(layer)
  const sqlOf = (text: string) =>
    Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe<{ readonly rows: string; readonly index: string }>(text))
  let write: Effect.Success<ReturnType<typeof writer>> | undefined
  return {
    runtime,
    create: async () => {
      for (const statement of tables(of)) await runtime.runPromise(sqlOf(statement))
    },
    write: async (org_id: string, run_ids: ReadonlyArray<string>) => {
      write ??= await runtime.runPromise(writer(of))
      await runtime.runPromise(write(org_id, run_ids))
    },
    /** Moves the pending list into the index, which autovacuum or a full list does otherwise. */
    clean: () => runtime.runPromise(sqlOf(`SELECT gin_clean_pending_list('${of.table}_subjects'::regclass)`)),
    /** Megabytes: the rows with the primary key, and the GIN index. */
    size: async () => {
      const [row] = await runtime.runPromise(
        sqlOf(
          `SELECT (pg_total_relation_size('${of.table}') - pg_relation_size('${of.table}_subjects')) / 1e6 AS rows, pg_relation_size('${of.table}_subjects') / 1e6 AS index`
        )
      )
      return { rows: Math.round(Number(row?.rows)), index: Math.round(Number(row?.index)) }
    }
  }
}

export const segmentStore = (database: string) => ({
  runtime: ManagedRuntime.make(
    HistoryStore.layer.pipe(Layer.provide(Finder.layer), Layer.provideMerge(client(database, "force_generic_plan")))
  )
})
