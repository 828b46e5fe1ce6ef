/**
 * T58 ratelimit.headers: limits over two processes and behind a proxy, with Redis and without it, and what they tell the client. Nobody
 * loses access to an account because somebody else guesses its password.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { connect, createServer, type Socket } from "node:net"
import {
  type App,
  backends,
  callUrl,
  figures,
  type Reply,
  startApp,
  type Tenant,
  timed,
  until,
  verify,
  withApp
} from "../../kit/app.ts"
import { letter, smtpMailbox, tokenIn } from "../../kit/mailbox.ts"
import { startRedis } from "../../kit/redis.ts"

const password = "correct horse battery"

/** A proxy as nginx is one: it appends the address of its client, which here is whatever the client calls itself in `x-from`. */
const proxyTo = (app: App) =>
  Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request) => {
      const { pathname, search } = new URL(request.url)
      const headers = new Headers(request.headers)
      const before = headers.get("x-forwarded-for")
      const from = headers.get("x-from") ?? "192.0.2.1"
      headers.set("x-forwarded-for", before === null ? from : `${before}, ${from}`)
      return fetch(`${app.url}${pathname}${search}`, {
        method: request.method,
        headers,
        body: request.body,
        decompress: false
      })
    }
  })

const discover = (app: Pick<App, "call">, headers: Record<string, string> = {}) =>
  app.call(null, "POST", "/v1/discover", { body: { query: "find an email" }, headers })
const statuses = (replies: ReadonlyArray<Reply>) =>
  [200, 429].map((status) => replies.filter((one) => one.status === status).length)
const times = <A>(count: number, ask: (index: number) => Promise<A>) =>
  Promise.all(Array.from({ length: count }, (_, index) => ask(index)))

/** The fields of the IETF draft, as numbers. */
const limitOf = ({ headers }: Reply) => {
  const policy = /^"(\w+)";q=(\d+);w=(\d+)$/.exec(headers.get("ratelimit-policy") ?? "")
  const state = /^"(\w+)";r=(\d+);t=(\d+)$/.exec(headers.get("ratelimit") ?? "")
  expect(state?.[1]).toBe(policy?.[1])
  return {
    policy: policy?.[1],
    quota: Number(policy?.[2]),
    window: Number(policy?.[3]),
    remaining: Number(state?.[2]),
    reset: Number(state?.[3]),
    retry_after: headers.get("retry-after") === null ? null : Number(headers.get("retry-after"))
  }
}

