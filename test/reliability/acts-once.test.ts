/** What a call that acts leaves behind when its answer does not say what it did: a doubt, which keeps the run from asking another provider. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { checkedAnswer } from "../../src/actors/runs/Delivery.ts"
import { emailSend } from "../../src/schema/capabilities/email.send.ts"
import { emailVerify } from "../../src/schema/capabilities/email.verify.ts"
import type { Provider } from "../../src/schema/catalog/Provider.ts"
import { type Executor, providerOf, startExecutor } from "./executor.ts"

let executor: Executor
/** None of these tests is about a deadline. */
const patient = { timeoutMillis: 60_000 }
/** What the provider does before it answers a request. */
let before: () => Promise<unknown> = () => Promise.resolve()
const heard: Array<string> = []
const server = Bun.serve({
  port: 0,
  fetch: async (request) => {
    const { pathname } = new URL(request.url)
    heard.push(pathname)
    if (pathname === "/conflict") return new Response("{}", { status: 409 })
    if (pathname === "/busy") return new Response("{}", { status: 429, headers: { "retry-after": "600" } })
    await before()
    return Response.json({ ok: true })
  }
})
beforeAll(async () => {
  executor = await startExecutor({
    acme: `http://127.0.0.1:${server.port}`,
    initech: `http://127.0.0.1:${server.port}`
  })
})
afterAll(async () => {
  await executor.stop()
  await server.stop(true)
})

/** Starts a job with its first request, and reads its state with the others. */
const polled = (): Provider => {
  const one = providerOf("acme", patient)
  return {
    ...one,
    offers: one.offers.map((offer) => ({
      ...offer,
      next: () => ({ method: "GET", path: "/poll" }),
      response: (reply, input, state) =>
        state === null ? { _tag: "Again", state: 1, afterMillis: 0, job: false } : offer.response(reply, input, state)
    }))
  }
}

test("a provider that asks for a pause after the request that acts leaves it in doubt", async () => {
  before = () => executor.call(providerOf("acme", patient, { path: "/busy" }))
  const { answer, doubt } = await executor.call(polled())
  expect(answer).toMatchObject({ _tag: "Failure", reason: "provider_rate_limited" })
  expect(doubt).toBe("no_answer")
  expect(heard).toEqual(["/good", "/busy"])
  // Nothing is sent during the pause, so the next call has surely done nothing.
  const next = await executor.call(polled())
  expect([next.answer._tag, next.doubt]).toEqual(["Failure", undefined])
  expect(heard).toHaveLength(2)
})

test("a conflict leaves a request with an idempotency key in doubt: the key may be that of a copy which was carried out", async () => {
  const path = "/conflict"
  const keyed = await executor.call(providerOf("initech", patient, { path, headers: { "Idempotency-Key": "run_1" } }))
  expect([keyed.answer._tag, keyed.doubt]).toEqual(["Failure", "server_error"])
  // Without a key it says that what the request asks for is there already, such as an inbox of that name.
  const plain = await executor.call(providerOf("initech", patient, { path }))
  expect([plain.answer._tag, plain.doubt]).toEqual(["Failure", undefined])
})

describe("an answer that breaks the capability's contract", () => {
  const broken = { answer: { _tag: "Match" as const, output: { id: 1 } }, duration_ms: 1, raw: null, measured: null }
  test("is in doubt if the call acts, and else is no match", () => {
    expect(checkedAnswer(emailSend, broken)).toMatchObject({
      answer: { _tag: "Failure", reason: "invalid_response" },
      doubt: "unreadable_answer"
    })
    expect(checkedAnswer(emailVerify, broken)).toBe(broken)
    const output = emailSend.simulate({ input: emailSend.example, provider: "resend", seed: 1, partial: false })
    const good = { ...broken, answer: { _tag: "Match" as const, output } }
    expect(checkedAnswer(emailSend, good)).toBe(good)
  })
})
