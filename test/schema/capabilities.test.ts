import { describe, expect, test } from "bun:test"
import { Ajv2020 } from "ajv/dist/2020.js"
import addFormats from "ajv-formats"
import { Schema } from "effect"
import { providers } from "../../src/layers/providers/index.ts"
import type { Capability } from "../../src/schema/catalog/Capability.ts"
import { capabilities } from "../../src/schema/capabilities/index.ts"
import { Usd } from "../../src/schema/money/Money.ts"
import { dataInputs } from "./inputs-data.ts"
import { socialInputs } from "./inputs-social.ts"

const simulate = (
  capability: Capability,
  input: unknown,
  more: { seed?: number; provider?: string; partial?: boolean } = {}
) => capability.simulate({ input, provider: "simulated", seed: 7, partial: false, ...more })

const seeds = [0, 1, 2, 3, 5, 8, 13, 97, 4_294_967_295]

/** For every capability: inputs that are accepted, and inputs that are refused, with the path of the first issue. */
const inputs: Readonly<Record<string, { accepted: ReadonlyArray<object>; refused: ReadonlyArray<[object, string]> }>> =
  {
    ...dataInputs,
    ...socialInputs,
    "people.search": {
      accepted: [
        { name: "Jane Doe", limit: 1 },
        { company_domains: ["example.com"], limit: 100 },
        { company_names: ["Größe & Co"], keywords: "sales" },
        { industries: ["software"], employee_range: "51-200", cursor: "x:1" }
      ],
      refused: [
        [{}, ""],
        [{ limit: 5 }, ""],
        [{ name: "Jane", limit: 0 }, "limit"],
        [{ name: "Jane", limit: 101 }, "limit"],
        [{ name: "Jane", limit: 1.5 }, "limit"],
        [{ name: "Jane", limit: "5" }, "limit"],
        [{ titles: [] }, "titles"],
        [{ titles: "cto" }, "titles"],
        [{ titles: [""] }, "titles.0"],
        [{ company_domains: ["https://example.com"] }, "company_domains.0"]
      ]
    },
    "people.enrich": {
      accepted: [
        { network_url: "https://www.linkedin.com/in/jane-doe/" },
        { network_url: "/" },
        { full_name: "Cher", company_name: "Acme" },
        { full_name: "李明", company_domain: "example.com" }
      ],
      refused: [
        [{}, ""],
        [{ full_name: "Jane Doe" }, ""],
        [{ company_domain: "example.com" }, ""],
        [{ email: "jane" }, "email"],
        [{ email: "jane@example.com", require: ["phone"] }, "require"]
      ]
    },
    "email.find": {
      accepted: [
        { first_name: "Jane", last_name: "Doe", company_name: "Größe & Co" },
        { full_name: "Cher", company_domain: "EXAMPLE.com" },
        { full_name: "李明", company_name: "李" },
        { full_name: "Jane Doe", company_domain: "no-match.sandbox.test", network_url: "linkedin.com/in/jane" }
      ],
      refused: [
        [{}, ""],
        [{ full_name: "Jane Doe" }, ""],
        [{ first_name: "Jane", company_domain: "example.com" }, ""],
        [{ full_name: "", company_domain: "example.com" }, "full_name"],
        [{ full_name: "x".repeat(201), company_domain: "example.com" }, "full_name"],
        [{ full_name: "Jane Doe", company_domain: "example.com/about" }, "company_domain"],
        [{ full_name: null, company_domain: "example.com" }, "full_name"]
      ]
    },
    "email.verify": {
      accepted: [{ email: "info@example.com" }, { email: "no_match@sandbox.test" }],
      refused: [
        [{}, "email"],
        [{ email: "" }, "email"],
        [{ email: "Jane <jane@example.com>" }, "email"],
        [{ email: `${"x".repeat(250)}@example.com` }, "email"],
        [{ email: ["jane@example.com"] }, "email"]
      ]
    },
    "company.enrich": {
      accepted: [{ name: "Acme" }, { network_url: "https://www.linkedin.com/company/acme/" }, { network_url: "?" }],
      refused: [
        [{}, ""],
        [{ domain: "not a domain" }, "domain"],
        [{ name: "" }, "name"]
      ]
    },
    "web.search": {
      accepted: [
        { query: "q" },
        { query: "???", limit: 50, country: "US", language: "pt-br", recency: "week" },
        { query: "q", limit: 1, include_domains: ["example.com"], exclude_domains: ["example.org"] }
      ],
      refused: [
        [{}, "query"],
        [{ query: "q", limit: 51 }, "limit"],
        [{ query: "q", country: "USA" }, "country"],
        [{ query: "q", language: "english" }, "language"],
        [{ query: "q", recency: "hour" }, "recency"],
        [{ query: "x".repeat(401) }, "query"]
      ]
    },
    "email.send": {
      accepted: [
        { from: "inbox_1", to: "jane@example.com", subject: "s", html: "<p>h</p>" },
        {
          from: "a@example.com",
          to: ["b@example.com"],
          subject: "s",
          text: "t",
          cc: ["c@example.com"],
          tags: { a: "b" }
        }
      ],
      refused: [
        [{ from: "a@example.com", to: "b@example.com", subject: "s" }, ""],
        [{ from: "a@example.com", to: [], subject: "s", text: "t" }, "to"],
        [{ from: "a@example.com", to: "nobody", subject: "s", text: "t" }, "to"],
        [{ from: "a@example.com", to: Array(11).fill("b@example.com"), subject: "s", text: "t" }, "to"],
        [{ from: "a@example.com", to: "b@example.com", subject: "", text: "t" }, "subject"],
        [{ from: "a@example.com", to: "b@example.com", subject: "s", text: "t", tags: { a: 1 } }, "tags.a"]
      ]
    }
  }

