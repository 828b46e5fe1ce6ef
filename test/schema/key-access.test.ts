/** Scopes of keys as pure decisions: what a role stores, what an allowance inherits, and whose runs a key sees. */
import { describe, expect, test } from "bun:test"
import { childScope } from "../../src/schema/accounts/ChildScope.ts"
import { isUnrestricted, pinnedLabels, scopeFor, seesRunsOf } from "../../src/schema/accounts/KeyAccess.ts"
import { dollars, zero } from "../../src/schema/money/Money.ts"
import { type KeyBudget, leftIn } from "../../src/schema/wallet/KeyBudget.ts"
import { freeExceeded } from "../../src/schema/wallet/FreeStorage.ts"
import { ownEventText, ownMessage } from "../../src/schema/accounts/OwnMessages.ts"

describe("the scope that a role stores", () => {
  test.each([null, {}])("a member's %j is a scope that starts runs, and everybody else's is none", (none) => {
    expect(isUnrestricted(none)).toBe(true)
    expect(scopeFor("member", none)).toEqual({ raw: true })
    for (const role of ["admin", "owner", null] as const) expect(scopeFor(role, none)).toBeNull()
  })
  test("a scope stays", () => {
    for (const allow of [{ raw: false }, { read: "own" as const }, { mint: false }]) {
      expect(isUnrestricted(allow)).toBe(false)
      expect(scopeFor("member", allow)).toEqual(allow)
    }
  })
})

describe("the labels that a key gives its runs", () => {
  // Every object has members of these names, which nobody has sent.
  test.each(["customer", "constructor", "toString"])("%s is refused only where a request has another value", (name) => {
    const labels = { [name]: "acme" }
    for (const sent of [null, {}, { campaign: "spring" }, labels])
      expect(pinnedLabels({ labels }, sent)).toEqual({ metadata: { ...sent, ...labels } })
    expect(pinnedLabels({ labels }, { [name]: "other" })).toEqual({
      refusal: expect.stringContaining(`metadata.${name}`)
    })
    for (const sent of [{}, { campaign: "spring" }, labels])
      expect(childScope({ labels: sent }, { labels }, false)).toMatchObject({
        allow: { labels: { ...sent, ...labels } }
      })
    expect(childScope({ labels: { [name]: "other" } }, { labels }, false)).toMatchObject({
      wider: { path: `allow.labels.${name}` }
    })
  })
})

describe("what an allowance reads", () => {
  const read = (asked: object, parent: object | null) => {
    const made = childScope(asked, parent, false)
    return "wider" in made ? made.wider.path : made.allow.read
  }
  test("its own runs, if nobody says more", () => {
    for (const parent of [null, {}, { read: "own" }, { read: "organization" }]) expect(read({}, parent)).toBe("own")
  })
  test("never more than the key that gives it", () => {
    expect(read({ read: "organization" }, { read: "own" })).toBe("allow.read")
    expect(read({ read: "own" }, { read: "own" })).toBe("own")
    for (const parent of [null, {}, { read: "organization" }])
      expect(read({ read: "organization" }, parent)).toBe("organization")
  })
})

describe("a key that reads its own runs", () => {
  test("sees those of itself and of the keys that it replaced", () => {
    const access = { reads: ["key_b", "key_a"] }
    expect(["key_a", "key_b", "key_c", null].map((key) => seesRunsOf(access, key))).toEqual([true, true, false, false])
    for (const all of [null, { reads: null }])
      expect([seesRunsOf(all, "key_c"), seesRunsOf(all, null)]).toEqual([true, true])
  })
})

describe("what is left of a budget", () => {
  const budget: KeyBudget = {
    ...{ budget_id: "bud_x", limit: dollars("1.00"), period: "day", counted_on: "2026-11-21" },
    ...{ reserved: dollars("0.10"), spent_day: dollars("0.20"), spent_week: dollars("0.20") },
    ...{ spent_month: dollars("0.20"), spent_total: dollars("0.20") }
  }
  test("is the limit without charges and holds of the period, and never negative", () => {
    expect(leftIn(budget, "2026-11-21")).toBe(dollars("0.70"))
    expect(leftIn(budget, "2026-11-22")).toBe(dollars("0.90"))
    expect(leftIn({ ...budget, limit: dollars("0.25") }, "2026-11-21")).toBe(zero)
  })
  test("is what the wallet holds for an allowance, while that is open", () => {
    const purse = { key_id: "key_x", state: "open" as const, held: dollars("0.30"), nested: false }
    expect(leftIn({ ...budget, purse }, "2026-11-21")).toBe(dollars("0.30"))
    expect(leftIn({ ...budget, purse: { ...purse, state: "ended" } }, "2026-11-21")).toBe(zero)
  })
})

describe("the message for a key that reads its own runs", () => {
  test("loses the organization's amounts and runs, and keeps the amounts of the key", () => {
    expect(ownMessage("insufficient_balance", "this run holds up to $2 and $1 is available")).not.toContain("$")
    expect(ownMessage("budget_exceeded", "it would exceed the daily limit of $5")).not.toContain("$")
    const own = "it would exceed the budget of this API key, $5"
    expect(ownMessage("budget_exceeded", own)).toBe(own)
    const label = "this run holds up to $2; with $3 spent or held it would exceed the budget of the label a"
    expect(ownMessage("budget_exceeded", `${label} with the value "b", $4 in total; it never resets`)).toBe(
      'this run would exceed the budget of the label a with the value "b" in total; it never resets'
    )
    const perRun = "this run holds up to $2, above the per-run limit of $1.50; lower it with routing.max_cost"
    expect(ownMessage("cost_limit_exceeded", perRun)).toBe(
      "this run holds up to $2, above the organization's per-run limit; lower it with routing.max_cost"
    )
    const mebibytes = (count: bigint) => count * 1024n * 1024n
    const use = { stored: mebibytes(362n), reserved: mebibytes(24n), requested: 1n, limit: mebibytes(386n) }
    expect(ownMessage("rate_limited", freeExceeded(use))).toMatch(
      /may store 386 MiB per day for your organization; the/
    )
    expect(ownMessage("constructor", "cancelled")).toBe("cancelled")
    const contacted = "ada@example.com was contacted by run_01m81nzk95mq351g8pvrxgm8m4 at 2026-11-21T00:00:00Z, which"
    expect(ownMessage("contact_guard", contacted)).toBe("ada@example.com was contacted at 2026-11-21T00:00:00Z, which")
    expect(ownMessage("cancelled", "cancelled")).toBe("cancelled")
    expect(ownMessage(null, null)).toBeNull()
  })
  test("also in the text of an event, with or without spaces", () => {
    const message = 'holds "$2" and $1 is available'
    for (const space of [undefined, 1]) {
      const text = JSON.stringify(
        { data: { error: { code: "insufficient_balance", message }, run_id: "x" } },
        null,
        space
      )
      const shown = JSON.parse(ownEventText(text))
      expect([shown.data.run_id, shown.data.error.message.includes("$")]).toEqual(["x", false])
    }
    const other = JSON.stringify({ error: { code: "provider_error", message } })
    expect(ownEventText(other)).toBe(other)
  })
})
