/** Which runs need a member's yes, and which decision counts. */
import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import {
  type Approval,
  type ApprovalRule,
  approvalStates,
  type Conditions,
  mayMatch,
  rule,
  ruleOf,
  type Ruling
} from "../../src/schema/guards/Approval.ts"
import { roles } from "../../src/schema/accounts/Role.ts"
import { dollars } from "../../src/schema/money/Money.ts"
import { planOfOne } from "../kit/new-runs.ts"

const ruled = (conditions: Conditions, changed: Partial<ApprovalRule> = {}): ApprovalRule => ({
  ...{ id: "apr_a", name: "a", role: "admin", self_approval: false, expires_after: 60, conditions },
  ...changed
})
const run = {
  ...{ hold: dollars("1.00"), capability: "email.find", endpoint: null, key_id: "key_a" },
  ...{ metadata: '{"team":"sales"}', plan: () => ({ ...planOfOne, providers: ["hunter", "apollo"] }) }
}
const raw = { ...run, capability: null, endpoint: "/v1/people", key_id: null, metadata: null }

describe("a rule", () => {
  const cases: ReadonlyArray<readonly [Conditions, boolean, boolean]> = [
    [{}, true, true],
    [{ min_hold: dollars("1.00") }, true, true],
    [{ min_hold: dollars("1.000001") }, false, false],
    [{ min_hold: null, capabilities: null }, true, true],
    [{ capabilities: ["email.send", "email.find"] }, true, false],
    [{ providers: ["apollo"] }, true, true],
    [{ providers: ["lusha"] }, false, false],
    [{ raw: true }, false, true],
    [{ raw: false }, true, false],
    [{ keys: ["key_a"] }, true, false],
    [{ labels: { team: "sales" } }, true, false],
    [{ labels: { team: "sales", more: "x" } }, false, false],
    [{ labels: { toString: "x" } }, false, false],
    [{ capabilities: ["email.find"], keys: ["key_b"] }, false, false]
  ]
  test.each(cases)("with %p", (conditions, ofRun, ofRaw) => {
    expect([ruleOf([ruled(conditions)], run) !== null, ruleOf([ruled(conditions)], raw) !== null]).toEqual([
      ofRun,
      ofRaw
    ])
  })

  test.each([
    [{}, "always"],
    [{ capabilities: ["email.find"], keys: ["key_a"], raw: false }, "always"],
    [{ capabilities: ["email.send"] }, "never"],
    [{ raw: true }, "never"],
    [{ keys: ["key_b"], min_hold: dollars("9.00") }, "never"],
    [{ min_hold: dollars("9.00") }, "sometimes"],
    [{ providers: ["lusha"] }, "sometimes"],
    [{ capabilities: ["email.find"], labels: { team: "x" } }, "sometimes"],
    [{ min_hold: null, providers: null, labels: null }, "always"]
  ] as ReadonlyArray<readonly [Conditions, string]>)("with %p matches a target %s", (conditions, matches) => {
    expect(mayMatch(ruled(conditions), { ...run, provider: null })).toBe(matches as ReturnType<typeof mayMatch>)
  })

  test("knows the provider of an endpoint", () => {
    const of = (provider: string, conditions: Conditions) => mayMatch(ruled(conditions), { ...raw, provider })
    const apollo: Conditions = { raw: true, providers: ["apollo"] }
    expect([of("apollo", apollo), of("hunter", apollo)]).toEqual(["always", "never"])
    expect(of("apollo", { ...apollo, min_hold: dollars("9.00") })).toBe("sometimes")
  })

  test("is the strictest of those that match, in any order", () => {
    const all = [
      ruled({}, { id: "apr_a", role: "member" }),
      ruled({}, { id: "apr_b", role: "owner", self_approval: true }),
      ruled({}, { id: "apr_c", role: "owner", expires_after: 600 }),
      ruled({}, { id: "apr_d", role: "owner", expires_after: 60 }),
      ruled({ raw: true }, { id: "apr_e", role: "owner", expires_after: 60 })
    ]
    fc.assert(
      fc.property(fc.shuffledSubarray(all, { minLength: all.length }), (rules) => {
        expect(ruleOf(rules, run)?.id).toBe("apr_d")
      })
    )
    expect(ruleOf(undefined, run)).toBeNull()
  })
})

describe("a decision", () => {
  const approval: fc.Arbitrary<Approval> = fc.record({
    state: fc.constantFrom(...approvalStates),
    rule_name: fc.constant("a"),
    role: fc.constantFrom("member", "admin", "owner"),
    self_approval: fc.boolean(),
    started_by: fc.constantFrom(null, "usr_a", "usr_b"),
    digest: fc.constant("d"),
    expires_micros: fc.constantFrom(99n, 100n, 101n),
    decider_role: fc.constantFrom(null, ...roles)
  })
  const ruling: fc.Arbitrary<Ruling> = fc.record({
    act: fc.constantFrom("approve", "deny", "expire"),
    by: fc.constantFrom("usr_a", "usr_b"),
    via: fc.constantFrom("session", "link"),
    digest: fc.constantFrom(null, "d", "other")
  })

  test("is a yes only of a member who may, of what was seen, in time, and not of the own run", () => {
    fc.assert(
      fc.property(approval, ruling, (one, asked) => {
        const said = rule(one, asked, 100n)
        const has = one.decider_role
        const may = has !== null && roles.indexOf(has) >= roles.indexOf(one.role)
        const isYes =
          one.state === "pending" &&
          asked.act === "approve" &&
          may &&
          one.expires_micros > 100n &&
          asked.digest !== "other" &&
          (one.self_approval || one.started_by !== asked.by)
        expect(said._tag === "Decided" && said.state === "approved").toBe(isYes)
        if (one.state !== "pending") expect(said).toEqual({ _tag: "Refused", why: "decided" })
        if (said._tag === "Decided" && said.state === "expired") expect(one.expires_micros <= 100n).toBe(true)
        if (asked.act === "expire" && one.state === "pending")
          expect(said._tag === "Decided").toBe(one.expires_micros <= 100n)
      }),
      { numRuns: 500 }
    )
  })
})
