/**
 * Webhooks to a receiver on loopback: signatures by the library's own verifier, retries, replay, rotation, pauses, and what strangers try.
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { Webhook } from "standardwebhooks"
import { backends, startApp, type Tenant, until, withApp } from "../../../kit/app.ts"
import { receiver } from "../../../kit/webhook-receiver.ts"

const find = { capability: "email.find", input: { full_name: "Ada Lovelace", company_domain: "example.com" } }

describe.each(backends)("webhooks, queues on %s", (backend) => {
  let org: Tenant
  let session: string
  let hooks: ReturnType<typeof receiver>
  const app = withApp({ backend, settings: { RUNGATE_WEBHOOK_ALLOW_PRIVATE: "1" } })
  beforeEach(async () => {
    org = await app.tenant("5.00")
    session = await org.session()
    hooks = receiver()
  })
  afterEach(() => hooks.stop())

  const call = (method: string, path: string, body?: unknown, token = session) =>
    app.call(token, method, `/v1/webhook-endpoints${path}`, body === undefined ? {} : { body })
  const created = async (events: ReadonlyArray<string> = ["run.finished"], url = hooks.url) => {
    const { status, body } = await call("POST", "", { url, events })
    expect([status, body.error]).toEqual([200, undefined])
    return body
  }
  const arrived = (count: number) =>
    until(
      `${count} webhooks`,
      () => hooks.got.length,
      (length) => length >= count
    )
  const delivery = async (id: string, fits: (delivery: ReturnType<typeof JSON.parse>) => boolean) => {
    let newest: ReturnType<typeof JSON.parse>
    await until(
      "a delivery",
      async () => {
        newest = (await call("GET", `/${id}/deliveries`)).body.items[0]
        return newest
      },
      (one) => one !== undefined && fits(one)
    )
    return newest
  }
  /** Retries come after seconds to hours. The test lets that time pass at once. */
  const passTime = () => app.sql("UPDATE webhook_deliveries SET next_attempt_at = now() WHERE status = 'pending'")

  test("each event of the chosen kinds is posted once, signed by the specification", async () => {
    const endpoint = await created(["run.created", "run.finished"])
    const { body: run } = await org.run(find)
    await arrived(2)
    await delivery(endpoint.id, ({ status }) => status === "delivered")
    expect(hooks.got.map(({ event }) => event.type)).toEqual(["run.created", "run.finished"])
    for (const { headers, text, event } of hooks.got) {
      expect(new Webhook(endpoint.secret).verify(text, headers)).toEqual(event)
      expect(() => new Webhook(endpoint.secret).verify(`${text} `, headers)).toThrow()
      expect(event.data.run_id).toBe(run.run_id)
      expect(Object.keys(event)).toEqual(["type", "timestamp", "data"])
    }
    expect(new Set(hooks.got.map(({ id }) => id)).size).toBe(2)
    // A receiver has the event before its answer is recorded.
    const { body: list } = await until(
      "both deliveries are recorded",
      () => call("GET", `/${endpoint.id}/deliveries`),
      ({ body }) => body.items.every(({ status }: { status: string }) => status === "delivered")
    )
    expect(list.items.map(({ attempts }: { attempts: number }) => attempts)).toEqual([1, 1])
    expect(list.items[0].answers[0]).toMatchObject({ status: 200, answer: "thanks" })
  })

  test("a failure is retried with the same id until it is accepted, and failing_since says so meanwhile", async () => {
    hooks.state.status = 500
    const { id } = await created()
    await org.run(find)
    await delivery(id, ({ attempts, answers }) => attempts === 1 && answers.length === 1)
    expect((await call("GET", `/${id}`)).body.failing_since).not.toBeNull()
    hooks.state.status = 204
    await passTime()
    const done = await delivery(id, ({ status }) => status === "delivered")
    expect(done.attempts).toBe(2)
    expect(done.answers.map((one: { status: number }) => one.status)).toEqual([500, 204])
    expect(new Set(hooks.got.map((one) => one.id)).size).toBe(1)
    expect((await call("GET", `/${id}`)).body.failing_since).toBeNull()
  })

  test("of attempts that overlap, the one that began last says whether the endpoint fails", async () => {
    const gates = Array.from({ length: 4 }, () => Promise.withResolvers<number>())
    let requests = 0
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: async () => new Response("", { status: (await gates[requests++]?.promise) ?? 200 })
    })
    const { id } = await created(["run.finished"], `http://127.0.0.1:${server.port}/hooks`)
    const sent = async (count: number) => {
      await org.run(find)
      await until(
        `request ${count}`,
        () => requests,
        (got) => got === count
      )
    }
    const answered = async (attempt: number, status: number, records: number, failing: boolean) => {
      gates[attempt]?.resolve(status)
      await until(
        `${records} records`,
        () => app.sql("SELECT FROM webhook_deliveries WHERE json_array_length(answers) = 1 AND endpoint_id = $1", [id]),
        (rows) => rows.length === records
      )
      expect((await call("GET", `/${id}`)).body.failing_since !== null).toBe(failing)
    }
    await sent(1)
    await sent(2)
    await answered(0, 500, 1, true)
    await answered(1, 200, 2, false)
    await sent(3)
    await sent(4)
    await answered(3, 200, 3, false)
    await answered(2, 500, 4, false)
    await server.stop(true)
  })

  test("an answer 410 pauses the endpoint; resumed, it continues where it stopped", async () => {
    hooks.state.status = 410
    const { id } = await created()
    await org.run(find)
    await delivery(id, ({ status }) => status === "failed")
    expect((await call("GET", `/${id}`)).body).toMatchObject({ status: "paused", paused_because: "gone" })
    const { body: missed } = await org.run(find)
    hooks.state.status = 200
    const refused = await call("POST", `/${id}/replay`, { from: "2020-01-01T00:00:00Z" })
    expect([refused.status, refused.body.error.details[0].path]).toEqual([400, "path.endpoint_id"])
    expect((await call("PATCH", `/${id}`, { status: "active" })).body.status).toBe("active")
    await until(
      "the missed run",
      () => hooks.got.map(({ event }) => event.data.run_id),
      (ids) => ids.includes(missed.run_id)
    )
    for (const from of ["-271821-04-20T00:00:00Z", "1"]) {
      const { status, body } = await call("POST", `/${id}/replay`, { from })
      expect([status, body.error.details?.[0].path]).toEqual([400, "from"])
    }
    expect((await call("POST", `/${id}/replay`, { from: "2020-01-01T00:00:00Z" })).body).toEqual({ replayed: 1 })
    await arrived(3)
    expect(new Set(hooks.got.map((one) => one.id)).size).toBe(2)
  })

  test("an endpoint that fails for days is paused when a delivery is given up", async () => {
    hooks.state.status = 503
    const { id } = await created()
    await org.run(find)
    await delivery(id, ({ answers }) => answers.length === 1)
    await app.sql("UPDATE webhook_endpoints SET failing_since = now() - interval '3 days'")
    await app.sql("UPDATE webhook_deliveries SET attempts = 9, next_attempt_at = now() WHERE status = 'pending'")
    expect((await delivery(id, ({ status }) => status === "failed")).attempts).toBe(10)
    expect((await call("GET", `/${id}`)).body.paused_because).toBe("failing")
  })

  test("a delivery is replayed, and a rotated secret signs beside the new one for its grace", async () => {
    const endpoint = await created()
    await org.run(find)
    const first = await delivery(endpoint.id, ({ status }) => status === "delivered")
    const { body: rotated } = await call("POST", `/${endpoint.id}/rotate`, { grace_seconds: 3600 })
    expect(rotated.secret).not.toBe(endpoint.secret)
    expect((await call("POST", `/${endpoint.id}/deliveries/${first.id}/replay`)).body.status).toBe("pending")
    await arrived(2)
    const [, again] = hooks.got
    expect(again?.id).toBe(first.event_id)
    for (const secret of [endpoint.secret, rotated.secret])
      expect(new Webhook(secret).verify(again?.text ?? "", again?.headers ?? {})).toEqual(again?.event)
    await delivery(endpoint.id, ({ status }) => status === "delivered")
    await app.sql("UPDATE webhook_endpoints SET previous_until = now() WHERE previous_secret IS NOT NULL")
    await call("POST", `/${endpoint.id}/deliveries/${first.id}/replay`)
    await arrived(3)
    const last = hooks.got[2]
    expect(() => new Webhook(endpoint.secret).verify(last?.text ?? "", last?.headers ?? {})).toThrow()
  })

  test("a receiver that never answers delays no other, and a redirect is not followed", async () => {
    const mute = receiver()
    mute.state.mute = true
    const elsewhere = receiver()
    hooks.state.status = 302
    hooks.state.headers = { location: elsewhere.url }
    const good = receiver()
    try {
      await created(["run.finished"], mute.url)
      const redirecting = await created()
      await created(["run.finished"], good.url)
      const runs = 12
      for (let run = 0; run < runs; run += 1) await org.run(find)
      await until(
        "all webhooks",
        () => good.got.length,
        (length) => length >= runs
      )
      const failed = await delivery(redirecting.id, ({ answers }) => answers.length > 0)
      expect([failed.status, failed.answers[0].status, elsewhere.got.length]).toEqual(["pending", 302, 0])
      // No more than its share of connections.
      expect(mute.got.length).toBe(5)
    } finally {
      for (const one of [mute, elsewhere, good]) await one.stop()
    }
  })

  test("a process that dies after sending repeats the attempt with the same id", async () => {
    const { id } = await created()
    await org.run(find)
    await delivery(id, ({ status }) => status === "delivered")
    // As it stood between the claim and the answer, with the claim's time passed.
    await app.sql("UPDATE webhook_deliveries SET status = 'pending', delivered_at = NULL, next_attempt_at = now()")
    expect((await delivery(id, ({ status }) => status === "delivered")).attempts).toBe(2)
    expect(new Set(hooks.got.map((one) => one.id)).size).toBe(1)
  })

  test("only people of the organization change endpoints, and every wrong field is named", async () => {
    const { id } = await created()
    const key = await call("POST", "", { url: hooks.url, events: ["run.finished"] }, org.key)
    expect([key.status, key.body.error.code]).toEqual([403, "forbidden"])
    const other = await app.tenant("1.00")
    const theirs = await other.session()
    for (const [method, path] of [
      ["GET", `/${id}`],
      ["PATCH", `/${id}`],
      ["DELETE", `/${id}`],
      ["POST", `/${id}/rotate`],
      ["GET", `/${id}/deliveries`]
    ] as const) {
      const reply = await call(method, path, method === "GET" || method === "DELETE" ? undefined : {}, theirs)
      expect([path, reply.status, reply.body.error.details[0].path]).toEqual([path, 400, "path.endpoint_id"])
    }
    const refusals: ReadonlyArray<readonly [unknown, string]> = [
      [{ url: "ftp://example.com", events: ["run.finished"] }, "url"],
      [{ url: "not a url", events: ["run.finished"] }, "url"],
      [{ url: "http://user:secret@example.com/", events: ["run.finished"] }, "url"],
      [{ url: hooks.url, events: [] }, "events"],
      [{ url: hooks.url, events: ["run.exploded"] }, "events.0"],
      [{ url: hooks.url }, "events"]
    ]
    for (const [body, path] of refusals) {
      const reply = await call("POST", "", body)
      expect([JSON.stringify(body), reply.status, reply.body.error?.details?.[0]?.path]).toEqual([
        JSON.stringify(body),
        400,
        path
      ])
    }
    for (let at = 1; at < 20; at += 1) await created()
    const full = await call("POST", "", { url: hooks.url, events: ["run.finished"] })
    expect([full.status, full.body.error.details[0].path]).toEqual([400, "url"])
    const { body: log } = await app.call(session, "GET", "/v1/audit-log?action=webhook")
    expect(log.items.length).toBe(20)
    expect(JSON.stringify(log)).not.toContain("whsec_")
    expect((await call("DELETE", `/${id}`)).body).toEqual({ id, deleted: true })
  })
})

test("private addresses are refused, by their name too", async () => {
  const app = await startApp()
  try {
    const org = await app.tenant("1.00")
    const session = await org.session()
    const hosts = [
      "127.0.0.1",
      "10.1.2.3",
      "169.254.169.254",
      "[::1]",
      "[::ffff:10.0.0.1]",
      "[fd00::1]",
      "2130706433",
      "0x7f.1",
      "localhost",
      "db.internal",
      "intranet",
      "[64:ff9b::a00:1]"
    ]
    for (const host of hosts) {
      const { status, body } = await app.call(session, "POST", "/v1/webhook-endpoints", {
        body: { url: `https://${host}/hooks`, events: ["run.finished"] }
      })
      expect([host, status, body.error?.details?.[0]?.path]).toEqual([host, 400, "url"])
    }
    const plain = await app.call(session, "POST", "/v1/webhook-endpoints", {
      body: { url: "http://example.com/hooks", events: ["run.finished"] }
    })
    expect([plain.status, plain.body.error.details[0].path]).toEqual([400, "url"])
  } finally {
    await app.stop()
  }
})
