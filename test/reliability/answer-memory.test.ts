/** What answers of providers need together: how large one may be, how many are read and parsed at once, and how those end that wait. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { Deferred, Effect, Fiber } from "effect"
import {
  keepingAnswer,
  makeAnswerBudget,
  makeParsingTurns,
  ownParsingShare
} from "../../src/layers/executor/AnswerBudget.ts"
import { ownReplyBytesMax } from "../../src/layers/executor/ProviderResponse.ts"
import { until } from "../kit/app.ts"
import { type Executor, providerOf, secret, startExecutor } from "./executor.ts"

/** More than is read without room. */
const large = "x".repeat(100_000)
const asJson = (text: string) => JSON.stringify({ text })

/** `/held/<n>` sends the beginning of a large answer, and its end when it is released. */
const startServer = () => {
  const held = new Map<string, () => void>()
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    fetch: ({ url }) => {
      const { pathname } = new URL(url)
      const [, kind, value = ""] = pathname.split("/")
      const headers = { "content-type": "application/json" }
      if (kind === "bytes") return new Response(asJson("x".repeat(Number(value) - asJson("").length)), { headers })
      if (kind !== "held") return new Response(asJson(kind ?? ""), { headers })
      const body = new ReadableStream({
        start: (controller) => {
          controller.enqueue(new TextEncoder().encode(`{"text":"${large}`))
          held.set(value, () => {
            controller.enqueue(new TextEncoder().encode(`"}`))
            controller.close()
          })
        }
      })
      return new Response(body, { headers })
    }
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    isHeld: (value: string) => until(`the server holds ${value}`, () => held.has(value), Boolean),
    release: (value: string) => held.get(value)?.(),
    stop: () => server.stop(true)
  }
}

describe("answers over HTTP", () => {
  let server: ReturnType<typeof startServer>
  let executor: Executor
  beforeAll(async () => {
    server = startServer()
    // Room for two answers of the service's own accounts.
    executor = await startExecutor({ acme: server.url }, secret, { RUNGATE_ANSWER_MEMORY_MB: "64" })
  })
  afterAll(async () => {
    await executor.stop()
    server.stop()
  })
  const ask = (path: string, timeoutMillis = 60_000, own = false) =>
    executor.callRaw(providerOf("acme", { timeoutMillis }), { path }, {}, "org_1", own)
  const delivered = (text: string) => ({ _tag: "Delivered", data: asJson(text) })

  test("an answer through an own account has at most 2 MiB, and the error says what to do", async () => {
    expect((await ask(`/bytes/${ownReplyBytesMax}`, 60_000, true)).answer).toMatchObject({ _tag: "Delivered" })
    expect((await ask(`/bytes/${ownReplyBytesMax + 1}`, 60_000, true)).answer).toMatchObject({
      _tag: "Failure",
      reason: "provider_error",
      detail: expect.stringMatching(/2097152 bytes, the limit for your own account .* ask for less data per call/)
    })
    expect((await ask(`/bytes/${ownReplyBytesMax + 1}`)).answer).toMatchObject({ _tag: "Delivered" })
  })

  test("a large answer waits until there is room, small ones pass it, and all end right", async () => {
    const first = ask("/held/1")
    const second = ask("/held/2")
    await Promise.all([server.isHeld("1"), server.isHeld("2")])
    let thirdEnded = false
    const third = ask("/bytes/300000").then((answer) => {
      thirdEnded = true
      return answer
    })
    // It waits as long as its own deadline, and no longer.
    const late = await ask("/bytes/400000", 300)
    expect(late.answer).toMatchObject({ _tag: "Failure", reason: "provider_timeout" })
    expect((await ask("/small")).answer).toMatchObject(delivered("small"))
    expect(thirdEnded).toBe(false)
    server.release("1")
    expect((await first).answer).toMatchObject(delivered(large))
    expect((await third).answer).toMatchObject({ _tag: "Delivered" })
    server.release("2")
    expect((await second).answer).toMatchObject(delivered(large))
    // Nothing is taken any more.
    const again = await Promise.all([ask("/bytes/300000"), ask("/bytes/300000"), ask("/bytes/300000")])
    expect(again.map(({ answer }) => answer._tag)).toEqual(Array(3).fill("Delivered"))
  })

  test("slow answers through own accounts leave room for other calls", async () => {
    const slow = Array.from({ length: 20 }, (_, n) => ask(`/held/own${n}`, 60_000, true))
    await server.isHeld("own0")
    expect((await ask("/bytes/300000")).answer).toMatchObject({ _tag: "Delivered" })
    for (const [n] of slow.entries()) {
      await server.isHeld(`own${n}`)
      server.release(`own${n}`)
    }
    expect((await Promise.all(slow)).map(({ answer }) => answer._tag)).toEqual(Array(20).fill("Delivered"))
  })
})

