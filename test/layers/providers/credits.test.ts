/**
 * What each provider's account endpoint says that is left, from a payload whose source SOURCES.json names: the request that reads it, and
 * the balance. No answer without a balance is taken for an empty account.
 */
import { describe, expect, test } from "bun:test"
import { providers } from "../../../src/layers/providers/index.ts"
import type { Reply } from "../../../src/schema/catalog/Provider.ts"
import { answer, type Played } from "./stage.ts"
import { example } from "./example.ts"

const replyOf = ({ status, body }: Played): Reply => {
  const parsed = ((): unknown => {
    try {
      return JSON.parse(body)
    } catch {
      return undefined
    }
  })()
  return { status, headers: {}, body: parsed, text: body }
}

const readings: Readonly<Record<string, ReadonlyArray<string | number>>> = {
  hunter: ["GET /account", 1600, "credit", "2026-12-14T00:00:00.000Z renews"],
  leadmagic: ["POST /credits", 7333.8, "credit"],
  firecrawl: ["GET /team/credit-usage", 1000, "credit", "2026-11-30T23:59:59.000Z renews"],
  tavily: ["GET /usage", 850, "credit"],
  apify: ["GET /users/me/limits", 257, "USD", "2026-12-01T23:59:59.999Z renews"],
  apollo: ["POST /usage_stats/credit_usage_stats", 7500, "credit", "2026-12-01T00:00:00.000Z renews"],
  fal: ["GET /v1/account/billing", 24.5, "USD"],
  dataforseo: ["GET /v3/appendix/user_data", 97.4062, "USD"],
  findymail: ["GET /credits", 25, "credit"],
  scrapecreators: ["GET /v1/account/credit-balance", 333, "credit"],
  millionverifier: ["GET /api/v3/credits", 999, "credit"],
  prospeo: ["GET /account-information", 99, "credit", "2026-12-18T20:52:28.000Z renews"],
  zerobounce: ["GET /v2/getcredits", 2375323, "credit"],
  neverbounce: ["GET /v4.2/account/info", 1955, "credit"],
  snovio: ["GET /v1/get-balance", 12, "credit"],
  serper: ["GET /account", 2492, "credit"],
  theirstack: ["GET /v0/billing/credit-balance", 1200, "credit", "2026-12-20T00:00:00.000Z"]
}

const withCredits = providers.flatMap(({ slug, credits }) => (credits === undefined ? [] : [{ slug, credits }]))

test("each provider with an account endpoint has a payload, and no other", () => {
  expect(withCredits.map(({ slug }) => slug).toSorted()).toEqual(Object.keys(readings).toSorted())
})

describe.each(withCredits)("$slug", ({ slug, credits }) => {
  test("its payload is read", () => {
    const left = credits.read(replyOf(example(slug, "credits")))
    if (left._tag === "Failure") return expect.unreachable(left.detail)
    const until =
      left.expires_at === undefined ? [] : [`${left.expires_at.toISOString()}${left.renews === true ? " renews" : ""}`]
    const { method, path, reads } = credits.request
    expect([`${method} ${path}`, left.balance, left.unit, ...until]).toEqual([
      ...(readings[slug] ?? expect.unreachable())
    ])
    expect(method === "GET" || reads === true).toBe(true)
  })

  test("an answer without a balance is a failure", () => {
    const answers = [answer(200, {}), answer(200, []), answer(200, "<html>"), answer(401, {}), answer(500, "oops")]
    expect(answers.map((one) => credits.read(replyOf(one))._tag)).toEqual(answers.map(() => "Failure"))
  })
})

test("ZeroBounce's -1 says that the key is wrong", () => {
  const zerobounce = withCredits.find(({ slug }) => slug === "zerobounce") ?? expect.unreachable()
  expect(zerobounce.credits.read(replyOf(answer(200, { Credits: "-1" })))).toMatchObject({ reason: "provider_account" })
})

test("a key's own limit at Tavily counts, and an account that was never used has all of its plan", () => {
  const tavily = withCredits.find(({ slug }) => slug === "tavily") ?? expect.unreachable()
  const body = { key: { usage: 0, limit: null }, account: { plan_usage: 0, plan_limit: 1000 } }
  expect(tavily.credits.read(replyOf(answer(200, body)))).toMatchObject({ balance: 1000 })
})
