/**
 * Tables of adapters have no entry for names that every object inherits, such as "constructor": neither for a caller's word nor for a code
 * in an answer.
 */
import { describe, expect, test } from "bun:test"
import { providers } from "../../../src/layers/providers/index.ts"
import { offerOf, runId, stage } from "./stage.ts"

const seniorities = ["constructor", "toString"]
const bySeniority = providers.filter(({ slug }) => ["apollo", "crustdata", "peopledatalabs"].includes(slug))

test.each(bySeniority)("$slug sends a seniority that is an inherited name as it is", (provider) => {
  const { request } = offerOf(provider, "people.search")
  const sent = request({ seniorities, titles: ["engineer"] }, { run_id: runId })
  expect(JSON.stringify([sent.query ?? null, sent.body ?? null])).toMatch(/"constructor","to[sS]tring"/)
})

describe("an error code that is an inherited name is an ordinary failure", () => {
  const find = { full_name: "Jane Doe", company_domain: "example.com" }
  const send = { from: "a@agentmail.to", to: "b@example.com", subject: "s", text: "t" }
  test.each([
    {
      slug: "prospeo",
      capability: "email.find",
      input: find,
      status: 400,
      body: { error: true, error_code: "valueOf" }
    },
    { slug: "agentmail", capability: "email.send", input: send, status: 400, body: { code: "constructor" } },
    {
      slug: "neverbounce",
      capability: "email.verify",
      input: { email: "a@b.co" },
      status: 200,
      body: { status: "toString" }
    }
  ])("$slug", async ({ slug, capability, input, status, body }) => {
    const provider = providers.find((one) => one.slug === slug)
    if (provider === undefined) throw new Error(slug)
    const played = { status, body: JSON.stringify(body), headers: { "content-type": "application/json" } }
    const { outcome } = await stage(provider)(capability, input, played)
    expect(outcome).toMatchObject({ _tag: "Failure", reason: expect.stringMatching(/^provider_/) })
  })
})
