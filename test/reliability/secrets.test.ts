/**
 * T48: a secret is shown once and stored nowhere. Keys, session tokens, passwords, provider keys and webhook secrets are looked for in a
 * dump of the database and of Redis, in every command that Redis is sent, in all logs and in every answer.
 */
import { describe, expect, test } from "bun:test"
import { type App, figures, oneBackend, startApp, until } from "../kit/app.ts"
import { startMeter } from "../chaos/meter.ts"
import { dumpDatabase, dumpRedis, hitsIn, recordRedis, type Stored } from "../kit/stored-text.ts"
import { preparedSchema } from "../kit/postgres.ts"
import { startStripe, webhookSecret } from "../layers/payments/standin.ts"

const providerKey = "canary-leadmagic-key-4711"
const password = "canary-password-4711"
const account = { email: "canary@example.com", password, organization: "Canary" }

const find = (first_name: string) => ({
  capability: "email.find",
  input: { first_name, last_name: "Doe", company_domain: "example.com" },
  routing: { provider: "leadmagic" },
  response: { include_raw: true }
})

/** A provider that answers with the key it was called with: once inside an error, otherwise inside its data. */
const startEcho = () => {
  const meter = startMeter()
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const text = await request.clone().text()
      const secret = request.headers.get("x-api-key")
      if (text.includes("Broken"))
        return Response.json(
          { error: `bad key ${secret}`, headers: Object.fromEntries(request.headers) },
          { status: 500 }
        )
      const { pathname } = new URL(request.url)
      const answer = await fetch(`${meter.url}${pathname}`, { method: "POST", body: text })
      const body = (await answer.json()) as Record<string, unknown>
      return Response.json({ ...body, key: secret })
    }
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    keys: () => meter.calls.length,
    stop: async () => {
      await server.stop(true)
      await meter.stop()
    }
  }
}

/** Requests that carry secrets where they belong and where they don't. */
const requests = (app: App, key: string, session: string) => [
  app.call(key, "POST", "/v1/run", { body: find("Jane") }),
  app.call(key, "POST", "/v1/run", { body: find("Broken") }),
  app.call(key, "POST", "/v1/run", { raw: "{", headers: { "content-type": "application/json" } }),
  app.call(key, "GET", "/v1/nothing"),
  app.call(key, "GET", "/v1/api-keys"),
  app.call(key, "GET", "/v1/wallet/transactions"),
  app.call(key, "DELETE", "/v1/api-keys/key_1"),
  app.call(session, "GET", "/v1/auth/session"),
  app.call(null, "POST", "/v1/auth/sign-in", { body: { ...account, password: `${password}!` } }),
  app.call(null, "POST", "/v1/auth/sign-in", { body: { email: account.email, password, extra: 1 } }),
  app.call(`${key}x`, "GET", "/v1/wallet"),
  app.call(key, "POST", "/v1/wallet/topups/checkout", { body: { amount: "10.00" } }),
  app.call(null, "POST", "/v1/webhooks/stripe", { body: {}, headers: { "stripe-signature": webhookSecret } }),
  app.call(key, "POST", "/mcp", {
    body: { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "wallet", arguments: {} } }
  }),
  app.call(null, "GET", "/metrics"),
  app.call(null, "GET", "/readyz")
]