describe.each(backends)("T58 ratelimit.headers, two processes on %s", (backend) => {
  /** Buckets of 10, refilled by 5 per second. */
  const settings = { RUNGATE_RATE_LIMIT: "5", RUNGATE_TRUSTED_PROXIES: "1" }
  let one: App
  let two: App
  let org: Tenant
  let proxies: ReadonlyArray<ReturnType<typeof proxyTo>>
  const behind = (index: number): Pick<App, "call"> => {
    const url = `http://127.0.0.1:${proxies[index % 2]?.port}`
    return { call: (token, method, path, ask) => callUrl(url, token, method, path, ask) }
  }
  beforeAll(async () => {
    one = await startApp({ backend, settings })
    two = await startApp({ beside: one, role: "http", settings })
    org = await one.tenant("10.00")
    proxies = [proxyTo(one), proxyTo(two)]
  })
  afterAll(async () => {
    for (const proxy of proxies) await proxy.stop(true)
    await two.stop()
    await one.stop()
  })
  // Each process on its own when there is nothing between them.
  const processes = backend === "redis" ? 1 : 2
  /** Requests that the buckets let through: what they hold, and what refills while the requests are under way. */
  const mostIn = (millis: number) => processes * (11 + (5 * millis) / 1_000)

  test("a key's burst is one burst, wherever it asks; the 429 says when to come back, and holds nothing", async () => {
    const { value: replies, millis } = await timed(() =>
      times(60, (index) => org.over(index % 2 === 0 ? one : two).post("/v1/run", { ...verify(), async: true }))
    )
    const limited = replies.filter(({ status }) => status === 429)
    const taken = replies.length - limited.length
    expect(taken).toBeGreaterThanOrEqual(10 * processes)
    expect(taken).toBeLessThanOrEqual(mostIn(millis))
    for (const reply of replies) {
      expect(limitOf(reply)).toMatchObject({ policy: "default", quota: 10, window: 2 })
      if (reply.status !== 429) continue
      const { remaining, retry_after, reset } = limitOf(reply)
      expect([reply.body.error.code, remaining, retry_after]).toEqual(["rate_limited", 0, reset])
      expect(reset).toBeGreaterThanOrEqual(1)
    }
    const back = await until(
      "the limit lets the key in again",
      () => org.get("/v1/wallet"),
      ({ status }) => status === 200
    )
    expect(limitOf(back).retry_after).toBeNull()
    // Each that was let through held its money, and nobody else.
    await until(
      "every run that was admitted has its hold",
      () => one.sql("SELECT 1 FROM ledger WHERE type = 'reserve' AND org_id = $1", [org.org_id]),
      (rows) => rows.length === taken
    )
    expect(await one.sql("SELECT 1 FROM runs WHERE org_id = $1", [org.org_id])).toHaveLength(taken)
    figures("T58 ratelimit.headers", { backend, asked: replies.length, taken, limited: limited.length })
  })

  test("behind a proxy each client has a limit of its own, over both processes, and can't choose another", async () => {
    const { value: flood, millis } = await timed(() =>
      times(60, (index) =>
        // What the client itself writes into the header stands further left than what the proxy appends.
        discover(behind(index), { "x-from": "203.0.113.7", "x-forwarded-for": `198.51.100.${index}` })
      )
    )
    const [taken = 0, limited = 0] = statuses(flood)
    expect(taken + limited).toBe(60)
    expect(taken).toBeGreaterThanOrEqual(10 * processes)
    expect(taken).toBeLessThanOrEqual(mostIn(millis))
    for (const reply of flood) expect(limitOf(reply)).toMatchObject({ policy: "address", quota: 10, window: 2 })
    const others = await times(20, (index) => discover(behind(index), { "x-from": `203.0.113.${100 + index}` }))
    expect(statuses(others)).toEqual([20, 0])
    // One customer's network of 64 bits is one client.
    const network = await timed(() =>
      times(60, (index) => discover(behind(0), { "x-from": `2001:db8:0:1::${(index + 1).toString(16)}` }))
    )
    expect(statuses(network.value)[0]).toBeLessThanOrEqual(11 + (5 * network.millis) / 1_000)
    expect((await discover(behind(0), { "x-from": "2001:db8:0:2::1" })).status).toBe(200)
  })

  test("every public door is limited by address, the agents' door too", async () => {
    const doors: ReadonlyArray<readonly [string, string, unknown]> = [
      ["GET", "/v1/catalog/providers", undefined],
      ["GET", "/v1/catalog/capabilities", undefined],
      ["GET", "/join/22222222", undefined],
      ["POST", "/mcp", { jsonrpc: "2.0", id: 1, method: "ping" }]
    ]
    for (const [index, [method, path, body]] of doors.entries()) {
      const headers = { "x-from": `203.0.113.${20 + index}`, accept: "application/json, text/event-stream" }
      const { value: replies, millis } = await timed(() =>
        times(100, () => behind(0).call(null, method, path, { headers, ...(body === undefined ? {} : { body }) }))
      )
      const limited = replies.filter(({ status }) => status === 429)
      // An agents' host asks for many customers, so its address may ask four times as often.
      const share = path === "/mcp" ? 4 : 1
      expect(replies.length - limited.length).toBeGreaterThanOrEqual(10 * share)
      expect(replies.length - limited.length).toBeLessThanOrEqual(share * (11 + (5 * millis) / 1_000))
      for (const reply of limited) {
        expect(reply.body.error.code).toBe("rate_limited")
        expect(limitOf(reply)).toMatchObject({ policy: "address", remaining: 0 })
        expect(limitOf(reply).retry_after).toBeGreaterThanOrEqual(1)
      }
    }
    // Probes of a load balancer are never refused.
    const probes = await times(200, () =>
      behind(0).call(null, "GET", "/readyz", { headers: { "x-from": "203.0.113.7" } })
    )
    expect(statuses(probes)).toEqual([200, 0])
  })
})

