/** How long event streams, keys and events last: heartbeats, the end of a key, deletion after 30 days, and a client that resumes. */
import { expect, test } from "bun:test"
import { Layer } from "effect"
import { CheckSeconds, HeartbeatSeconds } from "../../../../src/actors/events/EventFeed.ts"
import { connect } from "../../../../src/http/client/Rungate.ts"
import { startApp, until, verify, withApp } from "../../../kit/app.ts"
import { listen, typesOf } from "../../../kit/event-stream.ts"
import { doorway } from "../../../http/cli/doorway.ts"

const app = withApp({
  limits: Layer.merge(Layer.succeed(CheckSeconds, 0.1), Layer.succeed(HeartbeatSeconds, 0.05))
})

/** A worker deletes when it starts, and every hour. */
const forget = async (holds: () => Promise<boolean>) => {
  const worker = await startApp({ beside: app, role: "worker" })
  await until("the deletion", holds, (isDone) => isDone)
  await worker.stop()
}

test("a quiet stream gets heartbeats, which are no events", async () => {
  const org = await app.tenant("1.00")
  const reader = await listen(app.url, org.key)
  await until("heartbeats", reader.text, (text) => (text.match(/^: heartbeat$/gm)?.length ?? 0) >= 3)
  expect(reader.events).toEqual([])
  await org.run(verify())
  await reader.wait("the run between heartbeats", (events) => typesOf(events).includes("run.finished"))
  reader.close()
})

test("the stream of a run that ends while its organization's log begins has all events, and ends", async () => {
  const streams = Array.from({ length: 20 }, async () => {
    const org = await app.tenant("1.00")
    const { body } = await org.run({ ...verify(), async: true })
    const reader = await listen(app.url, org.key, `/v1/runs/${body.run_id}/events`)
    await reader.wait("the run's end", (events) => typesOf(events).includes("run.finished"))
    await reader.ended
    return typesOf(reader.events)
  })
  for (const types of await Promise.all(streams))
    expect([types[0], types.at(-1)]).toEqual(["run.created", "run.finished"])
})

test("the stream of a run that ended before its organization's log began has its approval too, and ends", async () => {
  const org = await app.tenant("1.00")
  const owner = await org.session()
  const asOwner = (path: string, body: unknown) => app.call(owner, "POST", path, { body })
  await asOwner("/v1/approval-rules", { name: "all" })
  const { run_id } = (await org.run(verify())).body
  await asOwner(`/v1/runs/${run_id}/approve`, {})
  expect((await org.get(`/v1/runs/${run_id}?wait=30`)).body.status).toBe("succeeded")
  const logged = () => app.sql("SELECT kind FROM events WHERE run_id = $1", [run_id])
  await until("the events of its approval", logged, (rows) => rows.length === 2)
  const path = `/v1/runs/${run_id}/events`
  const reader = await listen(app.url, org.key, path)
  await reader.wait("the run's end", (events) => typesOf(events).includes("run.finished"))
  await reader.ended
  const types = ["run.created", "run.approval_required", "run.approved", "run.started", "run.attempt", "run.finished"]
  expect(typesOf(reader.events)).toEqual(types)
  const rest = await listen(app.url, org.key, path, { "last-event-id": reader.events[2]?.id ?? "" })
  await rest.ended
  expect(rest.events).toEqual(reader.events.slice(3))
})

test("a stream ends when its key expires, and streams of other keys go on", async () => {
  const org = await app.tenant("1.00")
  const session = await org.session()
  const expires_at = new Date(Date.now() + 1_500).toISOString()
  const made = await app.call(session, "POST", "/v1/api-keys", {
    body: { name: "short", environment: "test", expires_at }
  })
  expect(made.status).toBe(200)
  const [short, long] = [await listen(app.url, made.body.api_key), await listen(app.url, org.key)]
  expect([short.status, long.status]).toEqual([200, 200])
  await org.run(verify())
  await short.wait("a run", (events) => typesOf(events).includes("run.finished"))
  await short.ended
  expect(Date.now()).toBeGreaterThanOrEqual(Date.parse(expires_at))
  expect((await listen(app.url, made.body.api_key)).status).toBe(401)
  const { body } = await org.run(verify())
  await long.wait("the next run", (events) => events.some(({ data }) => data.run_id === body.run_id))
  long.close()
})

