/**
 * A year of made-up runs in a database, written in bulk: runs and their subjects by the service's own extraction. Indexes are
 * dropped meanwhile and made again at the end, as they were. Their words are put into segments by the workers of the service, which must be up.
 */
import { Client } from "pg"
import { runSubjects } from "../../src/layers/Subjects.ts"
import { makeId } from "../../src/schema/Ids.ts"
import { type Asked, type AskedKind, askedKinds, madeRuns, type MadeRun, orgShares } from "./history-runs.ts"

const pageMax = 2_000
const yearMillis = 365 * 86_400_000
const sampledPerKind = 4_000

export interface Sample extends Asked {
  readonly org: number
}

export interface Filled {
  readonly subjects: number
  /** Of each kind, drawn from the runs: who comes up often is drawn often. */
  readonly samples: ReadonlyMap<AskedKind, ReadonlyArray<Sample>>
}

/** Takes the indexes of what is filled away; gives what puts them back. */
const withoutIndexes = async (client: Client) => {
  const { rows } = await client.query(`
    SELECT 'ALTER TABLE run_subjects DROP CONSTRAINT ' || conname AS drop,
           'ALTER TABLE run_subjects ADD CONSTRAINT ' || conname || ' ' || pg_get_constraintdef(oid) AS make
    FROM pg_constraint WHERE conrelid = 'run_subjects'::regclass AND contype = 'p'
    UNION ALL
    SELECT 'DROP INDEX ' || indexname, indexdef FROM pg_indexes WHERE tablename = 'run_subjects' AND indexname NOT LIKE '%_pkey'`)
  for (const { drop } of rows) await client.query(drop)
  return rows.map(({ make }) => String(make))
}

export const fill = async (
  database: string,
  orgs: ReadonlyArray<string>,
  count: number,
  say: (line: string) => void
): Promise<Filled> => {
  const client = new Client({ connectionString: database })
  await client.connect()
  await client.query("SET synchronous_commit = off; SET maintenance_work_mem = '1GB'")
  const again = await withoutIndexes(client)
  const samples = new Map<AskedKind, Array<Sample>>(askedKinds.map((kind) => [kind, []]))
  /** How many of a kind there were, so that each has the same chance to be kept. */
  const seen = new Map<AskedKind, number>()
  const began = Date.now()
  const first = began - yearMillis
  let done = 0
  let subjects = 0
  let writing: Promise<unknown> = Promise.resolve()
  let page: Array<MadeRun & { readonly run_id: string; readonly created_at: Date }> = []

  const flush = async () => {
    const runs = page
    page = []
    const rows = runs.flatMap((run) => {
      const org_id = orgs[run.org] ?? ""
      return runSubjects(org_id, run).map((row) => ({ ...row, run_id: run.run_id }))
    })
    const ids = runs.map((run) => run.run_id)
    const owners = runs.map((run) => orgs[run.org])
    await writing
    writing = (async () => {
      await client.query(
        `INSERT INTO runs (org_id, run_id, request_id, fingerprint, kind, capability, endpoint, provider, status, hold, quoted, charged, input,
                           plan, routing_reason, attempts, result, error_code, error_message, hints, created_at, finished_at)
         SELECT org_id, run_id, 'req_' || substr(run_id, 5), '', kind, capability, endpoint, provider, status, hold, hold, charged, input::json, plan::json,
                'best_value: ' || provider || ' has the lowest price per expected success of 5; then prospeo if it does not deliver',
                json_build_array(json_build_object('provider', provider, 'outcome', status, 'duration_ms', 420, 'detail', NULL)), result::json,
                CASE WHEN status <> 'succeeded' THEN status END, CASE WHEN status <> 'succeeded' THEN 'No attempt delivered.' END, '[]', created_at,
                created_at + interval '420 ms'
         FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::bigint[], $10::text[],
                     $11::text[], $12::text[], $13::timestamptz[])
              AS n(org_id, run_id, kind, capability, endpoint, provider, status, hold, charged, input, plan, result, created_at)`,
        [
          ...[
            owners,
            ids,
            runs.map((run) => run.kind),
            runs.map((run) => run.capability),
            runs.map((run) => run.endpoint)
          ],
          ...[runs.map((run) => run.provider), runs.map((run) => run.status), runs.map((run) => run.hold)],
          ...[runs.map((run) => run.charged), runs.map((run) => run.input), runs.map((run) => run.plan)],
          ...[runs.map((run) => run.result), runs.map((run) => run.created_at)]
        ]
      )
      await client.query(
        `INSERT INTO run_subjects (subject, run_id, in_result, exact, path)
         SELECT * FROM unnest($1::bigint[], $2::text[], $3::boolean[], $4::boolean[], $5::text[])`,
        [
          ...[rows.map((row) => row.subject), rows.map((row) => row.run_id), rows.map((row) => row.in_result)],
          ...[rows.map((row) => row.exact), rows.map((row) => row.path)]
        ]
      )
      await client.query("INSERT INTO word_queue (org_id, run_id) SELECT * FROM unnest($1::text[], $2::text[])", [
        owners,
        ids
      ])
    })()
    done += runs.length
    subjects += rows.length
    if (done % 50_000 < pageMax)
      say(
        `${done.toLocaleString("en")} of ${count.toLocaleString("en")} runs, ${Math.round((Date.now() - began) / 1000)} s`
      )
  }

  for (const run of madeRuns(count)) {
    const millis = Math.floor(first + run.at * yearMillis)
    page.push({ ...run, run_id: makeId("run", millis), created_at: new Date(millis) })
    for (const asked of run.about) {
      const kept = samples.get(asked.kind) ?? []
      const nth = (seen.get(asked.kind) ?? 0) + 1
      seen.set(asked.kind, nth)
      const place = kept.length < sampledPerKind ? kept.length : Math.floor(Math.random() * nth)
      if (place < sampledPerKind) kept[place] = { ...asked, org: run.org }
    }
    if (page.length >= pageMax) await flush()
    if (done + page.length >= count) break
  }
  if (page.length > 0) await flush()
  await writing
  for (const make of again) {
    say(make)
    await client.query(make)
  }
  for (let left = 1; left > 0; await Bun.sleep(left > 0 ? 500 : 0)) {
    const { rows } = await client.query("SELECT count(*)::int AS left FROM word_queue")
    left = rows[0].left
    if (left > 0) say(`${left.toLocaleString("en")} runs wait for their words`)
  }
  say("VACUUM ANALYZE")
  await client.query("VACUUM ANALYZE runs, run_subjects, word_queue, word_segments, word_blocks, word_runs")
  await client.query("CHECKPOINT")
  await client.end()
  return { subjects, samples }
}

export const sharesNote = `${orgShares.length} organizations, the largest with ${(orgShares[0] ?? 0) * 100} % of the runs`