describe("capabilities", () => {
  test("each slug is one, and every one has its inputs here", () => {
    const slugs = capabilities.map((capability) => capability.slug)
    expect(new Set(slugs).size).toBe(slugs.length)
    expect([...slugs].sort()).toEqual(Object.keys(inputs).sort())
  })

  test("every offer is for one of them", () => {
    const slugs = new Set(capabilities.map((capability) => capability.slug))
    for (const { offers } of providers) for (const { capability } of offers) expect(slugs).toContain(capability)
  })
})

for (const capability of capabilities) {
  const { accepted = [], refused = [] } = inputs[capability.slug] ?? {}
  const all = [capability.example, ...accepted]

  describe(capability.slug, () => {
    test("its schemas are JSON Schema 2020-12", () => {
      for (const contract of [capability.input, capability.output]) {
        expect(contract.jsonSchema["$schema"]).toBe("https://json-schema.org/draft/2020-12/schema")
        const ajv = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true })
        addFormats(ajv)
        expect(ajv.validateSchema(contract.jsonSchema)).toBe(true)
        expect(typeof ajv.compile(contract.jsonSchema)).toBe("function")
        expect(contract.jsonSchema["additionalProperties"]).toBe(false)
        expect(contract.fields.length).toBeGreaterThan(0)
      }
    })

    test("what is published is what is enforced", () => {
      const ajv = new Ajv2020({ allErrors: true })
      addFormats(ajv)
      const published = ajv.compile(JSON.parse(JSON.stringify(capability.input.jsonSchema)))
      for (const input of [...all, ...refused.map(([input]) => input), { unheard_of: 1 }, null, [], "x"]) {
        expect([input, capability.issues(input).length === 0]).toEqual([input, published(input)])
      }
    })

    test("every input field says what it is, and no text is unbounded", () => {
      const properties = Object(capability.input.jsonSchema["properties"])
      for (const [name, schema] of Object.entries<Record<string, unknown>>(properties)) {
        expect([name, typeof schema["description"]]).toEqual([name, "string"])
        if (schema["type"] === "string" && schema["enum"] === undefined) {
          // A pattern bounds by itself; one that was lost on the way to the published schema does not.
          const bounds =
            schema["pattern"] === undefined ? [schema["minLength"], typeof schema["maxLength"]] : [1, "number"]
          expect([name, ...bounds]).toEqual([name, 1, "number"])
        }
        if (schema["type"] === "array") expect([name, typeof schema["maxItems"]]).toEqual([name, "number"])
      }
    })

    test("every output field is required, so a missing value is null and never absent", () => {
      const { properties, required } = capability.output.jsonSchema
      expect(required).toEqual(Object.keys(Object(properties)))
    })

    test("accepts its example and its like", () => {
      for (const input of all) expect([input, capability.issues(input)]).toEqual([input, []])
    })

    test("refuses the rest, and names the field", () => {
      for (const [input, path] of refused) expect([input, capability.issues(input)[0]?.path]).toEqual([input, path])
    })

    test("refuses an unknown field by its name", () => {
      const input = { ...Object(capability.example), max_costs: "1" }
      expect(capability.issues(input)).toEqual([{ path: "max_costs", message: "is not a known field" }])
    })

    test("its simulated output fits, whatever the input and the seed", () => {
      for (const input of all) {
        for (const seed of seeds) {
          for (const partial of [false, true]) {
            const output = simulate(capability, input, { seed, partial })
            expect([input, capability.output.issues(output)]).toEqual([input, []])
          }
        }
      }
    })

    test("its simulated output is a match, and the same each time", () => {
      for (const input of all) {
        for (const seed of seeds) {
          const output = simulate(capability, input, { seed })
          expect(capability.judge(output)?.matched).toBe(true)
          expect(simulate(capability, input, { seed })).toEqual(output)
          // Nothing of it is shared: whoever changes an answer changes only his own.
          expect(simulate(capability, input, { seed })).not.toBe(output)
        }
      }
    })

    test("refuses to simulate what it refuses", () => {
      expect(() => simulate(capability, { unheard_of: 1 })).toThrow()
    })

    test("says when it is charged, and its model and its words agree", () => {
      const { model, bills_no_match, description } = capability.billing
      expect(description).toMatch(/^(Charged|Base price|Free)/)
      expect(description).toContain("cost")
      if (model !== "per_call") expect(bills_no_match).toBe(false)
      // Whoever contacts somebody changes the world; whoever changes it need not contact anybody.
      if (capability.channel !== null) expect(capability.side_effect).toBe(true)
    })

    test("an output of another shape is judged by nobody", () => {
      for (const output of [null, {}, [], "x", { ...Object(simulate(capability, capability.example)), extra: 1 }]) {
        expect(capability.judge(output)).toBeNull()
      }
    })

    test("hints are sentences, and none for an input that is refused", () => {
      for (const input of all) for (const hint of capability.missHints(input)) expect(hint).toMatch(/^[A-Z].*\.$/)
      expect(capability.missHints({ unheard_of: 1 })).toEqual([])
    })
  })
}