describe("the budget", () => {
  const run = <A>(work: Effect.Effect<A>) => Effect.runPromise(work)
  const whole = { bytes: 10, own: null }

  test("a run keeps the room that its last answer needs until it ends, and waits for more without it", () =>
    run(
      Effect.gen(function* () {
        const budget = makeAnswerBudget(10)
        const [read, end] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
        const holder = yield* keepingAnswer(
          Effect.gen(function* () {
            yield* budget(whole, Effect.succeed({ bytes: 9 }))
            // A second large answer of the same run does not wait for the first one's room.
            yield* budget(whole, Effect.succeed({ bytes: 4 }))
            yield* Deferred.succeed(read, undefined)
            yield* Deferred.await(end)
          })
        ).pipe(Effect.forkChild({ startImmediately: true }))
        yield* Deferred.await(read)
        // 6 of 10 are free.
        yield* budget({ bytes: 6, own: null }, Effect.succeed({ bytes: 6 }))
        const waiting = yield* budget({ bytes: 7, own: null }, Effect.succeed({ bytes: 7 })).pipe(
          Effect.forkChild({ startImmediately: true })
        )
        yield* Effect.yieldNow
        expect(waiting.pollUnsafe()).toBeUndefined()
        yield* Deferred.succeed(end, undefined)
        yield* Fiber.join(waiting)
        yield* Fiber.join(holder)
        yield* budget(whole, Effect.succeed({ bytes: 10 }))
      })
    ))

  test("a call that is cancelled while it waits or reads leaves nothing taken", () =>
    run(
      Effect.gen(function* () {
        const budget = makeAnswerBudget(10)
        const began = yield* Deferred.make<void>()
        const reads = Effect.andThen(Deferred.succeed(began, undefined), Effect.never)
        const reading = yield* Effect.forkChild(keepingAnswer(budget(whole, reads)))
        yield* Deferred.await(began)
        const waiting = yield* Effect.forkChild(budget(whole, Effect.succeed({ bytes: 10 })), {
          startImmediately: true
        })
        yield* Fiber.interrupt(waiting)
        yield* Fiber.interrupt(reading)
        expect(yield* budget(whole, Effect.succeed({ bytes: 10 }))).toEqual({ bytes: 10 })
      })
    ))
  test("organizations with own accounts get room in turn", () =>
    run(
      Effect.gen(function* () {
        const budget = makeAnswerBudget(10)
        const order: Array<string> = []
        const end = yield* Deferred.make<void>()
        const ask = (own: string, wait: Effect.Effect<unknown>) =>
          Effect.forkChild(
            budget(
              { bytes: 5, own },
              Effect.as(
                Effect.andThen(
                  Effect.sync(() => order.push(own)),
                  wait
                ),
                { bytes: 5 }
              )
            ),
            { startImmediately: true }
          )
        const fibers = [yield* ask("busy", Deferred.await(end))]
        for (const own of ["busy", "busy", "busy", "other"]) fibers.push(yield* ask(own, Effect.void))
        yield* Deferred.succeed(end, undefined)
        yield* Fiber.joinAll(fibers)
        expect(order.indexOf("other")).toBeLessThan(3)
        expect(order).toHaveLength(5)
      })
    ))
})

describe("parsing", () => {
  test("answers of one organization wait for their share of the time, and others don't wait for them", () => {
    const turn = makeParsingTurns()
    const each = 50 / ownParsingShare
    expect([turn("busy", 50, 1_000), turn("busy", 50, 1_000), turn("busy", 50, 1_000)]).toEqual([0, each, 2 * each])
    expect([turn("other", 50, 1_000), turn("other", 50, 1_000)]).toEqual([0, each])
    // What was not used is not kept.
    expect([turn("busy", 10, 10_000), turn("busy", 10, 10_000)]).toEqual([0, 10 / ownParsingShare])
  })
})