describe.each(oneBackend)("T48 key.at_rest_and_once, queues on %s", (backend) => {
  test("no secret is in the database, in Redis, in a job, in a log or in an answer", async () => {
    const [stripe, echo] = [await startStripe(), startEcho()]
    const settings = {
      ...stripe.settings,
      RUNGATE_MODE: "production",
      RUNGATE_SIGN_UP: "open",
      RUNGATE_EMAIL_VERIFICATION: "off",
      RUNGATE_PROVIDER_LEADMAGIC_API_KEY: providerKey,
      RUNGATE_PROVIDER_LEADMAGIC_BASE_URL: echo.url
    }
    const app = await startApp({ backend, role: "http", settings })
    const worker = () => startApp({ beside: app, role: "worker", settings })
    const redisUrl = app.settings["REDIS_URL"] ?? ""
    const recorder = redisUrl === "" ? undefined : await recordRedis(redisUrl)
    try {
      const { body: session } = await app.call(null, "POST", "/v1/auth/sign-up", { body: account })
      const token: string = session.session_token
      const created = await app.call(token, "POST", "/v1/api-keys", { body: { name: "canary", environment: "live" } })
      const key: string = created.body.api_key
      const secrets = {
        "API key": key,
        "tail of the API key": key.slice(12),
        "session token": token,
        "tail of the session token": token.slice(8),
        password,
        "provider key": providerKey,
        "webhook secret": webhookSecret,
        "Stripe key": stripe.settings.STRIPE_SECRET_KEY
      }
      const stored: Array<Stored> = []
      const dump = async () => {
        stored.push(...(await dumpDatabase(app)))
        if (redisUrl !== "") stored.push(...(await dumpRedis(redisUrl)))
      }

      // Without a worker nothing is applied, so the dump has the commands and the queue's jobs as they wait.
      const waiting = requests(app, key, token)
      const commands = () => app.sql("SELECT 1 FROM mailbox")
      await until("commands wait", commands, (rows) => rows.length >= 2)
      await until(
        "a job waits in the queue",
        async () => [...(await dumpDatabase(app)), ...(redisUrl === "" ? [] : await dumpRedis(redisUrl))],
        (all) => all.some(({ place, text }) => /\.job$|rungate:/.test(place) && text.includes("wake"))
      )
      await dump()
      const working = await worker()
      const answers = await Promise.all(waiting)
      await app.sql("UPDATE wallets SET daily_limit = NULL")
      const [org] = await app.sql("SELECT org_id FROM users")
      expect(org?.["org_id"]).toStartWith("org_")
      // With money the runs reach the provider, which repeats its key.
      const sale = answers.find((one) => typeof one.body?.checkout_url === "string")?.body.session_id
      stripe.pay(sale)
      const paid = stripe.events.find(({ type }) => type === "checkout.session.completed") ?? expect.unreachable()
      expect((await stripe.deliver(`${app.url}/v1/webhooks/stripe`, paid)).status).toBe(200)
      const balance = async () => (await app.call(key, "GET", "/v1/wallet")).body.balance
      await until("the payment is credited", balance, (amount) => amount === "10.00")
      const ran = await Promise.all(requests(app, key, token))
      expect(ran.slice(0, 2).map((one) => one.status)).toEqual([200, 502])
      expect(ran[0]?.text).toContain("<redacted>")
      await dump()

      const texts = [
        ...stored,
        ...[...app.logs, ...working.logs].map((text) => ({ place: "log", text })),
        ...[...answers, ...ran].map(({ text }, index) => ({ place: `answer ${index}`, text })),
        ...(recorder?.commands ?? [])
      ]
      expect(hitsIn(texts, secrets)).toEqual([])
      // The search finds what is there: the e-mail address is stored, and a digest of the key in hexadecimal.
      expect(hitsIn(stored, { email: account.email })).toEqual([`email in ${preparedSchema}.users`])
      const hash = new Bun.CryptoHasher("sha256").update(key).digest("hex")
      expect(hitsIn(stored, { hash })).toContain(`hash in ${preparedSchema}.api_keys`)
      if (recorder !== undefined) expect(recorder.commands.length).toBeGreaterThan(20)
      figures("T48 key.at_rest_and_once", {
        backend,
        secrets: Object.keys(secrets).length,
        tables: new Set(stored.filter(({ place }) => place.includes(".")).map(({ place }) => place)).size,
        rows_and_keys: stored.length,
        redis_commands: recorder?.commands.length ?? 0,
        log_lines: app.logs.length + working.logs.length,
        answers: answers.length + ran.length
      })
      await app.books()
      await working.stop()
    } finally {
      recorder?.stop()
      await app.stop()
      await echo.stop()
      await stripe.stop()
    }
  })
})
