/**
 * A raw run of an actor outlives the process that started it: the one that takes over asks for the run that is there, and the
 * marketplace sees one start, one bill.
 */
import { afterAll, expect, test } from "bun:test"
import { startApp, until } from "../kit/app.ts"

const actor = "thescrappa/domain-availability-checker"
const asked: Array<string> = []
let status = "RUNNING"
let usageTotalUsd = 0.0421

/** Stands in for the marketplace. */
const marketplace = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: (request) => {
    const { pathname, searchParams } = new URL(request.url)
    const cap = searchParams.get("maxTotalChargeUsd")
    asked.push(`${request.method} ${pathname}${cap === null ? "" : ` up to ${cap}`}`)
    if (pathname.startsWith("/v2/datasets/")) return Response.json([{ domain: "example.com", available: false }])
    return Response.json({ data: { id: "abc", status, defaultDatasetId: "def", usageTotalUsd } }, { status: 201 })
  }
})
afterAll(() => marketplace.stop(true))

const settings = {
  RUNGATE_MODE: "production",
  RUNGATE_DRAIN_SECONDS: "0",
  RUNGATE_PROVIDER_APIFY_API_KEY: "s3cret",
  RUNGATE_PROVIDER_APIFY_BASE_URL: `http://127.0.0.1:${marketplace.port}`
}
const request = { provider: "apify", endpoint: actor, input: { domains: ["example.com"] } }
const starts = () => asked.filter((line) => line.startsWith("POST"))
const moved = (entries: ReadonlyArray<{ readonly type: string; readonly amount: string }>) =>
  entries.map(({ type, amount }) => `${type} ${amount}`)

test("a run whose process stops is resumed by another one, and never started twice", async () => {
  const app = await startApp({ settings })
  const other = await startApp({ beside: app, settings })
  try {
    const org = await app.tenant("5.00")
    const { body } = await org.run({ ...request, async: true, routing: { max_cost: "0.75" } })
    const state = `SELECT job FROM open_runs WHERE run_id = $1 AND job IS NOT NULL`
    await until(
      "the actor's run is stored",
      () => other.sql(state, [body.run_id]),
      (rows) => rows.length === 1
    )
    await app.stop()
    status = "SUCCEEDED"
    const ended = await org.over(other).get(`/v1/runs/${body.run_id}?wait=60`)
    expect(ended.body).toMatchObject({
      status: "succeeded",
      endpoint: actor,
      result: { data: [{ domain: "example.com", available: false }], raw: true },
      // What it cost at the platform's rate: $0.0421 × 1.2.
      billing: { charged: "0.05052" },
      attempts: [{ provider: "apify", outcome: "succeeded", detail: null }]
    })
    expect(starts()).toHaveLength(1)
    const ledger = moved(await org.over(other).ledger())
    expect(ledger.filter((entry) => entry.startsWith("settle"))).toEqual(["settle -0.05052"])
    await other.books()
  } finally {
    await other.stop()
  }
})

test("a run that fails releases its hold, one that costs nothing charges nothing, and no cap is too low to start", async () => {
  const app = await startApp({ settings })
  try {
    const org = await app.tenant("5.00")
    const before = await org.wallet()
    status = "FAILED"
    const failed = await org.run(request)
    expect([failed.status, failed.body.status, failed.body.error.code]).toEqual([502, "failed", "provider_error"])
    expect(await org.wallet()).toEqual(before)
    asked.length = 0
    const none = await org.run({ ...request, routing: { max_cost: "0.00" } })
    expect([none.status, none.body.error.details[0].path]).toEqual([400, "routing.max_cost"])
    expect(asked).toEqual([])
    status = "SUCCEEDED"
    usageTotalUsd = 0.0001
    const cheap = await org.run({ ...request, routing: { max_cost: "0.20" } })
    expect(cheap.body).toMatchObject({ status: "succeeded", billing: { charged: "0.00012" } })
    const hold = moved(await org.ledger()).find((entry) => entry.startsWith("reserve"))
    expect(starts()).toEqual([`POST /v2/acts/${actor.replace("/", "~")}/runs up to ${hold?.replace("reserve -", "")}`])
    await app.books()
  } finally {
    await app.stop()
  }
})
