/** A provider's job is resumed when its worker dies, but not for ever: the job may be what kills the workers. */
import { beforeAll, expect, test } from "bun:test"
import { Layer } from "effect"
import { DueSeconds } from "../../src/layers/postgres/connection/KeepAwake.ts"
import { rehearse, type Tenant, until, withApp } from "../kit/app.ts"

let org: Tenant
const app = withApp({ limits: Layer.succeed(DueSeconds, 0.2), settings: { RUNGATE_DRAIN_SECONDS: "0" } })
beforeAll(async () => {
  org = await app.tenant("1.00")
})

/** The run has started a job, which so many workers have resumed, and its worker is dead. */
const dies = (run_id: string, resumed: number) =>
  app.sql("UPDATE open_runs SET worker_id = 'dead', lease_token = 'lost', job = $2::json WHERE run_id = $1", [
    run_id,
    JSON.stringify({ state: { ticket: "job-1" }, resumed })
  ])
const lease = async (run_id: string) =>
  (
    await app.sql(
      "SELECT state, job, (job->>'resumed')::int AS resumed, json_array_length(attempts) AS attempts FROM open_runs WHERE run_id = $1",
      [run_id]
    )
  )[0]

test("a fifth worker resumes the job, and the sixth one retries the run without it", async () => {
  // Only the first attempt is slow, so that the run ends when it is retried and never when its job is resumed.
  const { body } = await org.run({ ...rehearse("slow_120_once"), async: true })
  const run_id: string = body.run_id
  await until(
    "the run to start",
    () => lease(run_id),
    (row) => row?.["state"] === "running" && row["attempts"] === 1
  )
  await dies(run_id, 4)
  const resumed = await until(
    "another worker to continue the run",
    () => lease(run_id),
    // The process that takes the run over requeues it first, with the new count.
    (row) => row === undefined || (row["state"] === "running" && row["resumed"] !== 4)
  )
  expect(resumed).toMatchObject({ job: { state: { ticket: "job-1" }, resumed: 5 }, attempts: 1 })
  await dies(run_id, 5)
  const run = await org.get(`/v1/runs/${run_id}?wait=20`)
  expect(run.body).toMatchObject({
    status: "succeeded",
    attempts: [{ outcome: "worker_lost" }, { outcome: "succeeded" }]
  })
  await app.books()
})