describe("sign-in", () => {
  const settings = { RUNGATE_RATE_LIMIT: "50", RUNGATE_TRUSTED_PROXIES: "1" }
  const app = withApp({ settings })
  beforeAll(async () => {
    const body = { email: "ada@example.com", password, organization: "Ada" }
    expect((await app.call(null, "POST", "/v1/auth/sign-up", { body })).status).toBe(200)
    // A third of a second for each of fifty passwords would be most of what this file takes.
    const cheap = await Bun.password.hash(password, { algorithm: "bcrypt", cost: 4 })
    await app.sql("UPDATE users SET password_hash = $1 WHERE email = 'ada@example.com'", [cheap])
  })
  const signIn = (from: string, given: string, email = "ada@example.com") =>
    app.call(null, "POST", "/v1/auth/sign-in", {
      body: { email, password: given },
      headers: { "x-forwarded-for": from }
    })
  /** At once, so that no bucket refills in between. In order of their status. */
  const attempts = async (from: string, count: number, email?: string) =>
    (await times(count, () => signIn(from, "wrong password", email))).map(({ status }) => status).sort()

  test("ten wrong passwords from elsewhere lock nobody out", async () => {
    expect(await attempts("203.0.113.1", 11)).toEqual([...Array.from({ length: 10 }, () => 401), 429])
    expect((await signIn("203.0.113.1", password)).status).toBe(429)
    expect((await signIn("203.0.113.2", password)).status).toBe(200)
  })

  test("under attack from many addresses, known ones sign in as ever, unknown ones once a minute", async () => {
    // 203.0.113.2 has signed in before; 30 wrong passwords per hour are a person's share, whoever types them.
    for (const from of [11, 12, 13]) await attempts(`203.0.113.${from}`, 10)
    // Slowed: one try, and the right password is enough for it.
    expect(await attempts("203.0.113.14", 3)).toEqual([401, 429, 429])
    const slow = await signIn("203.0.113.14", password)
    expect([slow.status, Number(slow.headers.get("retry-after")) > 30]).toEqual([429, true])
    expect((await signIn("203.0.113.15", password)).status).toBe(200)
    for (let n = 0; n < 3; n += 1) expect((await signIn("203.0.113.2", password)).status).toBe(200)
    // From now on it is known.
    expect((await signIn("203.0.113.15", password)).status).toBe(200)
    // Another account is not slowed, and one that does not exist reads the same.
    expect(await attempts("203.0.113.14", 2, "bob@example.com")).toEqual([401, 401])
    const [row] = await app.sql("SELECT count(*)::int AS count FROM sign_in_addresses")
    expect(row?.["count"]).toBe(2)
  })

  test("one address has thirty attempts a minute, over all accounts", async () => {
    const found: Array<number> = []
    // A refused referral code costs no password hash, and counts as an attempt.
    for (let n = 0; n < 32; n += 1) {
      const body = { email: `x${n}@example.com`, password, organization: "X", referral_code: "none" }
      const headers = { "x-forwarded-for": "203.0.113.50" }
      found.push((await app.call(null, "POST", "/v1/auth/sign-up", { body, headers })).status)
    }
    expect(found.filter((status) => status === 429).length).toBeGreaterThan(0)
    expect(found.slice(0, 30)).toEqual(Array.from({ length: 30 }, () => 400))
  })
})

