/** What the console's forms and addresses become before they are sent: pure functions, without a browser. */
import { describe, expect, test } from "bun:test"
import { changesIn, rulesIn } from "../../src/http/console/pages/keys/rules.ts"
import { activityOf, groupBy, groupingsIn, valueWords } from "../../src/http/console/pages/usage/groupings.ts"

type Fields = Readonly<Record<string, string | ReadonlyArray<string>>>

const formOf = (fields: Fields) => {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields))
    for (const one of typeof value === "string" ? [value] : value) form.append(name, one)
  return form
}

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
  "budget.limit": "5.00",
  period: "day",
  expires_at: "2096-01-31",
  "allow.capabilities": ["email.find"],
  raw: "",
  "allow.max_cost": "0.50"
}

describe("the rules of a key", () => {
  test("an empty form is a key without rules", () => {
    expect(rulesIn(formOf({ name: "agent", "budget.limit": " ", period: "month", expires_at: "" }), null)).toEqual({
      name: "agent",
      allow: null
    })
  })

  test("every field becomes a rule", () => {
    const form = formOf({
      name: "agent",
      "budget.limit": "5",
      period: "month",
      expires_at: "2096-01-31",
      "allow.capabilities": ["email.find", "email.verify"],
      "allow.providers": ["hunter"],
      raw: "refused",
      read_only: "yes",
      "allow.max_cost": "0.5"
    })
    expect(rulesIn(form, null)).toEqual({
      name: "agent",
      budget: { limit: "5", period: "month" },
      expires_at: "2096-01-31T23:59:59Z",
      allow: {
        capabilities: ["email.find", "email.verify"],
        providers: ["hunter"],
        raw: false,
        read_only: true,
        max_cost: "0.5"
      }
    })
  })

  const edits: ReadonlyArray<readonly [Fields, object]> = [
    [{}, {}],
    [{ name: "other" }, { name: "other" }],
    [{ "budget.limit": "" }, { budget: null }],
    [{ period: "week" }, { budget: { limit: "5.00", period: "week" } }],
    [{ expires_at: "" }, { expires_at: null }],
    [{ expires_at: "2096-02-01" }, { expires_at: "2096-02-01T23:59:59Z" }],
    [{ "allow.capabilities": [] }, { allow: { max_cost: "0.50" } }],
    [{ read: "own" }, { allow: { capabilities: ["email.find"], max_cost: "0.50", read: "own" } }],
    [{ "allow.capabilities": [], "allow.max_cost": "" }, { allow: null }]
  ]
  test.each(edits)("of %p only the change is sent", (fields, changes) => {
    expect(changesIn(formOf({ ...unchanged, ...fields }), key)).toEqual(changes)
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
    expect(groupBy(groupingsIn(search))).toBe(expected)
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
