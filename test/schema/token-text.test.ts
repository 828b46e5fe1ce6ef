import { describe, expect, test } from "bun:test"
import { newToken } from "../../src/layers/accounts/Secrets.ts"
import { tokenForm } from "../../src/http/middleware/CallerChecks.ts"
import { cellForm, displayOf, markOf, tagOf } from "../../src/schema/accounts/TokenText.ts"
import { readingOf } from "../../src/layers/platform/Settings.ts"

const org_id = "org_0000000000000000000000000a"

describe("the text of a token", () => {
  test("has the cell and the organization's tag, and without cells neither", () => {
    expect(newToken("eu1", "live", org_id)).toMatch(/^rg_live_eu1-[0-9a-f]{12}_[0-9A-Za-z]{43}$/)
    expect(newToken("eu1", "oper", null)).toMatch(/^rg_oper_eu1_[0-9A-Za-z]{43}$/)
    expect(newToken(null, "live", org_id)).toMatch(/^rg_live_[0-9A-Za-z]{43}$/)
  })

  test("the tag stays the same for good, because routers and moved organizations are found by it", () => {
    expect(tagOf(org_id)).toBe("e7b37e38d1ab")
    expect(markOf("eu1", org_id)).toBe("eu1-e7b37e38d1ab")
    expect(tagOf("org_0000000000000000000000000b")).not.toBe(tagOf(org_id))
  })

  test.each([null, "eu1", "a", "abcdefghij12"])("of cell %p has the form of a token", (cell) => {
    for (const kind of ["test", "live", "sess"] as const) {
      expect(tokenForm.exec(newToken(cell, kind, org_id))?.[1]).toBe(kind)
      expect(tokenForm.exec(newToken(cell, kind, null))?.[1]).toBe(kind)
    }
  })

  test.each([
    "rg_live_EU1-e7b37e38d1ab_", // a name has small letters
    "rg_live_abcdefghij123_", // 13
    "rg_live_eu1-e7b37e38d1a_", // 11
    "rg_live_eu1-_",
    "rg_live__",
    "rg_live_eu1_eu1_"
  ])("%s begins no token", (text) => {
    expect(tokenForm.test(`${text}${"a".repeat(43)}`)).toBe(false)
  })

  test("is shown by its prefix and eight letters, and another service's key by eight letters", () => {
    expect(displayOf(`rg_test_${"a".repeat(20)}${"b".repeat(23)}`)).toBe("rg_test_aaaa…bbbb")
    expect(displayOf(`rg_test_eu1-e7b37e38d1ab_${"a".repeat(20)}${"b".repeat(23)}`)).toBe(
      "rg_test_eu1-e7b37e38d1ab_aaaa…bbbb"
    )
    expect(displayOf(`sk_${"s".repeat(97)}`)).toBe("sk_s…ssss")
  })
})

test.each(["EU1", "eu-1", "abcdefghij123", "ü"])("RUNGATE_CELL=%s is refused", (RUNGATE_CELL) => {
  expect(cellForm.test(RUNGATE_CELL)).toBe(false)
  expect(readingOf({ RUNGATE_CELL }).problems).toEqual(["RUNGATE_CELL must have 1 to 12 small letters or digits"])
  expect(readingOf({ RUNGATE_CELL: "eu1" }).settings.cell).toBe("eu1")
  expect(readingOf({}).settings.cell).toBe(null)
})
