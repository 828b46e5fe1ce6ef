/** A provider's job whose worker died is polled by the next one, whatever is used up by then: it was started, and its provider is paid. */
import { afterAll, afterEach, beforeEach, expect, test } from "bun:test"
import { Effect, Layer } from "effect"
import { ProviderCredits } from "../../../src/layers/executor/ProviderCredits.ts"
import { DueSeconds } from "../../../src/layers/postgres/connection/KeepAwake.ts"
import { type Tenant, until, verify, withApp } from "../../kit/app.ts"
import { answer } from "../../layers/providers/stage.ts"
import { hasten, type Line, standIn } from "../../layers/providers/standin.ts"

const there = standIn()
const unhasten = hasten()
const app = withApp({ settings: there.settings, limits: Layer.succeed(DueSeconds, 0.2) })
afterAll(async () => {
  await there.stop()
  unhasten()
})
let org: Tenant
beforeEach(async () => {
  there.forget()
  org = await app.tenant("5.00")
})
afterEach(async () => {
  await app.books()
})

const started = (id: string): Line => answer(200, { success: true, item: { _id: id } })
const verified: Line = answer(200, {
  items: [{ status: "FOUND", results: { emails: [{ email: "jane.doe@example.com", certainty: "ultra_sure" }] } }]
})
/** Answers that wait until `open`. */
const gate = (line: Line) => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const held: Line = async (request) => {
    await promise
    return typeof line === "function" ? line(request) : line
  }
  return { line: held, open: resolve }
}
const heard = (path: string) => there.heard("icypeas").filter((one) => one.path.endsWith(path)).length
const hears = (path: string, count: number) =>
  until(
    `icypeas hears ${count} of ${path}`,
    () => heard(path),
    (now) => now >= count
  )
/** The worker of the run is dead. */
const dies = (run_id: string) =>
  app.sql("UPDATE open_runs SET worker_id = 'dead', lease_token = 'lost' WHERE run_id = $1", [run_id])
const begin = async (routing: Record<string, unknown>) =>
  (await org.run({ ...verify(), routing, async: true })).body.run_id
const finished = async (run_id: string) => (await org.get(`/v1/runs/${run_id}?wait=20`)).body

test("a job that a failover started is not started again when its provider has no share left for it", async () => {
  const [poll, first, second] = [gate(verified), gate(started("job-2")), gate(started("job-3"))]
  for (const slug of ["leadmagic", "millionverifier"]) there.play(slug, answer(500, "oops"))
  there.play("icypeas", started("job-1"), poll.line, first.line, second.line, verified, verified, verified, verified)
  const run_id = await begin({ strategy: "cheapest" })
  await hears("/read", 1)
  const others = [await begin({ provider: "icypeas" }), await begin({ provider: "icypeas" })]
  await until(
    "the others to use the share",
    () => app.sql("SELECT 1 FROM open_runs WHERE state = 'running'"),
    (rows) => rows.length === 3
  )
  await hears("/email-verification", 2)
  await dies(run_id)
  await until(
    "the run to wait for icypeas",
    () => app.sql("SELECT provider FROM open_runs WHERE run_id = $1", [run_id]),
    ([row]) => row?.["provider"] === "icypeas"
  )
  for (const { open } of [poll, first, second]) open()
  expect((await finished(run_id)).status).toBe("succeeded")
  for (const other of others) expect((await finished(other)).status).toBe("succeeded")
  expect(heard("/email-verification")).toBe(3)
})

test("a job that reserved the last credits of its account is polled, and its reservation ends once", async () => {
  await app.sql("DELETE FROM provider_credit_holds")
  await app.sql("DELETE FROM provider_credits")
  await app.sql(
    "INSERT INTO provider_credits (provider, balance, source, read_at, next_read_at) VALUES ('icypeas', 150000, 'set', now(), now() + interval '1 hour')"
  )
  const refresh = Effect.flatMap(ProviderCredits, (credits) => credits.refresh)
  const refreshed = () => Effect.runPromise(Effect.provideContext(refresh, app.context as never))
  await refreshed()
  const poll = gate(verified)
  there.play("icypeas", started("job-1"), poll.line, verified)
  const run_id = await begin({ provider: "icypeas" })
  await hears("/read", 1)
  await refreshed()
  await dies(run_id)
  poll.open()
  const run = await finished(run_id)
  expect([run.status, heard("/email-verification")]).toEqual(["succeeded", 1])
  expect(await app.sql("SELECT balance, reserved FROM provider_credits WHERE provider = 'icypeas'")).toEqual([
    { balance: "50000", reserved: "0" }
  ])
})
