/** Signing secrets of webhooks are encrypted where RUNGATE_ENCRYPTION_KEY is set, those of the time before too, and they sign as before. */
import { afterAll, expect, test } from "bun:test"
import { type App, startApp, type Tenant, until, verify, withApp } from "../../../kit/app.ts"
import { dumpDatabase, hitsIn } from "../../../kit/stored-text.ts"
import { receiver, verified } from "../../../kit/webhook-receiver.ts"

const key = (byte: number) => Buffer.alloc(32, byte).toString("base64")
const allowed = { RUNGATE_WEBHOOK_ALLOW_PRIVATE: "1" }

/** It sends nothing itself: other processes with their own keys do. */
const app = withApp({ role: "http", settings: allowed })
const keyed = withApp({ settings: { ...allowed, RUNGATE_ENCRYPTION_KEY: key(1) } })
const hooks = receiver()
afterAll(() => hooks.stop())

const created = async (by: App, session: string) => {
  const body = { url: hooks.url, events: ["run.finished"] }
  const answer = await by.call(session, "POST", "/v1/webhook-endpoints", { body })
  expect(answer.status).toBe(200)
  return answer.body
}
/** The next webhook to the receiver. */
const next = async (org: Tenant) => {
  const before = hooks.got.length
  await org.run(verify())
  await until(
    "a webhook",
    () => hooks.got.length,
    (count) => count > before
  )
  return hooks.got[before] ?? expect.unreachable()
}
const secretsIn = async (by: App, secrets: Readonly<Record<string, string>>) => hitsIn(await dumpDatabase(by), secrets)

test("a secret and the one before it are nowhere in the database, and both sign", async () => {
  const org = await keyed.tenant("5.00")
  const session = await org.session()
  const { id, secret } = await created(keyed, session)
  const { body: rotated } = await keyed.call(session, "POST", `/v1/webhook-endpoints/${id}/rotate`, {
    body: { grace_seconds: 3600 }
  })
  expect(await secretsIn(keyed, { secret, rotated: rotated.secret, part: secret.slice(10, 40) })).toEqual([])
  const got = await next(org)
  for (const one of [secret, rotated.secret]) expect(verified(got, one)).toEqual(got.event)
})

test("secrets of the time before the key are encrypted when a worker starts, and with another key after a rotation", async () => {
  // Credit needs a worker.
  const plain = await startApp({ beside: app, settings: allowed })
  const org = await app.tenant("5.00")
  await plain.stop()
  const session = await org.session()
  const { id, secret } = await created(app, session)
  const { body: rotated } = await app.call(session, "POST", `/v1/webhook-endpoints/${id}/rotate`, {
    body: { grace_seconds: 3600 }
  })
  const stored = async () =>
    (await app.sql("SELECT secret, previous_secret FROM webhook_endpoints WHERE endpoint_id = $1", [id]))[0] ?? {}
  let before = await stored()
  expect(before).toEqual({ secret: rotated.secret, previous_secret: secret })
  for (const keys of [key(1), `${key(2)},${key(1)}`, key(2)]) {
    const worker = await startApp({ beside: app, settings: { ...allowed, RUNGATE_ENCRYPTION_KEY: keys } })
    try {
      if (keys !== key(2)) {
        const now = await until("both secrets are encrypted", stored, (row) =>
          Object.entries(row).every(([name, text]) => String(text).startsWith("v1.") && text !== before[name])
        )
        expect(worker.logs.join("\n")).toContain("webhooks: encrypted 1 signing secret")
        before = now
      }
      const got = await next(org)
      for (const one of [secret, rotated.secret]) expect(verified(got, one)).toEqual(got.event)
      expect(await secretsIn(app, { secret, rotated: rotated.secret })).toEqual([])
    } finally {
      await worker.stop()
    }
  }
  const changes = await app.call(session, "GET", "/v1/audit-log?action=webhook.changed")
  expect(changes.body.items).toHaveLength(1)
})

test("an endpoint whose secret can't be decrypted gets nothing, and the delivery says what to do", async () => {
  const org = await keyed.tenant("5.00")
  const session = await org.session()
  const { id } = await created(keyed, session)
  // Of another endpoint.
  await keyed.sql(
    "UPDATE webhook_endpoints SET secret = (SELECT secret FROM webhook_endpoints WHERE endpoint_id <> $1 LIMIT 1) WHERE endpoint_id = $1",
    [id]
  )
  const before = hooks.got.length
  await org.run(verify())
  const [delivery] = await until(
    "an attempt",
    async () => (await keyed.call(session, "GET", `/v1/webhook-endpoints/${id}/deliveries`)).body.items,
    (items) => items[0]?.answers.length > 0
  )
  expect(delivery.answers[0]).toMatchObject({ status: null, answer: expect.stringContaining("Rotate the secret") })
  expect(hooks.got).toHaveLength(before)
  const { body } = await keyed.call(session, "POST", `/v1/webhook-endpoints/${id}/rotate`, { body: {} })
  await keyed.sql("UPDATE webhook_deliveries SET next_attempt_at = now() WHERE status = 'pending'")
  await until(
    "the webhook",
    () => hooks.got.length,
    (count) => count > before
  )
  const got = hooks.got[before]
  if (got !== undefined) expect(verified(got, body.secret)).toEqual(got.event)
})
