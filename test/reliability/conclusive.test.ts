/**
 * "unknown" is an answer and not a miss; a run that wants the highest success rate asks on, and keeps it in reserve. Whoever
 * delivers is charged, nobody else.
 */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { type App, startApp, type Tenant } from "../kit/app.ts"

const asked: Array<string> = []
let hunter = { status: 200, verdict: "valid" }
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: (request): Response => {
    const { pathname } = new URL(request.url)
    asked.push(pathname)
    if (pathname === "/v1/people/email-validation")
      return Response.json({ email: "jane@example.com", email_status: "unknown", credits_consumed: 0.25 })
    return Response.json(
      { data: { status: hunter.verdict, score: 90, email: "jane@example.com" } },
      { status: hunter.status }
    )
  }
})

let app: App
let org: Tenant
beforeAll(async () => {
  const address = `http://127.0.0.1:${server.port}`
  app = await startApp({
    settings: {
      RUNGATE_MODE: "production",
      RUNGATE_PROVIDER_LEADMAGIC_API_KEY: "key-of-leadmagic",
      RUNGATE_PROVIDER_LEADMAGIC_BASE_URL: address,
      RUNGATE_PROVIDER_HUNTER_API_KEY: "key-of-hunter",
      RUNGATE_PROVIDER_HUNTER_BASE_URL: address
    }
  })
  org = await app.tenant("10.00")
})
afterAll(async () => {
  await app.stop()
  await server.stop(true)
})

const verify = async (strategy: string) => {
  asked.length = 0
  const { body } = await org.run({
    capability: "email.verify",
    input: { email: "jane@example.com" },
    routing: { strategy }
  })
  return {
    status: body.status,
    provider: body.provider,
    verdict: body.result?.email_status,
    charged: body.billing.charged,
    attempts: body.attempts.map((one: { provider: string; outcome: string }) => `${one.provider} ${one.outcome}`),
    asked: asked.length
  }
}

test("any other strategy takes unknown for an answer", async () => {
  expect(await verify("cheapest")).toEqual({
    status: "succeeded",
    provider: "leadmagic",
    verdict: "unknown",
    charged: "0.003",
    attempts: ["leadmagic succeeded"],
    asked: 1
  })
})

test("highest_success_rate asks on, and charges whoever knew", async () => {
  expect(await verify("highest_success_rate")).toEqual({
    status: "succeeded",
    provider: "hunter",
    verdict: "valid",
    charged: "0.0147",
    attempts: ["leadmagic inconclusive", "hunter succeeded"],
    asked: 2
  })
})

test("when nobody knows better, the first answer is delivered and charged", async () => {
  hunter = { status: 500, verdict: "valid" }
  expect(await verify("highest_success_rate")).toEqual({
    status: "succeeded",
    provider: "leadmagic",
    verdict: "unknown",
    charged: "0.003",
    attempts: ["leadmagic succeeded", "hunter provider_error"],
    asked: 2
  })
  await app.books()
})