describe("sign-in to an address with which a stranger signed up too", () => {
  test("is slowed for the stranger, and not for who has verified the address", async () => {
    const mailbox = await smtpMailbox()
    const settings = { RUNGATE_EMAIL_VERIFICATION: "on", RUNGATE_RATE_LIMIT: "50", RUNGATE_TRUSTED_PROXIES: "1" }
    const app = await startApp({ settings: { ...settings, ...mailbox.settings } })
    try {
      const email = "ada@example.com"
      const post = (from: string, path: string, body: object) =>
        app.call(null, "POST", `/v1/auth/${path}`, { body, headers: { "x-forwarded-for": from } })
      const signIn = async (from: string, given: string) =>
        (await post(from, "sign-in", { email, password: given })).status
      const [stranger, ada] = ["203.0.113.66", "203.0.113.2"]
      await post(stranger, "sign-up", { email, password: "the stranger's own", organization: "S" })
      await post(ada, "sign-up", { email, password, organization: "Ada" })
      await post(ada, "verify-email", { token: tokenIn(await letter(mailbox, app, email, 2)) })
      expect([await signIn(stranger, "the stranger's own"), await signIn(ada, password)]).toEqual([200, 200])
      // A third of a second for each of sixty comparisons would be most of what this file takes.
      const hashes = [password, "the stranger's own"].map((one) =>
        Bun.password.hashSync(one, { algorithm: "bcrypt", cost: 4 })
      )
      await app.sql("UPDATE users SET password_hash = CASE WHEN pending THEN $2 ELSE $1 END", hashes)
      for (const from of [11, 12, 13]) await times(10, () => signIn(`203.0.113.${from}`, "wrong password"))
      for (let n = 0; n < 3; n += 1) expect(await signIn(ada, password)).toBe(200)
      expect((await times(3, () => signIn(stranger, "wrong password"))).sort()).toEqual([401, 429, 429])
    } finally {
      await app.stop()
      await mailbox.stop()
    }
  })
})

describe("without the header, or with a foreign one", () => {
  test("a client that is not behind a proxy counts as its connection", async () => {
    const app = await startApp({ settings: { RUNGATE_RATE_LIMIT: "5" } })
    try {
      const { value: replies, millis } = await timed(() =>
        times(60, (index) => discover(app, { "x-forwarded-for": `198.51.100.${index}` }))
      )
      expect(statuses(replies)[0]).toBeLessThanOrEqual(11 + (5 * millis) / 1_000)
    } finally {
      await app.stop()
    }
  })
})

describe.skipIf(!backends.includes("redis"))("a Redis that is gone or frozen", () => {
  /** A wire to Redis that can be cut, or filled up. */
  const wireTo = async (url: string) => {
    const target = new URL(url)
    const sockets = new Set<Socket>()
    let frozen = false
    const server = createServer((client) => {
      const redis = connect(Number(target.port), target.hostname)
      for (const [from, to] of [
        [client, redis],
        [redis, client]
      ] as const) {
        sockets.add(from)
        from.on("data", (data) => (frozen ? undefined : to.write(data)))
        from.on("error", () => {}).on("close", () => to.destroy())
      }
    })
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    const address = server.address()
    const port = typeof address === "object" && address !== null ? address.port : expect.unreachable("no port")
    return {
      url: `redis://127.0.0.1:${port}/15`,
      freeze: () => {
        frozen = true
      },
      cut: () => {
        server.close()
        for (const socket of sockets) socket.destroy()
      }
    }
  }

  test.each(["freeze", "cut"] as const)("%s: the doors stay as wide as before", async (how) => {
    const wire = await wireTo((await startRedis()) ?? expect.unreachable("no Redis"))
    const app = await startApp({ role: "http", settings: { RUNGATE_RATE_LIMIT: "5", REDIS_URL: wire.url } })
    try {
      const org = await app.tenant()
      expect((await org.get("/v1/spend-guard")).status).toBe(200)
      wire[how]()
      const { value: replies, millis } = await timed(() => times(60, () => org.get("/v1/spend-guard")))
      const [taken = 0, limited = 0] = statuses(replies)
      expect(taken + limited).toBe(60)
      // The request before took one.
      expect(taken).toBeGreaterThanOrEqual(9)
      expect(taken).toBeLessThanOrEqual(11 + (5 * millis) / 1_000)
    } finally {
      wire.cut()
      await app.stop()
    }
  })
})
