import { beforeAll, describe, expect, test } from "bun:test"
import { capabilities } from "../../src/schema/capabilities/index.ts"
import { type Tenant, withApp } from "../kit/app.ts"

const usd = expect.stringMatching(/^\d+\.\d{2,6}$/)

describe("POST /v1/inspect", () => {
  let org: Tenant
  const app = withApp()
  beforeAll(async () => {
    org = await app.tenant("100.00")
  })

  test.each(capabilities.map((one) => one.slug))(
    "%s: every field, and an example that runs at the stated price",
    async (slug) => {
      const { status, body } = await org.post("/v1/inspect", { capability: slug })
      expect(status).toBe(200)
      // A copy, because bun's toMatchObject writes matchers into what it was given.
      expect(structuredClone(body)).toMatchObject({
        capability: slug,
        title: expect.any(String),
        category: expect.any(String),
        description: expect.any(String),
        status: expect.stringMatching(/^(live|coming_soon)$/),
        sandbox: true,
        input_schema: { type: "object", properties: expect.any(Object) },
        output_fields: expect.any(Array),
        billing: {
          model: expect.stringMatching(/^(per_call|on_match|metered)$/),
          bills_no_match: expect.any(Boolean),
          description: expect.any(String)
        },
        platforms: expect.any(Array),
        starting_price: { amount: usd, currency: "USD" },
        hints: expect.arrayContaining([
          expect.stringContaining("POST /v1/run"),
          expect.stringContaining(`rungate run ${slug} -i`),
          expect.stringContaining("sandbox.test")
        ])
      })
      expect(body.providers).toEqual(body.offers.map((one: { provider: string }) => one.provider))
      // Public data needs no account, so it is live without one.
      for (const live of body.live_providers) expect(["sec_edgar", "usaspending"]).toContain(live)
      for (const offer of body.offers) {
        expect(structuredClone(offer)).toMatchObject({
          executable: true,
          wired: expect.any(Boolean),
          verified: expect.any(Boolean),
          platforms: expect.any(Array),
          price: { amount: usd, currency: "USD" },
          metrics: { success_rate: null, latency_ms_p50: null, latency_ms_p95: null, sample_size: 0 },
          health: { status: "unknown", sample_size: 0, source: "measured" }
        })
        if (body.billing.model === "metered") {
          expect(offer.pricing).toEqual({ base: usd, per_result: usd, default_limit: expect.any(Number) })
        }
      }
      // Run accepts what inspect shows, and gives the fields that inspect names.
      const ran = await org.run({ capability: slug, input: body.example })
      expect([ran.status, ran.body.status]).toEqual([200, "succeeded"])
      expect(Object.keys(ran.body.result).sort()).toEqual([...body.output_fields, "sandbox"].sort())
      expect(Number(ran.body.billing.charged)).toBeLessThanOrEqual(Number(ran.body.billing.quoted))
      await app.books()
    }
  )

  test("names what it does not know", async () => {
    const unknown = await org.post("/v1/inspect", { capability: "mind.read" })
    expect([unknown.status, unknown.body.error.code]).toEqual([404, "capability_not_found"])
    const endpoint = await org.post("/v1/inspect", { provider: "hunter", endpoint: "/v2/nothing" })
    expect([endpoint.status, endpoint.body.error.code]).toEqual([404, "endpoint_not_found"])
  })

  test.each([
    [{}],
    [{ provider: "hunter" }],
    [{ endpoint: "/x" }],
    [{ capability: "" }],
    [{ capability: 1 }],
    [{ slug: "x" }],
    [{ capability: "email.find", provider: "hunter" }],
    [{ capability: "email.find", endpoint: "/x" }]
  ])("refuses %j", async (asked) => {
    const { status, body } = await org.post("/v1/inspect", asked)
    expect([status, body.error.code]).toEqual([400, "invalid_request"])
    expect(body.error.details.length).toBeGreaterThan(0)
  })

  test("is free, and needs a key", async () => {
    const poor = await app.tenant()
    expect((await poor.post("/v1/inspect", { capability: "email.find" })).status).toBe(200)
    expect((await app.call(null, "POST", "/v1/inspect", { body: { capability: "email.find" } })).status).toBe(401)
  })
})
