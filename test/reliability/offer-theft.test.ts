/** One caller's inputs take no offer from anybody else, whatever they make a provider answer; the health of an offer tells of the provider. */
import { afterAll, beforeEach, describe, expect, test } from "bun:test"
import { type Tenant, until, withApp } from "../kit/app.ts"
import { answer, type Played } from "../layers/providers/stage.ts"
import { type Line, standIn } from "../layers/providers/standin.ts"

let attacker: Tenant
let victim: Tenant
const there = standIn()
const app = withApp({ settings: { ...there.settings, RUNGATE_HEALTH_SECONDS: "1" } })
afterAll(async () => {
  await there.stop()
})
beforeEach(async () => {
  there.forget()
  attacker = await app.tenant("5.00")
  victim = await app.tenant("5.00")
})

const search = { capability: "web.search", input: { query: "anything" }, routing: { provider: "tavily" } }
const found = answer(200, { results: [{ title: "A page", url: "https://example.com/", content: "words", score: 1 }] })
const times = (count: number, line: Line) => Array.from({ length: count }, () => line)
const health = async () => {
  const { body } = await victim.post("/v1/inspect", { capability: "web.search" })
  return body.offers.find((one: { provider: string }) => one.provider === "tavily").health
}

describe("inputs that a provider refuses", () => {
  test.each([400, 404, 409, 422])(
    "HTTP %d counts against nobody: neither a breaker nor the offer's health, and nobody pays",
    async (status) => {
      there.play("tavily", ...times(6, answer(status, { detail: { error: "the query is too long" } })), found)
      for (let run = 0; run < 6; run++) {
        const { body } = await attacker.run(search)
        expect([body.status, body.error.code, body.attempts[0].outcome]).toEqual([
          "failed",
          "provider_error",
          "provider_rejected"
        ])
        expect(body.attempts[0].detail).toContain("the query is too long")
        expect(body.hints.join(" ")).toContain("rejected the input")
      }
      expect((await victim.run(search)).body.status).toBe("succeeded")
      expect((await attacker.wallet()).available).toBe("5.00")
    }
  )

  test("are no failures of the offer's health", async () => {
    const { sample_size, success_rate } = await until("it is measured", health, (one) => one.sample_size >= 4)
    expect([sample_size, success_rate]).toEqual([4, 1])
  })
})

/** What an input can make a provider answer. */
const provoked: ReadonlyArray<readonly [string, Played]> = [
  ["HTTP 500", answer(500, "oops")],
  ["HTTP 403", answer(403, { error: "this site is forbidden" })],
  ["another shape", answer(200, { hello: "world" })],
  ["an answer that is too deep", answer(200, "[".repeat(100_000))]
]

describe("inputs that make a provider fail", () => {
  test.each(provoked)("%s opens the breaker for who sends them, and for nobody else", async (_name, played) => {
    there.play("tavily", ...times(6, played), found, played, found)
    let asked = 0
    for (let run = 0; run < 6; run++) {
      const { status } = await attacker.run(search)
      if (status !== 409) asked += 1
    }
    expect(asked).toBeLessThanOrEqual(5)
    expect((await attacker.run(search)).status).toBe(409)
    const before = there.heard("tavily").length
    there.play("tavily", found, played, found)
    expect((await victim.run(search)).body.status).toBe("succeeded")
    expect(there.heard("tavily")).toHaveLength(before + 1)
  })

  test("a provider that fails for two organizations is left alone by both sooner, and is back for both at once", async () => {
    const other = await app.tenant("5.00")
    there.play("tavily", ...times(20, answer(500, "down")))
    for (let run = 0; run < 5; run++) await attacker.run(search)
    expect((await attacker.run(search)).status).toBe(409)
    for (let run = 0; run < 2; run++) await victim.run(search)
    expect((await victim.run(search)).status).toBe(409)
    expect(there.heard("tavily")).toHaveLength(7)
    there.play("tavily", ...times(3, found))
    for (const one of [other, attacker, victim]) expect((await one.run(search)).body.status).toBe("succeeded")
  })
})
