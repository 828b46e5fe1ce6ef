/** What operators and owners of webhooks are told, how long deliveries are kept, and a flood to a slow receiver beside a fast one. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { Client } from "pg"
import { newId } from "../../../../src/layers/platform/Ids.ts"
import { type App, backends, figures, startApp, type Tenant, until, verify } from "../../../kit/app.ts"
import { letter, smtpMailbox, type SmtpMailbox } from "../../../kit/mailbox.ts"
import { receiver } from "../../../kit/webhook-receiver.ts"

describe.each(backends)("operation of webhooks, queues on %s", (backend) => {
  let app: App
  let mailbox: SmtpMailbox
  beforeAll(async () => {
    mailbox = await smtpMailbox()
    app = await startApp({ backend, settings: { ...mailbox.settings, RUNGATE_WEBHOOK_ALLOW_PRIVATE: "1" } })
  })
  afterAll(async () => {
    await app.stop()
    await mailbox.stop()
  })
  const call = (token: string, method: string, path: string, body?: unknown) =>
    app.call(token, method, `/v1/webhook-endpoints${path}`, body === undefined ? {} : { body })
  const created = async (session: string, url: string, events: ReadonlyArray<string>) => {
    const { status, body } = await call(session, "POST", "", { url, events })
    expect([status, body.error]).toEqual([200, undefined])
    return body
  }
  const metric = async (name: string): Promise<number> => {
    const text = await app.metrics()
    const line = text.split("\n").find((one) => one.startsWith(`${name} `)) ?? expect.unreachable(`${name} in ${text}`)
    return Number(line.slice(name.length))
  }
  /** A person with this role, and the address. */
  const person = async (org: Tenant, role: string) => {
    const email = `${role}-${crypto.randomUUID()}@example.com`
    const user_id = newId("usr")
    await app.sql("INSERT INTO users (user_id, org_id, email, password_hash) VALUES ($1, $2, $3, 'none')", [
      user_id,
      org.org_id,
      email
    ])
    await app.sql("UPDATE members SET role = $2 WHERE user_id = $1", [user_id, role])
    return email
  }

  test("an endpoint is removed while a transaction changes its deliveries and then the endpoint, as an answer does", async () => {
    const org = await app.tenant("5.00")
    const session = await org.session()
    const hooks = receiver()
    const { id } = await created(session, hooks.url, ["run.finished"])
    await org.run(verify())
    await until(
      "the delivery is recorded",
      () => app.sql("SELECT FROM webhook_deliveries WHERE endpoint_id = $1 AND status = 'delivered'", [id]),
      (rows) => rows.length === 1
    )
    const answering = new Client({ connectionString: app.databaseUrl })
    await answering.connect()
    await answering.query("BEGIN")
    await answering.query("UPDATE webhook_deliveries SET attempts = attempts WHERE endpoint_id = $1", [id])
    const removing = call(session, "DELETE", `/${id}`)
    await until(
      "the removal waits",
      () => answering.query("SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))"),
      ({ rowCount }) => rowCount !== 0
    )
    await answering.query("UPDATE webhook_endpoints SET failing_since = NULL WHERE endpoint_id = $1", [id])
    await answering.query("COMMIT")
    await answering.end()
    expect((await removing).status).toBe(200)
    expect((await call(session, "GET", `/${id}`)).body.error.details[0].path).toBe("path.endpoint_id")
    await hooks.stop()
  })

  test("owners and admins get one e-mail when an endpoint is paused, and the metrics count it", async () => {
    const org = await app.tenant("5.00")
    const session = await org.session()
    const told = [await person(org, "owner"), await person(org, "admin")]
    const untold = [await person(org, "member"), await person(org, "viewer")]
    const hooks = receiver()
    hooks.state.status = 410
    const before = await metric("rungate_webhook_endpoints_paused")
    const { id } = await created(session, hooks.url, ["run.finished"])
    // Several deliveries fail together, and the endpoint is paused once.
    await Promise.all(Array.from({ length: 4 }, () => org.run(verify())))
    for (const email of told) {
      const { subject, text } = await letter(mailbox, app, email)
      expect(subject).toBe("A webhook endpoint was paused")
      expect(text).toContain(`rungate webhooks resume ${id}`)
      expect(text).toContain("HTTP 410")
      expect(text).not.toContain(hooks.url)
    }
    expect(await metric("rungate_webhook_endpoints_paused")).toBe(before + 1)
    expect(await metric('rungate_webhook_deliveries_total{result="failed"}')).toBeGreaterThan(0)
    // A pause by a person is no news to them.
    await call(session, "PATCH", `/${id}`, { status: "active" })
    await call(session, "PATCH", `/${id}`, { status: "paused" })
    expect(await metric("rungate_webhook_endpoints_paused")).toBe(before)
    // The next pause is told again.
    await call(session, "PATCH", `/${id}`, { status: "active" })
    await org.run(verify())
    for (const email of told) await letter(mailbox, app, email, 2)
    for (const email of told) expect(mailbox.letters(app, email)).toHaveLength(2)
    for (const email of untold) expect(mailbox.letters(app, email)).toEqual([])
    await hooks.stop()
  })

  test("an endpoint that fails for days is paused with an e-mail that says so", async () => {
    const org = await app.tenant("5.00")
    const session = await org.session()
    const owner = await person(org, "owner")
    const hooks = receiver()
    hooks.state.status = 503
    const { id } = await created(session, hooks.url, ["run.finished"])
    await org.run(verify())
    await until(
      "the first attempt",
      () =>
        app.sql("SELECT attempts FROM webhook_deliveries WHERE endpoint_id = $1 AND json_array_length(answers) = 1", [
          id
        ]),
      (rows) => rows.length === 1
    )
    expect(await metric('rungate_webhook_deliveries_total{result="retried"}')).toBeGreaterThan(0)
    // Retries come after seconds to hours. The test lets that time pass at once.
    await app.sql("UPDATE webhook_endpoints SET failing_since = now() - interval '3 days' WHERE endpoint_id = $1", [id])
    await app.sql("UPDATE webhook_deliveries SET attempts = 9, next_attempt_at = now() WHERE endpoint_id = $1", [id])
    expect((await letter(mailbox, app, owner)).text).toContain("two days")
    await hooks.stop()
  })

  test("deliveries are deleted 30 days after their events if they have ended or their endpoint is paused, and open ones stay", async () => {
    const org = await app.tenant("5.00")
    const session = await org.session()
    const hooks = receiver()
    const { id } = await created(session, hooks.url, ["run.created", "run.finished"])
    await org.run(verify())
    await org.run(verify())
    const ended = () =>
      app.sql("SELECT delivery_id FROM webhook_deliveries WHERE endpoint_id = $1 AND status = 'delivered' ORDER BY 1", [
        id
      ])
    const [old, open, young] = (await until("four deliveries", ended, (rows) => rows.length === 4)).map(
      ({ delivery_id }) => delivery_id
    )
    const age = (delivery_id: unknown, days: number) =>
      app.sql("UPDATE webhook_deliveries SET happened_at = now() - make_interval(days => $2) WHERE delivery_id = $1", [
        delivery_id,
        days
      ])
    await age(old, 31)
    await age(young, 29)
    await age(open, 31)
    await app.sql(
      "UPDATE webhook_deliveries SET status = 'pending', next_attempt_at = now() + interval '1 hour', delivered_at = NULL WHERE delivery_id = $1",
      [open]
    )
    // A worker deletes when it starts, and every few hours.
    const worker = await startApp({ beside: app, role: "worker" })
    const left = () => app.sql("SELECT delivery_id FROM webhook_deliveries WHERE endpoint_id = $1", [id])
    const ids = (await until("the deletion", left, (rows) => rows.length < 4)).map(({ delivery_id }) => delivery_id)
    expect(ids).toHaveLength(3)
    expect(ids).not.toContain(old)
    await worker.stop()
    await call(session, "PATCH", `/${id}`, { status: "paused" })
    const later = await startApp({ beside: app, role: "worker" })
    const kept = (await until("the deletion", left, (rows) => rows.length < 3)).map(({ delivery_id }) => delivery_id)
    expect(kept).toHaveLength(2)
    expect(kept).not.toContain(open)
    await later.stop()
    await hooks.stop()
  })

  test("5,000 events to a receiver that does not answer delay no other receiver", async () => {
    const flooded = await app.tenant("5.00")
    const slow = receiver()
    slow.state.mute = true
    const flood = await created(await flooded.session(), slow.url, ["wallet.changed"])
    const org = await app.tenant("5.00")
    const fast = receiver()
    // One organization has both endpoints, another one has a fast endpoint only.
    await created(await flooded.session(), fast.url, ["run.finished"])
    await created(await org.session(), fast.url, ["run.finished"])
    const events = 5_000
    await app.sql(
      `WITH head AS (UPDATE event_heads SET position = position + $2 WHERE org_id = $1 RETURNING position)
       INSERT INTO events (org_id, position, kind, data, happened_at)
       SELECT $1, position - $2::bigint + n, 'wallet.changed', '{}', now() FROM head, generate_series(1, $2::bigint) n`,
      [flooded.org_id, events]
    )
    const began = performance.now()
    const ids = (await Promise.all([flooded, org].map((one) => one.run(verify())))).map(({ body }) => body.run_id)
    await until(
      "both runs",
      () => new Set(fast.got.map(({ event }) => event.data.run_id)),
      (got) => ids.every((run_id) => got.has(run_id))
    )
    const millis = Math.round(performance.now() - began)
    const stored = () =>
      app.sql("SELECT count(*)::int AS count FROM webhook_deliveries WHERE endpoint_id = $1", [flood.id])
    const [row] = await until("all deliveries", stored, ([one]) => Number(one?.["count"]) >= events)
    expect(Number(row?.["count"])).toBeGreaterThanOrEqual(events)
    expect(slow.got.length).toBeLessThanOrEqual(5)
    expect(await metric("rungate_webhook_deliveries_due")).toBeGreaterThanOrEqual(events - 5)
    figures("webhooks.flood", { backend, events, fast_ms: millis, slow_connections: slow.got.length })
    expect(millis).toBeLessThan(10_000)
    for (const one of [slow, fast]) await one.stop()
  })
})
