/** Personal data in events: what a provider said about a run stays neither in the event log nor in deliveries of webhooks when the run is erased. */
import { afterAll, expect, test } from "bun:test"
import { until, withApp } from "../../../kit/app.ts"
import { listen, typesOf } from "../../../kit/event-stream.ts"
import { dumpDatabase, hitsIn } from "../../../kit/stored-text.ts"
import { receiver } from "../../../kit/webhook-receiver.ts"
import { answer } from "../../../layers/providers/stage.ts"
import { standIn } from "../../../layers/providers/standin.ts"

const there = standIn()
const app = withApp({ settings: { ...there.settings, RUNGATE_WEBHOOK_ALLOW_PRIVATE: "1" } })
const hooks = receiver()
afterAll(async () => {
  await hooks.stop()
  await there.stop()
})

test("erasing a person erases what attempts and errors quote, in the log and in deliveries, and no other run's", async () => {
  const org = await app.tenant("5.00")
  const session = await org.session()
  const body = { url: hooks.url, events: ["run.attempt", "run.finished"] }
  const endpoint = (await app.call(session, "POST", "/v1/webhook-endpoints", { body })).body
  const scrape = async (who: string) => {
    const url = `https://${who}.example/`
    there.play("tavily", answer(200, { results: [], failed_results: [{ url, error: `no page of ${who}` }] }))
    const asked = { capability: "web.scrape", input: { url }, routing: { provider: "tavily" }, wait_seconds: 20 }
    return (await org.run(asked)).body.run_id
  }
  const reader = await listen(app.url, org.key)
  const [gone, stays] = [await scrape("gone"), await scrape("stays")]
  await reader.wait("both runs", (events) => typesOf(events).filter((type) => type === "run.finished").length === 2)
  reader.close()
  const deliveries = async () =>
    (await app.call(session, "GET", `/v1/webhook-endpoints/${endpoint.id}/deliveries`)).body.items
  await until("four deliveries", deliveries, (items) => items.length === 4)
  await until(
    "every run is indexed",
    () => app.sql("SELECT FROM history_queue"),
    (rows) => rows.length === 0
  )
  const stored = async (text: string) => hitsIn(await dumpDatabase(app), { text }).map((hit) => hit.split(".").at(-1))
  expect(await stored("no page of gone")).toEqual(expect.arrayContaining(["events", "webhook_deliveries"]))

  expect((await app.call(session, "DELETE", "/v1/history?q=gone.example")).body.erased).toBe(1)
  expect(await stored("no page of gone")).toEqual([])
  expect(await stored("no page of stays")).toEqual(expect.arrayContaining(["events", "webhook_deliveries"]))
  const eventsOf = async (run_id: string) => {
    const one = await listen(app.url, org.key, `/v1/runs/${run_id}/events`)
    await one.ended
    return one.events
  }
  const before = reader.events.filter(({ data }) => data.run_id === gone)
  const after = await eventsOf(gone)
  expect(after.map(({ id, timestamp }) => [id, timestamp])).toEqual(before.map(({ id, timestamp }) => [id, timestamp]))
  expect(after.find(({ type }) => type === "run.attempt")?.data).toMatchObject({ provider: "tavily", detail: null })
  expect(after.at(-1)?.data).toMatchObject({ status: "no_match", error: { code: "no_match", message: "erased" } })
  expect(await eventsOf(stays)).toEqual(reader.events.filter(({ data }) => data.run_id === stays))
})

test("erasing a person erases deliveries that are still sent after their events were deleted, and no other run's", async () => {
  const org = await app.tenant("5.00")
  const session = await org.session()
  hooks.state.status = 503
  const body = { url: hooks.url, events: ["run.attempt"] }
  const endpoint = (await app.call(session, "POST", "/v1/webhook-endpoints", { body })).body
  for (const who of ["late", "later"]) {
    const url = `https://${who}.example/`
    there.play("tavily", answer(200, { results: [], failed_results: [{ url, error: `no page of ${who}.` }] }))
    await org.run({ capability: "web.scrape", input: { url }, routing: { provider: "tavily" }, wait_seconds: 20 })
  }
  const deliveries = () => app.sql("SELECT body FROM webhook_deliveries WHERE endpoint_id = $1", [endpoint.id])
  await until("two deliveries", deliveries, (rows) => rows.length === 2)
  await app.sql("UPDATE webhook_deliveries SET happened_at = happened_at - interval '31 days' WHERE endpoint_id = $1", [
    endpoint.id
  ])
  await app.sql("DELETE FROM events WHERE org_id = $1", [org.org_id])
  await app.call(session, "DELETE", "/v1/history?q=late.example")
  expect((await deliveries()).map((row) => String(row["body"]))).toEqual([expect.stringContaining("no page of later.")])
})
