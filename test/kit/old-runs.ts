/**
 * Runs as they were made long ago, by SQL: nothing was held or charged, and no index knows them.
 */
import { makeId } from "../../src/schema/Ids.ts"
import type { App, Tenant } from "./app.ts"

const dayMillis = 86_400_000

/** A run of public data that names somebody, to be copied. */
export const template = async (org: Tenant, email: string): Promise<string> =>
  (await org.run({ provider: "acme", endpoint: "/people/{who}", path: { who: email }, input: { who: email } })).body
    .run_id

/** Copies of a run with ids and times of so many days ago; a run that is `created` has not ended. Gives their ids. */
export const copies = async (app: App, org: Tenant, from: string, ages: ReadonlyArray<number>, status = "failed") => {
  const ids = ages.map((days) => makeId("run", Date.now() - days * dayMillis))
  await app.sql(
    `INSERT INTO runs (org_id, run_id, request_id, fingerprint, kind, capability, endpoint, provider, status, hold, quoted, charged,
                       input, plan, routing_reason, attempts, result, created_at, finished_at)
     SELECT $1, n.id, request_id, fingerprint, kind, capability, endpoint, provider, $5, CASE WHEN $5 = 'created' THEN hold ELSE 0 END, 0, NULL,
            input, plan, routing_reason, attempts, result, now() - n.days * interval '1 day',
            CASE WHEN $5 <> 'created' THEN now() - n.days * interval '1 day' END
     FROM runs, unnest($3::text[], $4::float8[]) AS n(id, days) WHERE run_id = $2`,
    [org.org_id, from, ids, ages, status]
  )
  return ids
}