test("the pattern of an amount reaches the published schema", () => {
  expect(JSON.stringify(Schema.toJsonSchemaDocument(Usd))).toContain('"pattern"')
})

describe("limits", () => {
  for (const slug of ["people.search", "web.search"]) {
    const capability = capabilities.find((one) => one.slug === slug) ?? expect.unreachable()
    const count = (more: object, partial: boolean) =>
      capability.judge(simulate(capability, { ...Object(capability.example), ...more }, { partial }))?.results

    test(`${slug} delivers as many as asked for, and one fewer when partial`, () => {
      for (const limit of [1, 2, 10, 50]) {
        expect(count({ limit }, false)).toBe(limit)
        expect(count({ limit }, true)).toBe(limit - 1)
      }
    })

    test(`${slug} delivers 10 when nobody asked for a number`, () => {
      const { limit: _, ...input } = Object(capability.example)
      expect(capability.judge(simulate(capability, input))?.results).toBe(10)
      for (const { offers } of providers) {
        for (const { capability: served, price } of offers) {
          if (served === slug && price.kind === "metered") expect(price.default_limit).toBe(10)
        }
      }
    })
  }
})

describe("what counts as a match", () => {
  const judged = (slug: string, change: object) => {
    const capability = capabilities.find((one) => one.slug === slug) ?? expect.unreachable()
    return capability.judge({ ...Object(simulate(capability, capability.example)), ...change })?.matched
  }

  test("an address that is known to be invalid does not", () => {
    expect(judged("email.find", { email_status: "invalid" })).toBe(false)
    expect(judged("email.find", { email: null, email_status: null })).toBe(false)
    expect(judged("email.find", { email_status: "unknown" })).toBe(true)
    expect(judged("email.find", { email_status: null })).toBe(true)
  })
  test("every verdict on an address does, unknown and invalid included", () => {
    expect(judged("email.verify", { email_status: "unknown" })).toBe(true)
    expect(judged("email.verify", { email_status: "invalid" })).toBe(true)
  })
  test("a person without a name and a profile does not", () => {
    expect(judged("people.enrich", { full_name: null })).toBe(true)
    expect(judged("people.enrich", { full_name: null, network_url: null })).toBe(false)
  })
  test("a company without a name, an empty list and an unaccepted message do not", () => {
    expect(judged("company.enrich", { name: null })).toBe(false)
    expect(judged("web.search", { items: [] })).toBe(false)
    expect(judged("people.search", { items: [] })).toBe(false)
    expect(judged("email.send", { accepted: [] })).toBe(false)
  })
})
