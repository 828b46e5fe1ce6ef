/** Event streams over real HTTP: what is sent, where a stream continues, and when it ends. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { connect } from "node:net"
import { Layer } from "effect"
import { CheckSeconds } from "../../../../src/actors/events/EventFeed.ts"
import { type App, backends, rehearse, startApp, type Tenant, until, verify } from "../../../kit/app.ts"
import { heldProvider, rehearseHeld } from "../../../kit/held-provider.ts"
import { listen, ofRun, type Reader, typesOf } from "../../../kit/event-stream.ts"

const wholeRun = ["run.created", "run.started", "run.attempt", "run.finished"]
const finished = (run_id: string) => (events: Reader["events"]) =>
  events.some(({ type, data }) => type === "run.finished" && data.run_id === run_id)

describe.each(backends)("event streams of two processes, queues on %s", (backend) => {
  const held = heldProvider()
  let apps: readonly [App, App]
  let org: Tenant
  beforeAll(async () => {
    const options = { held, limits: Layer.succeed(CheckSeconds, 0.1), settings: { RUNGATE_ORG_STREAMS: "3" } }
    const first = await startApp({ backend, ...options })
    apps = [first, await startApp({ beside: first, ...options })]
    org = await first.tenant("10.00")
  })
  afterAll(async () => {
    await apps[1].stop()
    await apps[0].stop()
  })

  test("an organization's stream shows its runs and its balance, whichever process executes them", async () => {
    const stranger = await apps[0].tenant("5.00")
    const [here, there] = [await listen(apps[0].url, org.key), await listen(apps[1].url, org.key)]
    expect(here.status).toBe(200)
    expect(here.headers.get("content-type")).toBe("text/event-stream")
    expect(here.headers.get("cache-control")).toBe("no-store, no-transform")
    await stranger.run(verify())
    const runs = await Promise.all(apps.map((app) => org.over(app).run(verify())))
    for (const reader of [here, there]) {
      for (const { body } of runs) {
        await reader.wait("the run's end", finished(body.run_id))
        const events = ofRun(reader.events, body.run_id)
        expect(typesOf(events)).toEqual(wholeRun)
        expect(events.at(-1)?.data).toMatchObject({
          status: "succeeded",
          capability: "email.verify",
          provider: body.provider,
          charged: body.billing.charged,
          attempts: 1,
          error: null
        })
        expect(events[2]?.data).toMatchObject({ number: 1, provider: body.provider, outcome: "succeeded" })
      }
      await reader.wait("both charges", (all) => all.filter(({ type }) => type === "wallet.changed").length === 2)
      expect(reader.events).toHaveLength(10)
    }
    expect(here.events).toEqual(there.events)
    const last = here.events.findLast(({ type }) => type === "wallet.changed")
    const { balance, available } = await org.wallet()
    expect(last?.data).toMatchObject({ balance, available, transaction: { type: "settle" } })
    here.close()
    there.close()
  })

  test("a stream continues after Last-Event-ID at another process, without loss or repetition", async () => {
    const first = await listen(apps[0].url, org.key)
    await org.run(verify())
    await first.wait("a run", (events) => typesOf(events).includes("run.finished"))
    first.close()
    const cut = first.events[1]
    const missed = await Promise.all([1, 2, 3].map((index) => org.over(index === 1 ? apps[0] : apps[1]).run(verify())))
    const second = await listen(apps[1].url, org.key, "/v1/events", { "last-event-id": cut?.id ?? "" })
    for (const { body } of missed) await second.wait("the missed runs", finished(body.run_id))
    await second.wait("all charges", (all) => all.filter(({ type }) => type === "wallet.changed").length === 4)
    expect(second.events.slice(0, first.events.length - 2)).toEqual(first.events.slice(2))
    const ids = second.events.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids).toEqual(ids.toSorted())
    second.close()
  })

  test("a run's stream begins with the run and ends with it", async () => {
    const { body } = await org.run({ ...rehearseHeld(), async: true })
    const reader = await listen(apps[1].url, org.key, `/v1/runs/${body.run_id}/events`)
    await reader.wait("the start", (events) => typesOf(events).includes("run.started"))
    await held.holds(1)
    expect(typesOf(reader.events)).toEqual(["run.created", "run.started"])
    held.release()
    await reader.ended
    expect(typesOf(reader.events)).toEqual(wholeRun)
    // A browser connects again after the end, and is told to stop.
    const last = reader.events.at(-1)?.id ?? ""
    const again = await listen(apps[0].url, org.key, `/v1/runs/${body.run_id}/events`, { "last-event-id": last })
    expect(again.status).toBe(204)
    const all = await listen(apps[0].url, org.key, `/v1/runs/${body.run_id}/events`)
    await all.ended
    expect(all.events).toEqual(reader.events)
    const types = await listen(apps[0].url, org.key, `/v1/runs/${body.run_id}/events?types=run.finished`)
    await types.ended
    expect(types.events).toEqual(reader.events.slice(-1))
  })

  test("a run that ended before anybody listened has its events too", async () => {
    const other = await apps[0].tenant("1.00")
    const { body } = await other.run(verify())
    const reader = await listen(apps[0].url, other.key, `/v1/runs/${body.run_id}/events`)
    await reader.ended
    expect(typesOf(reader.events)).toEqual(wholeRun)
    const [created, started] = reader.events
    const path = `/v1/runs/${body.run_id}/events`
    const rest = await listen(apps[1].url, other.key, path, { "last-event-id": started?.id ?? "" })
    await rest.ended
    expect(rest.events).toEqual(reader.events.slice(2))
    expect(created?.id).toMatch(/^evt_[0-9a-z]{26}$/)
    const done = await listen(apps[1].url, other.key, path, { "last-event-id": reader.events.at(-1)?.id ?? "" })
    expect(done.status).toBe(204)
  })

  test("refused, free and failing runs have events", async () => {
    const poor = await apps[0].tenant()
    const reader = await listen(apps[1].url, poor.key, "/v1/events?types=run.created,run.finished")
    const refused = await poor.run(verify())
    expect(refused.status).toBe(402)
    await reader.wait("the refusal", finished(refused.body.run_id))
    expect(typesOf(reader.events)).toEqual(["run.created", "run.finished"])
    expect(reader.events[1]?.data).toMatchObject({
      status: "failed",
      charged: null,
      attempts: 0,
      error: { code: "insufficient_balance" }
    })
    const failed = await org.run(rehearse("provider_error"))
    const detail = await listen(apps[0].url, org.key, `/v1/runs/${failed.body.run_id}/events`)
    await detail.ended
    const attempts = detail.events.filter(({ type }) => type === "run.attempt")
    expect(attempts.map(({ data }) => data.number)).toEqual(attempts.map((_, index) => index + 1))
    expect(attempts).toHaveLength(failed.body.attempts.length)
    expect(typesOf(detail.events).at(-1)).toBe("run.finished")
    reader.close()
  })

  test("bad requests name their field, and other organizations' runs do not exist", async () => {
    const stranger = await apps[0].tenant("1.00")
    const { body } = await org.run(verify())
    const refusals: ReadonlyArray<readonly [string, Record<string, string>, number, string]> = [
      ["/v1/events?types=run.finish", {}, 400, "query.types"],
      ["/v1/events?types=", {}, 400, "query.types"],
      ["/v1/events?type=run.finished", {}, 400, "query.type"],
      [`/v1/events?types=${"x".repeat(600)}`, {}, 400, "query.types"],
      ["/v1/events", { "last-event-id": "17" }, 400, "headers.last-event-id"],
      ["/v1/events", { "last-event-id": `evt_${"z".repeat(26)}` }, 400, "headers.last-event-id"],
      ["/v1/events", { "last-event-id": `evt_${"1".repeat(5_000)}` }, 400, "headers.last-event-id"],
      [`/v1/runs/${body.run_id}/events`, {}, 400, "path.run_id"],
      ["/v1/runs/run_%F0%9F%98%80/events", {}, 400, "path.run_id"],
      ["/v1/runs/run_00000000000000000000000000/events", {}, 400, "path.run_id"]
    ]
    for (const [path, headers, status, field] of refusals) {
      const reply = await listen(apps[0].url, stranger.key, path, headers)
      expect([path, reply.status, reply.error?.error.details[0].path]).toEqual([path, status, field])
    }
    const own = await listen(apps[0].url, org.key, `/v1/runs/${body.run_id}/events`)
    await own.ended
    const foreign = own.events[0]?.id ?? ""
    expect((await listen(apps[0].url, stranger.key, "/v1/events", { "last-event-id": foreign })).status).toBe(400)
    expect((await listen(apps[0].url, "rg_test_nobody0000000000000000")).status).toBe(401)
  })

  test("an id whose successors were deleted is gone", async () => {
    const other = await apps[0].tenant("1.00")
    const reader = await listen(apps[0].url, other.key)
    await other.run(verify())
    await reader.wait("a run", (events) => events.length === 5)
    reader.close()
    const [first, , third] = reader.events
    await apps[0].sql("UPDATE event_heads SET dropped = 2 WHERE org_id = $1", [other.org_id])
    const old = await listen(apps[0].url, other.key, "/v1/events", { "last-event-id": first?.id ?? "" })
    expect([old.status, old.error.error.code]).toEqual([410, "gone"])
    const kept = await listen(apps[0].url, other.key, "/v1/events", { "last-event-id": third?.id ?? "" })
    await kept.wait("the rest", (events) => events.length === 2)
    kept.close()
  })

  test("an organization has a limited number of streams, and closing one makes room", async () => {
    const other = await apps[0].tenant("1.00")
    const open = await Promise.all([1, 2, 3].map(() => listen(apps[0].url, other.key)))
    const fourth = await listen(apps[0].url, other.key)
    expect([fourth.status, fourth.error.error.code]).toEqual([429, "rate_limited"])
    expect(fourth.headers.get("retry-after")).toBe("5")
    expect((await org.over(apps[0]).get("/v1/wallet")).status).toBe(200)
    open[0]?.close()
    const again = await until(
      "room",
      () => listen(apps[0].url, other.key),
      (reader) => reader.status === 200
    )
    for (const reader of [...open, again]) reader.close()
    for (let index = 0; index < 5; index++) await apps[0].call(other.key, "HEAD", "/v1/events")
    await until(
      "no open stream",
      async () => (await listen(apps[0].url, other.key)).status,
      (status) => status === 200
    )
  })

  test("a client that reads slowly gets everything, in order", async () => {
    const other = await apps[0].tenant("1.00")
    const socket = connect(Number(new URL(apps[0].url).port), "127.0.0.1")
    let text = ""
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1")
    })
    socket.write(`GET /v1/events HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${other.key}\r\n\r\n`)
    await until(
      "the stream",
      () => text,
      (all) => all.includes("retry:")
    )
    socket.pause()
    // Twelve megabytes: more than the buffers of the service and of both sockets.
    const count = 6_000
    await apps[0].sql(
      `WITH head AS (UPDATE event_heads SET position = position + $2 WHERE org_id = $1 RETURNING position - $2 AS after)
       INSERT INTO events (org_id, position, kind, data, happened_at)
       SELECT $1, after + n, 'wallet.changed', json_build_object('n', n, 'filler', repeat('x', 2000)), now() FROM head, generate_series(1, $2) n`,
      [other.org_id, count]
    )
    // While it does not read, others are served.
    const busy = await listen(apps[0].url, other.key)
    const { body } = await other.run(verify())
    await busy.wait("a run", finished(body.run_id))
    busy.close()
    socket.resume()
    await until(
      "the run's end",
      () => text.includes("run.finished"),
      (arrived) => arrived
    )
    const numbers = Array.from(text.matchAll(/"n"\s*:\s*(\d+),/g), (match) => Number(match[1]))
    expect(numbers).toEqual(Array.from({ length: count }, (_, index) => index + 1))
    socket.destroy()
  })

  test("a revoked key ends its streams", async () => {
    const other = await apps[0].tenant("1.00")
    const reader = await listen(apps[1].url, other.key)
    expect(reader.status).toBe(200)
    await other.run(verify())
    await reader.wait("a run", (events) => typesOf(events).includes("run.finished"))
    const gone = await apps[0].call(await other.session(), "DELETE", `/v1/api-keys/${other.key_id}`)
    expect(gone.status).toBeLessThan(300)
    await reader.ended
    expect((await listen(apps[1].url, other.key)).status).toBe(401)
  })

  test("a process that stops ends its streams, and clients continue at another one", async () => {
    const third = await startApp({ beside: apps[0] })
    const reader = await listen(third.url, org.key)
    await org.run(verify())
    await reader.wait("a run", (events) => typesOf(events).includes("run.finished"))
    const stopped = third.stop()
    await reader.ended
    await stopped
    const { body } = await org.run(verify())
    const resumed = await listen(apps[0].url, org.key, "/v1/events", {
      "last-event-id": reader.events.at(-1)?.id ?? ""
    })
    await resumed.wait("the next run", finished(body.run_id))
    expect(resumed.events.filter(({ id }) => reader.events.some((seen) => seen.id === id))).toEqual([])
    resumed.close()
  })
})
