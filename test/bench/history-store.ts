/**
 * A year of made-up runs in a database, written in bulk. The workers of the service, which must be up, put them into the index.
 */
import { Client } from "pg"
import { makeId } from "../../src/schema/Ids.ts"
import { type Asked, type AskedKind, askedKinds, madeRuns, type MadeRun, orgShares } from "./history-runs.ts"

const pageMax = 2_000
const yearMillis = 365 * 86_400_000
const sampledPerKind = 4_000

export interface Sample extends Asked {
  readonly org: number
}

export const fill = async (
  database: string,
  orgs: ReadonlyArray<string>,
  count: number,
  say: (line: string) => void
): Promise<ReadonlyMap<AskedKind, ReadonlyArray<Sample>>> => {
  const client = new Client({ connectionString: database })
  await client.connect()
  await client.query("SET synchronous_commit = off; SET maintenance_work_mem = '1GB'")
  /** Of each kind, drawn from the runs: who comes up often is drawn often. */
  const samples = new Map<AskedKind, Array<Sample>>(askedKinds.map((kind) => [kind, []]))
  /** How many of a kind there were, so that each has the same chance to be kept. */
  const seen = new Map<AskedKind, number>()
  const began = Date.now()
  const first = began - yearMillis
  let done = 0
  let writing: Promise<unknown> = Promise.resolve()
  let page: Array<MadeRun & { readonly run_id: string; readonly created_at: Date }> = []

  const flush = async () => {
    const runs = page
    page = []
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
        "INSERT INTO history_queue (org_id, run_ids) SELECT org_id, array_agg(run_id) FROM unnest($1::text[], $2::text[]) AS n(org_id, run_id) GROUP BY org_id",
        [owners, ids]
      )
    })()
    done += runs.length
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
  for (let left = 1; left > 0; await Bun.sleep(left > 0 ? 500 : 0)) {
    const { rows } = await client.query("SELECT coalesce(sum(runs), 0)::int AS left FROM history_queue")
    left = rows[0].left
    if (left > 0) say(`${left.toLocaleString("en")} runs wait to be indexed`)
  }
  say("VACUUM ANALYZE")
  await client.query(
    "VACUUM ANALYZE runs, history_queue, history_segments, history_blocks, history_classes, history_docs"
  )
  await client.query("CHECKPOINT")
  await client.end()
  return samples
}

export const sharesNote = `${orgShares.length} organizations, the largest with ${(orgShares[0] ?? 0) * 100} % of the runs`
