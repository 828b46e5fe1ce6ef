/** The wording of a refused input: which field, what is wrong, and the nearest known name. */
import { describe, expect, test } from "bun:test"
import { Schema } from "effect"
import { contract } from "../../src/schema/catalog/Contract.ts"

const Person = Schema.Struct({ full_name: Schema.optionalKey(Schema.String), email: Schema.optionalKey(Schema.String) })
const { issues } = contract(
  Schema.Struct({
    ...Person.fields,
    company_domain: Schema.optionalKey(Schema.String),
    people: Schema.optionalKey(Schema.Array(Person))
  }),
  { anyOf: [["email"], ["full_name", "company_domain"]] }
)
const unknown = "is not a known field"

describe("an unknown field", () => {
  test.each([
    ["fullname", "full_name"],
    ["fullName", "full_name"],
    ["Full-Name", "full_name"],
    ["comapny_domain", "company_domain"],
    ["person", null],
    ["", null],
    ["__proto__", null],
    ["toString", null]
  ])("%j", (name, meant) => {
    const value: unknown = JSON.parse(`{"email": "ada@example.com", ${JSON.stringify(name)}: 1}`)
    const message = meant === null ? unknown : `${unknown}. Did you mean \`${meant}\`?`
    expect(issues(value)).toEqual([{ path: name, message }])
  })

  test("is looked for among the fields of its own object that are not given yet", () => {
    expect(issues({ email: "a", people: [{}, { emial: "b", company_domian: "c" }] })).toEqual([
      { path: "people.1.emial", message: `${unknown}. Did you mean \`email\`?` },
      { path: "people.1.company_domian", message: unknown }
    ])
    expect(issues({ email: "a", emial: "b" })).toEqual([{ path: "emial", message: unknown }])
  })

  test("comes before the group of fields that it leaves incomplete", () => {
    expect(issues({ fullname: "Ada", company_domain: 1 })).toEqual([
      { path: "fullname", message: `${unknown}. Did you mean \`full_name\`?` },
      { path: "", message: "needs email, or full_name + company_domain" },
      { path: "company_domain", message: "must be string" }
    ])
  })

  test("is shown short and printable, and of very many only twenty are", () => {
    const [long] = issues({ email: "a", ["y".repeat(100_000)]: 1 })
    expect(long).toEqual({ path: `${"y".repeat(100)}…`, message: unknown })
    const [hostile] = issues({ email: "a", "full\u0000\u001b\u202ename\ud83d": 1 })
    expect(hostile?.path).toBe("full name\ufffd")
    const many = Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`full_nam${n}`, 1]))
    expect(issues(many)).toHaveLength(20)
    expect(issues({ ...many, email: 1 })).toHaveLength(20)
  })
})
