/** What the input of a run says besides its values: a scenario of the sandbox, the kind by which outcomes are counted, and labels. */
import { describe, expect, test } from "bun:test"
import { Schema } from "effect"
import { anyKind, inputKindOf, rehearsedKind } from "../../src/schema/runs/InputKind.ts"
import { isMetadataName, isMetadataValue, Metadata, storedMetadata } from "../../src/schema/runs/Metadata.ts"
import { bouncesInSandbox, findScenario } from "../../src/schema/runs/Scenario.ts"

describe("a scenario of the sandbox", () => {
  const scenario = (word: string, change: object = {}) => ({ word, seconds: 0, once: false, ...change })
  test.each([
    ["no_match@sandbox.test", scenario("no_match")],
    ["no-match.sandbox.test", scenario("no_match")],
    ["https://Error.Sandbox.Test/jobs", scenario("error")],
    ["a note with sandbox:rate_limited in it", scenario("rate_limited")],
    ["bob@timeout.sandbox.test", scenario("timeout")],
    ["malformed_once@sandbox.test", scenario("malformed", { once: true })],
    ["partial-once.sandbox.test", scenario("partial", { once: true })],
    ["slow_7@sandbox.test", scenario("slow", { seconds: 7 })],
    ["slow_7_once@sandbox.test", scenario("slow", { seconds: 7, once: true })],
    ["slow_120@sandbox.test", scenario("slow", { seconds: 120 })],
    ["slow_121@sandbox.test", scenario("slow", { seconds: 120 })],
    ["slow_999@sandbox.test", scenario("slow", { seconds: 120 })]
  ])("%s", (text, expected) => {
    expect(findScenario(text)).toEqual(expected as never)
  })

  test.each([
    "slow@sandbox.test",
    "slow_@sandbox.test",
    "slow_1000@sandbox.test",
    "ada@sandbox.test",
    "error@example.com",
    ""
  ])("%p names none", (text) => {
    expect(findScenario(text)).toBeNull()
  })

  test("the first one that stands anywhere in the input counts", () => {
    expect(
      findScenario({ a: 1, b: null, c: ["x", { d: "error@sandbox.test" }], e: "timeout@sandbox.test" })?.word
    ).toBe("error")
    for (const none of [null, undefined, 7, true, {}, []]) expect(findScenario(none)).toBeNull()
  })

  test("mail to the address or the host that bounces", () => {
    for (const address of ["bounce@sandbox.test", "ada@bounce.sandbox.test", " Bounce@Sandbox.TEST "])
      expect([address, bouncesInSandbox(address)]).toEqual([address, true])
    for (const address of [
      "nobounce@sandbox.test",
      "ada@sandbox.test",
      "bounce@sandbox.test.example",
      "bounce@example.com"
    ])
      expect([address, bouncesInSandbox(address)]).toEqual([address, false])
  })
})

describe("the kind of an input", () => {
  test("is the sorted names of the given fields, without their values", () => {
    expect(inputKindOf({ full_name: "Ada", company_domain: "a.com" })).toBe("company_domain,full_name")
    expect(inputKindOf({ company_domain: "b.com", full_name: "Bob", phone: null, cursor: "x", limit: 3 })).toBe(
      "company_domain,full_name"
    )
    expect(inputKindOf({ limit: 3 })).toBe(anyKind)
  })

  test("has the value of a platform", () => {
    expect(inputKindOf({ platform: "x", handle: "ada" })).toBe("handle,platform=x")
    expect(inputKindOf({ platform: 7 })).toBe("platform")
    expect(inputKindOf({ network: "x" })).toBe("network")
  })

  test("is that of all inputs where there is no object, or its names are too long", () => {
    for (const none of [null, "text", 7]) expect(inputKindOf(none)).toBe(anyKind)
    expect(inputKindOf({ ["x".repeat(400)]: 1 })).toHaveLength(400)
    expect(inputKindOf({ ["x".repeat(401)]: 1 })).toBe(anyKind)
  })

  test("a rehearsal has a kind of its own for each scenario", () => {
    expect(rehearsedKind("email", { email: "error@sandbox.test" })).toBe("email sandbox:error")
    expect(rehearsedKind("email", { email: "error_once@sandbox.test" })).toBe("email sandbox:error_once")
    expect(rehearsedKind("email", { email: "ada@example.com" })).toBeNull()
  })
})

describe("labels", () => {
  const labels = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, n): [string, string] => [`label${n}`, "x"]))
  const accepts = Schema.is(Metadata)

  test("there may be 16", () => {
    expect([accepts(labels(0)), accepts(labels(16)), accepts(labels(17))]).toEqual([true, true, false])
  })

  test("a name has 1 to 64 letters, digits, underscores, hyphens and dots", () => {
    for (const name of ["a", "A-1_b.c", "x".repeat(64)]) {
      expect([name, isMetadataName(name), accepts({ [name]: "x" })]).toEqual([name, true, true])
    }
    for (const name of ["", "x".repeat(65), "a b", "a\n", "é", "a=b"]) {
      expect([name, isMetadataName(name), accepts({ [name]: "x" })]).toEqual([name, false, false])
    }
    expect(isMetadataName("__proto__")).toBe(false)
  })

  test("a value has up to 500 characters", () => {
    for (const [chars, allowed] of [
      [0, true],
      [500, true],
      [501, false]
    ] as const) {
      const value = "x".repeat(chars)
      expect([chars, isMetadataValue(value), accepts({ a: value })]).toEqual([chars, allowed, allowed])
    }
  })

  test("are stored if there are any", () => {
    expect(storedMetadata({ a: "1" })).toBe('{"a":"1"}')
    expect([storedMetadata({}), storedMetadata(null)]).toEqual([null, null])
  })
})
