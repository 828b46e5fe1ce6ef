/**
 * Forms from JSON Schemas: every capability's and every shipped endpoint's example fills its form and comes back unchanged, and schemas that
 * no form can show become JSON.
 */
import { describe, expect, test } from "bun:test"
import { Effect } from "effect"
import { draftOf, fits, isComplete, meaningOf } from "../../src/http/console/forms/draft.ts"
import { nameWords, plainText } from "../../src/http/console/forms/providerText.ts"
import { choicesOf, type Field, formOf, groupsOf } from "../../src/http/console/forms/schema.ts"
import { formFits } from "../../src/http/console/pages/catalog/useForm.ts"
import { shipped } from "../../src/layers/catalog/Endpoints.ts"
import { capabilities } from "../../src/schema/capabilities/index.ts"
import { reachable } from "../../src/schema/catalog/Definitions.ts"

const kindsIn = (field: Field): ReadonlyArray<string> =>
  field.kind === "object"
    ? field.fields.flatMap(kindsIn)
    : field.kind === "list"
      ? [field.kind, ...kindsIn(field.item)]
      : [field.kind]

describe("a form", () => {
  test("of every capability shows its example, and means the same", () => {
    const asJson: Array<string> = []
    for (const { slug, input, example } of capabilities) {
      const field = formOf(input.jsonSchema)
      const groups = groupsOf(input.jsonSchema)
      expect([slug, field.kind]).toEqual([slug, "object"])
      expect([slug, meaningOf(field, draftOf(field, example))]).toEqual([slug, { value: example, problems: [] }])
      expect([slug, fits(field, example), isComplete(field, groups, example)]).toEqual([slug, true, true])
      if (kindsIn(field).includes("json")) asJson.push(slug)
    }
    // Its headers and labels have names of the sender's choice.
    expect(asJson).toEqual(["email.send"])
  })

  test("of every shipped endpoint loses nothing of its example", async () => {
    const lost: Array<string> = []
    let seen = 0
    for (const { provider, endpoints, definitions } of await Effect.runPromise(shipped)) {
      for (const { path, method, body, path_params, query_params, example } of endpoints) {
        const parts = [
          [path_params, example.path],
          [query_params, example.query],
          [body, Array.isArray(example.input) ? example.input[0] : example.input]
        ] as const
        for (const [schema, value] of parts) {
          if (schema === null || value === undefined) continue
          const field = formOf({ ...schema, $defs: reachable(definitions, [schema]) })
          seen += 1
          if (!fits(field, value)) lost.push(`${provider} ${method} ${path}`)
        }
      }
    }
    // Such an example is edited as JSON.
    expect(seen).toBeGreaterThan(500)
    expect([lost.length / seen < 0.2, lost.slice(0, 5)]).toEqual([true, lost.slice(0, 5)])
  })

  const kindOf = (schema: object) => {
    const field = formOf({ type: "object", properties: { one: schema } })
    return field.kind === "object" ? field.fields[0]?.kind : field.kind
  }

  test.each([
    [{ type: "string" }, "text"],
    [{ type: ["string", "null"] }, "text"],
    [{ anyOf: [{ type: "integer" }, { type: "null" }] }, "number"],
    [{ enum: ["a", "b"] }, "choice"],
    [{ oneOf: [{ const: "a" }, { const: 2 }] }, "choice"],
    [{ type: "boolean" }, "boolean"],
    [{ type: "array", items: { type: "string" } }, "lines"],
    [{ type: "array", items: { type: "object", properties: { a: { type: "string" } } } }, "list"],
    [{ type: "object", properties: { a: { type: "string" } } }, "object"],
    [{ allOf: [{ type: "object", properties: { a: { type: "string" } } }] }, "object"],
    [{ type: "object" }, "json"],
    [{ anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] }, "lines"],
    [{ anyOf: [{ type: "string" }, { type: "array", items: { type: "number" } }] }, "json"],
    [{ type: "array", items: {} }, "json"],
    [{}, "json"],
    [{ $ref: "#/$defs/nowhere" }, "json"]
  ])("shows %j as %s", (schema, kind) => expect<string | undefined>(kindOf(schema)).toBe(kind))

  test("takes one text alone as a list of one, where the schema allows both", () => {
    const to = { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] }
    const field = formOf({ type: "object", properties: { to } })
    expect(meaningOf(field, draftOf(field, { to: "a@example.com" })).value).toEqual({ to: ["a@example.com"] })
    expect([fits(field, { to: "a@example.com" }), fits(field, { to: ["a", "b"] })]).toEqual([true, true])
  })

  test("shows JSON whatever the order of its members, and a request without some of its parts", () => {
    const numbers = { a: { type: "number" }, b: { type: "number" } }
    const field = formOf({ type: "object", properties: numbers })
    expect([fits(field, { b: 1, a: 2 }), fits(field, JSON.parse('{"a": 1, "__proto__": 2}'))]).toEqual([true, false])
    const parts = [
      { name: "path" as const, title: "Path", field, groups: [] },
      { name: "input" as const, title: "Body", field, groups: [] }
    ]
    expect([formFits(parts, { path: { a: 1 } }), formFits(parts, { path: { c: 1 } })]).toEqual([true, false])
  })

  test("of a schema that contains itself many times stays small", () => {
    const names = Array.from({ length: 20 }, (_, n) => `p${n}`)
    const self = { $ref: "#/$defs/self" }
    const properties = Object.fromEntries(names.map((name) => [name, self]))
    const many = { type: "object", properties, anyOf: names.map(() => self) }
    const field = formOf({ $ref: "#/$defs/self", $defs: { self: many } })
    const choices = formOf({ $ref: "#/$defs/self", $defs: { self: { anyOf: names.map(() => self) } } })
    expect([kindsIn(field).length < 1_000, choices.kind]).toEqual([true, "json"])
  })

  test("follows references, and ends where a schema contains itself", () => {
    const tree = { type: "object", properties: { name: { type: "string" }, child: { $ref: "#/$defs/tree" } } }
    const field = formOf({ type: "object", properties: { root: { $ref: "#/$defs/tree" } }, $defs: { tree } })
    expect(kindsIn(field)).toEqual(["text", "text", "text", "json"])
    const loop = formOf({ $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/a" } } })
    expect(loop.kind).toBe("json")
  })

  test("keeps what is typed, leaves out what is empty, and says what is no number and no JSON", () => {
    const field = formOf({
      type: "object",
      required: ["count"],
      properties: {
        count: { type: "integer" },
        name: { type: "string" },
        flag: { type: "boolean" },
        tags: { type: "array", items: { type: "string" } },
        sizes: { type: "array", items: { type: "number" } },
        more: { type: "object" },
        inner: { type: "object", properties: { a: { type: "string" } } }
      }
    })
    const typed = { count: "1e", name: "", flag: "false", tags: " a \n\n b", sizes: "1\nx", more: "{", inner: {} }
    expect(meaningOf(field, typed)).toEqual({
      value: { count: "1e", flag: false, tags: ["a", "b"], sizes: [1, "x"] },
      problems: [
        ["count", "must be a number"],
        ["sizes.1", "must be a number"],
        ["more", expect.stringMatching(/^is not JSON: /)]
      ]
    })
    expect(isComplete(field, [], {})).toBe(false)
    expect(isComplete(field, [["name"], ["flag"]], { count: 1, flag: true })).toBe(true)
  })

  test("takes hostile names and values as they are", () => {
    const properties = JSON.parse(
      '{"__proto__": {"type": "string"}, "constructor": {"type": "string"}, "a.b": {"type": "string"}}'
    )
    const field = formOf({ type: "object", properties })
    const value = JSON.parse('{"__proto__": "<script>", "constructor": "\\u0000", "a.b": "\\ud800"}')
    expect(JSON.stringify(meaningOf(field, draftOf(field, value)).value)).toBe(JSON.stringify(value))
    expect(fits(field, { unknown: 1 })).toBe(false)
  })
})

