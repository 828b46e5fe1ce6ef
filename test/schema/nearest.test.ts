import { describe, expect, test } from "bun:test"
import { nearest } from "../../src/schema/nearest.ts"

describe("nearest", () => {
  const names = ["email.find", "email.verify", "people.enrich", "capability", "max_cost"]

  test("corrects a missing, doubled, wrong or swapped letter", () => {
    expect(nearest("email.fnd", names)).toBe("email.find")
    expect(nearest("capabilty", names)).toBe("capability")
    expect(nearest("people.enrichh", names)).toBe("people.enrich")
    expect(nearest("eamil.verify", names)).toBe("email.verify")
  })

  test("ignores case and the difference between - and _", () => {
    expect(nearest("MAX-COST", names)).toBe("max_cost")
  })

  test("suggests nothing for a name that is far from all", () => {
    expect(nearest("weather", names)).toBe(null)
    expect(nearest("", names)).toBe(null)
    expect(nearest("x".repeat(10_000), names)).toBe(null)
    expect(nearest("email.find", [])).toBe(null)
  })
})
