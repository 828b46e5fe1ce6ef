import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { memberText } from "../../src/schema/json/JsonText.ts"

describe("a member in its own text", () => {
  test("comes out as it was written", () => {
    const input = '{ "b": 12345678901234567890, "a" : 1.0, "a":2 , "2":"x", "1": "}],\\"" }'
    expect(memberText(`{"provider":"p", "input" : ${input} ,"wait_seconds":3}`, "input")).toBe(input)
    expect(memberText('{"in\\u0070ut":[1, 2]}', "input")).toBe("[1, 2]")
    expect(memberText('{"input":1,"input":2}', "input")).toBe("2")
    expect(memberText('{"x":{"input":1}}', "input")).toBeNull()
    expect(memberText("{}", "input")).toBeNull()
    expect(memberText("[1]", "input")).toBeNull()
    expect(memberText('\n{ "input"\t:\n null }\n', "input")).toBe("null")
  })

  test("is the member, whatever stands around it", () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.string(),
        fc.jsonValue(),
        fc.nat(4),
        (others, name, value, indent) => {
          const whole = { ...others, [name]: value }
          const text = JSON.stringify(whole, null, indent)
          const found = memberText(text, name)
          expect(JSON.parse(found ?? "")).toEqual(JSON.parse(text)[name])
          expect(text).toContain(found ?? "nothing")
        }
      ),
      { numRuns: 1_000 }
    )
  })
})
