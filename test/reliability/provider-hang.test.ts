/**
 * T34: a provider that hangs, dribbles, lies about lengths or breaks off. Every case is a typed failure at the latest at the
 * deadline, leaves no socket behind, and the next provider is asked.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { Effect, Logger } from "effect"
import { Breakers } from "../../src/layers/executor/Breakers.ts"
import { figures, percentile, type Tenant, timed, until, verify, withApp } from "../kit/app.ts"
import { type Executor, providerOf, secret, startExecutor, timeoutMillis } from "./executor.ts"
import { type Hostile, hangs, startHostile } from "./hostile.ts"

/** Those that take until the deadline, which is half a minute for a provider of the catalog. */
const slow = /silent|hang|loris|flood/
/** What a deadline may be overrun by. */
const slackMillis = 5_000

let hostile: Hostile
let executor: Executor
beforeAll(async () => {
  hostile = await startHostile()
  executor = await startExecutor({ hostile: hostile.url, honest: hostile.url })
})
afterAll(async () => {
  await executor.stop()
  await hostile.stop()
})

const closed = () =>
  until(
    "every socket is closed",
    () => hostile.tell(),
    ({ open }) => open <= 1
  )

describe("T34 provider.hang_matrix", () => {
  const taken: Array<number> = []
  const honest = providerOf("honest")

  const expectFailure = async (name: string) => {
    const offer = providerOf("hostile", { timeoutMillis }, { path: `/${name}` })
    const both = () => Promise.all([executor.call(offer), executor.callRaw(offer, { path: `/${name}` })])
    const { value, millis } = await timed(both)
    taken.push(millis)
    const [{ answer, duration_ms }, raw] = value
    if (answer._tag !== "Failure") throw new Error(`${name} was taken for ${answer._tag}`)
    // Reading without an end keeps the process busy, so the other call may not get its turn before its deadline.
    const busy = name === "endless-chunks" ? ["provider_rate_limited"] : []
    expect(["provider_error", "provider_timeout", "invalid_response", ...busy]).toContain(answer.reason)
    expect(millis).toBeLessThan(timeoutMillis + slackMillis)
    expect(duration_ms).toBeLessThan(timeoutMillis + slackMillis)
    // In words of ours: neither the address nor the key.
    expect(answer.detail).not.toMatch(/https?:|127\.0\.0\.1|s3cret|verbose/)
    // Without an end, either the deadline or the limit of bytes comes first.
    const reasons = name === "endless-chunks" ? ["provider_error", "provider_timeout", ...busy] : [answer.reason]
    expect(raw.answer._tag === "Failure" && reasons.includes(raw.answer.reason)).toBe(true)
  }

  test.each(Object.keys(hangs).filter((name) => !slow.test(name)))("%s", async (name) => {
    await expectFailure(name)
    // The waterfall's next provider is served as if nothing had been.
    expect((await executor.call(honest)).answer._tag).toBe("Match")
  })

  test("those that take until the deadline, all at once", async () => {
    const names = Object.keys(hangs).filter((name) => slow.test(name))
    expect(names.length).toBe(5)
    await Promise.all(names.map(expectFailure))
  })

  test("the executor leaves no socket, no timer and no memory behind", async () => {
    await closed()
    const before = process.memoryUsage().rss
    const quick = Object.keys(hangs).filter((name) => !slow.test(name) && name !== "endless-chunks")
    for (let round = 0; round < 10; round++) {
      await Promise.all(
        quick.map((name) => executor.callRaw(providerOf("hostile", { timeoutMillis }), { path: `/${name}` }))
      )
    }
    await Promise.all(
      Array.from({ length: 20 }, () =>
        executor.callRaw(providerOf("hostile", { timeoutMillis }), { path: "/accept-silent" })
      )
    )
    const { open } = await closed()
    Bun.gc(true)
    const grown = Math.round((process.memoryUsage().rss - before) / 2 ** 20)
    expect(grown).toBeLessThan(256)
    figures("T34 provider.hang_matrix", {
      cases: Object.keys(hangs).length,
      calls: 10 * quick.length + 20,
      deadline_ms: timeoutMillis,
      p50_ms: percentile(taken, 0.5),
      max_ms: percentile(taken, 1),
      open_sockets: open,
      rss_grown_mb: grown
    })
  })

  test("a connection is used again after an answer that was read to its end, and not after one that was not", async () => {
    const many = 20
    for (let index = 0; index < many; index++) expect((await executor.call(honest)).answer._tag).toBe("Match")
    expect((await hostile.tell()).open).toBe(1)
    // An answer that nobody asked for is not taken for the next one.
    for (let index = 0; index < many; index++) {
      expect((await executor.callRaw(honest, { path: "/two-answers" })).answer).toMatchObject({ data: '{"ok":true}' })
      expect((await executor.callRaw(honest, { path: "/good" })).answer).toMatchObject({ data: '{"ok":true}' })
    }
  })

  test("a call whose connection breaks off is not sent again, unless it only reads", async () => {
    const sent: Array<string> = []
    const connections = (await hostile.tell()).connections
    for (const name of ["half-close", "reset", "half-close-after-head"]) {
      for (const method of ["POST", "PATCH", "PUT", "DELETE", "GET"] as const) {
        // On a connection that was used before, as a server that grows tired of it closes it.
        await executor.call(honest)
        const before = (await hostile.tell()).requests
        expect((await executor.callRaw(honest, { method, path: `/${name}` })).answer._tag).toBe("Failure")
        const times = (await hostile.tell()).requests - before
        if (times !== 1) sent.push(`${method} ${times}`)
      }
    }
    // The runtime itself asks once more where that changes nothing.
    const writes = sent.filter((one) => one !== "GET 2")
    expect(writes).toEqual([])
    figures("T34 provider.hang_matrix: breaks off", {
      connections: (await hostile.tell()).connections - connections,
      reads_asked_again: sent.length,
      writes_sent_again: writes.length
    })
  })

  test("nothing of it names the key in a log", () => {
    expect(executor.logs.filter((line) => line.includes(secret) || line.includes(hostile.url))).toEqual([])
  })
})

