/** What the console's forms and addresses become before they are sent: pure functions, without a browser. */
import { describe, expect, test } from "bun:test"
import { type Draft, payloadOf } from "../../src/http/console/forms/draft.ts"
import { payloadForm } from "../../src/http/console/forms/payload.ts"
import { activityOf, groupingsIn, valueWords } from "../../src/http/console/pages/usage/groupings.ts"

const key = {
  id: "key_1",
  name: "agent",
  environment: "test" as const,
  display: "rg_test_…",
  last_used_at: null,
  revoked: false,
  expires_at: "2096-01-31T10:00:00.000Z",
  replaced_by: null,
  connected: false,
  allowance: false,
  budget: { limit: "5.00", period: "day" as const, spent: "1.00", resets_at: "2026-11-24T00:00:00.000Z" },
  // In another order than the form's, as the database stores it.
  allow: { max_cost: "0.50", capabilities: ["email.find"] },
  created_at: "2026-11-22T09:30:00.000Z",
  created_by: null
}
const unchanged = {
  name: "agent",
  budget: { limit: "5.00", period: JSON.stringify("day") },
  // In local time, to the minute.
  expires_at: new Date(Date.parse(key.expires_at) - new Date(key.expires_at).getTimezoneOffset() * 60_000)
    .toISOString()
    .slice(0, 16),
  allow: { capabilities: "email.find", max_cost: "0.50" }
}

describe("the rules of a key", () => {
  const form = payloadForm("keys", "change")

  test("an empty form is a key without rules", () => {
    const empty = { name: "agent", budget: { limit: " " }, allow: { capabilities: "", read_only: "" } }
    expect(payloadOf(form, empty)).toEqual({ name: "agent" })
  })

  test("every field becomes a rule", () => {
    const allow = { capabilities: "email.find\nemail.verify", providers: "hunter", raw: "false", read_only: "true" }
    const budget = { limit: "$ 5", period: JSON.stringify("month") }
    const expires_at = "2096-01-31T10:00"
    expect(payloadOf(form, { name: "agent", budget, expires_at, allow: { ...allow, max_cost: "0.5" } })).toEqual({
      name: "agent",
      budget: { limit: "5", period: "month" },
      expires_at: new Date(expires_at).toISOString(),
      allow: {
        capabilities: ["email.find", "email.verify"],
        providers: ["hunter"],
        raw: false,
        read_only: true,
        max_cost: "0.5"
      }
    })
  })

  const edits: ReadonlyArray<readonly [Readonly<Record<string, Draft>>, Readonly<Record<string, unknown>>]> = [
    [{}, {}],
    [{ name: "other" }, { name: "other" }],
    [{ name: "" }, { name: "" }],
    [{ budget: { limit: "", period: JSON.stringify("day") } }, { budget: null }],
    [{ budget: { limit: "5.00", period: JSON.stringify("week") } }, { budget: { limit: "5.00", period: "week" } }],
    [{ expires_at: "" }, { expires_at: null }],
    [{ expires_at: "2096-02-01T00:00" }, { expires_at: new Date("2096-02-01T00:00").toISOString() }],
    [{ allow: { max_cost: "0.50" } }, { allow: { max_cost: "0.50" } }],
    [{ allow: { capabilities: "", max_cost: "" } }, { allow: null }]
  ]
  test.each(edits)("of %p only the change is sent", (fields, changes) => {
    expect(payloadOf(form, { ...unchanged, ...fields }, key)).toEqual(changes)
  })

  test("a field that the service needs is always sent, and a list that was emptied", () => {
    const setting = { enabled: true, threshold: "5.00", amount: "25.00", last_error: null }
    const drafts = { enabled: "", threshold: "5.00", amount: "25.00" }
    expect(payloadOf(payloadForm("topups", "setAutoTopup"), drafts, setting)).toEqual({
      ...{ enabled: false, threshold: "5.00", amount: "25.00" }
    })
    const endpoint = { url: "https://example.com", events: ["run.finished"] }
    const emptied = { url: "https://example.com", events: "" }
    expect(payloadOf(payloadForm("webhooks", "change"), emptied, endpoint)).toEqual({ events: [] })
  })
})

describe("the groups of usage", () => {
  const searches: ReadonlyArray<readonly [Readonly<Record<string, string>>, string]> = [
    [{}, "day"],
    [{ by: "total" }, ""],
    [{ by: "total", and: "day" }, ""],
    [{ by: "capability", and: "metadata.campaign" }, "capability,metadata.campaign"],
    [{ by: "key", and: "key" }, "key"],
    [{ by: "metadata.a", and: "metadata.b" }, "metadata.a"],
    [{ by: "metadata.a,day", and: "nothing" }, "day"],
    [{ by: "<script>" }, "day"]
  ]
  test.each(searches)("of the address %p are %p", (search, expected) => {
    expect(groupingsIn(search).join(",")).toBe(expected)
  })

  const item = { day: "2026-11-22", key: null, runs: 1, succeeded: 1, no_match: 0, failed: 0, charged: "0.01" }

  test("lead to their runs where Activity can show them", () => {
    expect(activityOf(item, ["day"], { from: "2026-11-01" })).toBe("/activity?from=2026-11-22&to=2026-11-22")
    expect(activityOf(item, ["day", "key"], {})).toBeNull()
    const named = { ...item, "metadata.a b": "x & y" }
    expect(activityOf(named, ["metadata.a b"], { to: "2026-11-30" })).toBe(
      "/activity?to=2026-11-30&metadata.a+b=x+%26+y"
    )
  })

  test("without a value, and with too many, have words", () => {
    expect(valueWords(item, "key", new Map())).toBe("without a key")
    expect(valueWords({ ...item, key: "key_1" }, "key", new Map([["key_1", "agent"]]))).toBe("agent")
    expect(valueWords(item, "metadata.campaign", new Map())).toBe("without this label")
    expect(valueWords({ ...item, others: true }, "metadata.campaign", new Map())).toBe("all other values")
  })
})