describe("words of a form", () => {
  test("name fields as people say them", () => {
    const names = ["full_name", "network_url", "maxItems", "cik", "$top", "a.b"]
    expect(names.map(nameWords)).toEqual(["Full name", "Network URL", "Max items", "CIK", "$top", "a.b"])
  })

  test("say once which members go together", () => {
    const both = [["full"], ["first", "last"]].flatMap((who) =>
      [["domain"], ["company"]].map((where) => [...who, ...where])
    )
    expect(choicesOf(both)).toEqual([
      [["full"], ["first", "last"]],
      [["domain"], ["company"]]
    ])
    expect(choicesOf([["url"], ["email"], ["name", "domain"], ["name", "company"]])).toEqual([
      [["url"], ["email"], ["name", "domain"], ["name", "company"]]
    ])
  })

  test("of a provider become plain sentences, and say what is required beside the name", () => {
    const texts = [
      ["target URLs. required field. at most 10;. You pay for each", "Target URLs. at most 10. You pay for each"],
      [
        "adult contentoptional fieldif set to_true, more. default value:_false",
        "Adult content. If set to true, more. default value: false"
      ],
      [
        "<b>A</b> page (<code>&lt;a&gt;</code>).<br>See <a href='x'>here</a> and [there](https://x.example)",
        "A page (<a>). See here and there"
      ]
    ]
    for (const [text = "", plain = ""] of texts) expect(plainText(text)).toBe(plain)
    const form = formOf({
      type: "object",
      properties: {
        target_url: { type: "string", description: "target. required field. with its address" },
        location: { type: "string", description: "place. required field if you don't specify target_url" }
      }
    })
    expect(form.kind === "object" ? form.fields.map(({ required, hint }) => [required, hint]) : []).toEqual([
      [true, "Target. with its address"],
      [false, "Place. required field if you don't specify target URL"]
    ])
  })
})