describe("T34 in the whole service", () => {
  let org: Tenant
  const honest = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => Response.json({ result: "ok", email: "jane.doe@example.com" })
  })
  const app = withApp(() => ({
    settings: {
      RUNGATE_MODE: "production",
      RUNGATE_PROVIDER_LEADMAGIC_API_KEY: secret,
      RUNGATE_PROVIDER_LEADMAGIC_BASE_URL: hostile.url,
      RUNGATE_PROVIDER_MILLIONVERIFIER_API_KEY: secret,
      RUNGATE_PROVIDER_MILLIONVERIFIER_BASE_URL: `http://127.0.0.1:${honest.port}`
    }
  }))
  beforeAll(async () => {
    org = await app.tenant("5.00")
  })
  afterAll(async () => {
    await honest.stop(true)
  })

  const breakers = () => {
    const found = Effect.runSync(Effect.provideContext(Effect.serviceOption(Breakers), app.context))
    return found._tag === "Some" ? found.value : expect.unreachable("the app has no breakers")
  }
  const run = () => org.run({ ...verify(), routing: { strategy: "cheapest" } })

  test("each case costs its provider the attempt; the next one delivers, and alone is paid", async () => {
    const names = Object.keys(hangs).filter((name) => !slow.test(name))
    for (const name of names) {
      await hostile.play(name)
      const { status, body } = await run()
      expect([name, status, body.status, body.provider, body.billing.charged]).toEqual([
        name,
        200,
        "succeeded",
        "millionverifier",
        "0.00444"
      ])
      expect(body.attempts).toMatchObject([
        { provider: "leadmagic", outcome: "provider_error" },
        { provider: "millionverifier", outcome: "succeeded" }
      ])
      // What one case made of the provider must not route the next one around it.
      await Effect.runPromise(
        breakers()
          .record("leadmagic", "email.verify", org.org_id, null)
          .pipe(Effect.provide(Logger.layer([])))
      )
    }
    const { balance, reserved } = await org.wallet()
    expect([balance, reserved]).toEqual([(5 - 0.00444 * names.length).toFixed(5), "0.00"])
    const { violations } = await app.books()
    figures("T34 in the whole service", { cases: names.length, delivered: names.length, violations: violations.length })
  })

  test("after five failures in a row the provider is routed around, and asked nothing", async () => {
    await hostile.play("reset")
    for (let failure = 0; failure < 5; failure++) expect((await run()).body.attempts.length).toBe(2)
    const asked = (await hostile.tell()).requests
    const { body } = await run()
    expect(body.attempts.map(({ provider }: { provider: string }) => provider)).toEqual(["millionverifier"])
    expect((await hostile.tell()).requests).toBe(asked)
    await app.books()
  })
})