test("events are deleted after 30 days, and an id before them is gone", async () => {
  const org = await app.tenant("1.00")
  const reader = await listen(app.url, org.key)
  await org.run(verify())
  await reader.wait("a run", (events) => events.length === 5)
  await org.run(verify())
  await reader.wait("two runs", (events) => events.length === 10)
  reader.close()
  const [first, , , , fifth] = reader.events
  await app.sql("UPDATE events SET logged_at = now() - interval '31 days' WHERE org_id = $1 AND position <= 5", [
    org.org_id
  ])
  await app.sql("UPDATE events SET logged_at = now() - interval '29 days' WHERE org_id = $1 AND position > 5", [
    org.org_id
  ])
  const kept = () => app.sql("SELECT position FROM events WHERE org_id = $1", [org.org_id])
  await forget(async () => (await kept()).length <= 5)
  const old = await listen(app.url, org.key, "/v1/events", { "last-event-id": first?.id ?? "" })
  expect([old.status, old.error.error.code]).toEqual([410, "gone"])
  // After the last deleted event nothing is missing.
  const rest = await listen(app.url, org.key, "/v1/events", { "last-event-id": fifth?.id ?? "" })
  await rest.wait("the younger run", (events) => events.length === 5)
  expect(rest.events).toEqual(reader.events.slice(5))
  rest.close()
})

test("a log that nobody has listened to for 30 days ends, and its ids are gone", async () => {
  const org = await app.tenant("1.00")
  const reader = await listen(app.url, org.key)
  await org.run(verify())
  await reader.wait("a run", (events) => events.length === 5)
  reader.close()
  await app.sql("UPDATE event_heads SET listened_at = now() - interval '31 days' WHERE org_id = $1", [org.org_id])
  const head = () => app.sql("SELECT listened_at FROM event_heads WHERE org_id = $1", [org.org_id])
  await forget(async () => (await head())[0]?.["listened_at"] === null)
  const late = await listen(app.url, org.key, "/v1/events", { "last-event-id": reader.events.at(-1)?.id ?? "" })
  expect([late.status, late.error.error.code]).toEqual([410, "gone"])
  const fresh = await listen(app.url, org.key)
  await org.run(verify())
  await fresh.wait("a run of the new log", (events) => events.length === 5)
  fresh.close()
})

test("the typed client resumes after lost connections and refusals, and gives each event once", async () => {
  const org = await app.tenant("1.00")
  const door = doorway(app)
  const streams = async () => Number(/^rungate_event_streams (\d+)$/m.exec(await app.metrics())?.[1])
  await until("no stream of another test", streams, (count) => count === 0)
  const client = connect({ url: door.url, key: org.key })
  const got: Array<{ readonly id: string; readonly type: string; readonly run_id: unknown }> = []
  let stop = false
  const reading = (async () => {
    for await (const { id, type, data } of client.events({ types: ["run.finished"] })) {
      got.push({ id, type, run_id: data["run_id"] })
      if (stop) return
    }
  })()
  await until("the client's stream", streams, (count) => count === 1)
  const witness = await listen(app.url, org.key, "/v1/events?types=run.finished")
  const runs = [await org.run(verify())]
  await until(
    "the first run",
    () => got.length,
    (count) => count === 1
  )
  for (let cut = 0; cut < 2; cut++) {
    await door.close()
    runs.push(await org.run(verify()), await org.run(verify()))
    door.refuse(503, {})
    door.reopen()
    await until(
      "the missed runs",
      () => got.length,
      (count) => count === runs.length
    )
  }
  stop = true
  runs.push(await org.run(verify()))
  await reading
  expect(got.map(({ run_id }) => run_id)).toEqual(runs.map(({ body }) => body.run_id))
  await witness.wait("all runs", (events) => events.length === runs.length)
  expect(got.map(({ id }) => id)).toEqual(witness.events.map(({ id }) => id))
  witness.close()
  await door.close()
})
