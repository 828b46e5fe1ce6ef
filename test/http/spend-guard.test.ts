import { afterEach, describe, expect, test } from "bun:test"
import { oneBackend, rehearse, type Tenant, verify, withApp } from "../kit/app.ts"

const control = (name: string) => [{ control: name, manage: "/v1/spend-guard" }]

describe.each(oneBackend)("the spend guard, queues on %s", (backend) => {
  let org: Tenant
  const app = withApp({ backend })
  afterEach(async () => {
    await app.books()
  })
  const fresh = async (guard: Record<string, unknown> = {}) => {
    org = await app.tenant("10.00")
    const { status, body } = await org.post("/v1/spend-guard", guard)
    expect(status).toBe(200)
    return body
  }
  /** As a person: a key may not raise or remove a limit. */
  const asPerson = async (guard: Record<string, unknown>) =>
    app.call(await org.session(), "POST", "/v1/spend-guard", { body: guard })

  test("is off at first, changes field by field, and null turns a field off", async () => {
    const off = {
      per_run_limit: null,
      daily_limit: null,
      low_balance: null,
      contact_guard_days: null,
      repeat_guard: 0,
      time_zone: "UTC",
      spent_today: "0.00",
      resets_at: expect.any(String)
    }
    expect(await fresh()).toEqual(off)
    const both = { ...off, per_run_limit: "1.50", daily_limit: "20.00" }
    expect((await org.post("/v1/spend-guard", { per_run_limit: "1.5", daily_limit: "20" })).body).toEqual(both)
    expect((await org.post("/v1/spend-guard", {})).body).toEqual(both)
    expect((await asPerson({ per_run_limit: null })).body).toEqual({ ...both, per_run_limit: null })
    expect((await org.get("/v1/spend-guard")).body).toEqual({ ...both, per_run_limit: null })
    expect((await asPerson({ daily_limit: null })).body).toEqual(off)
    expect((await org.post("/v1/spend-guard", { daily_limit: "0.00" })).body.daily_limit).toBe("0.00")
  })

  test("an API key may set and lower a limit; raising or removing one needs a person", async () => {
    await fresh()
    const post = (guard: Record<string, unknown>) => org.post("/v1/spend-guard", guard)
    const now = async () => {
      const { per_run_limit, daily_limit } = (await org.get("/v1/spend-guard")).body
      return [per_run_limit, daily_limit]
    }
    expect((await post({ per_run_limit: "2.00", daily_limit: "20.00" })).status).toBe(200)
    expect((await post({ per_run_limit: "1.00", daily_limit: "20.00" })).status).toBe(200)
    const looser = [
      { per_run_limit: null },
      { per_run_limit: "1.000001" },
      { daily_limit: null },
      { daily_limit: "9999999999.00" },
      // Half of it would be allowed; none of it is done.
      { per_run_limit: "0.50", daily_limit: null }
    ]
    for (const guard of looser) {
      const { status, body } = await post(guard)
      expect([guard, status, body.error.code]).toEqual([guard, 403, "forbidden"])
      expect(body.error.message).toContain("POST /v1/auth/sign-in")
    }
    expect(await now()).toEqual(["1.00", "20.00"])
    expect((await asPerson({ per_run_limit: "5.00", daily_limit: null })).status).toBe(200)
    expect(await now()).toEqual(["5.00", null])
  })

  test("limits that are lowered at once by keys end at the lowest", async () => {
    await fresh()
    const cents = Array.from({ length: 24 }, (_, index) => 100 + ((index * 7) % 24))
    const answers = await Promise.all(
      cents.map((one) => org.post("/v1/spend-guard", { daily_limit: `0.${one}`, per_run_limit: `0.${one}` }))
    )
    for (const { status } of answers) expect([200, 403]).toContain(status)
    expect((await org.get("/v1/spend-guard")).body).toMatchObject({ daily_limit: "0.10", per_run_limit: "0.10" })
  })

  test("resets at the next midnight, UTC", async () => {
    const { resets_at } = await fresh()
    const midnight = new Date()
    midnight.setUTCHours(24, 0, 0, 0)
    expect(resets_at).toBe(midnight.toISOString())
  })

  test("counts what was charged today", async () => {
    await fresh()
    await org.run(verify())
    await org.run(rehearse("error"))
    expect((await org.get("/v1/spend-guard")).body.spent_today).toBe("0.003")
  })

  test("blocks a run that holds more than per_run_limit: controls, no attempt, no money", async () => {
    await fresh({ per_run_limit: "0.0047" })
    const { status, body } = await org.run(verify())
    expect(status).toBe(402)
    expect(body).toMatchObject({
      status: "blocked",
      error: { code: "cost_limit_exceeded" },
      controls: control("per_run_limit"),
      attempts: [],
      done: true,
      stoppable: false,
      billing: { charged: null }
    })
    expect((await org.ledger()).map((one) => one.type)).toEqual(["bonus"])
    expect((await org.get(`/v1/runs/${body.run_id}`)).body).toEqual(body)
    expect((await org.list("?status=blocked")).body.items[0].controls).toEqual(control("per_run_limit"))
    // Terminal: no cancel, and the limit counts what is held, so a cap brings the run under it.
    expect((await org.post(`/v1/runs/${body.run_id}/cancel`)).body.error.message).toContain("blocked")
    expect((await org.run({ ...verify(), routing: { max_cost: "0.0047" } })).status).toBe(200)
    await asPerson({ per_run_limit: "0.0048" })
    expect((await org.run(verify())).status).toBe(200)
  })

  test("blocks a run that would pass daily_limit, counting charges and the hold", async () => {
    await fresh({ daily_limit: "0.0078" })
    expect((await org.run(verify())).status).toBe(200)
    expect((await org.run(verify())).body.billing.charged).toBe("0.003")
    // 0.006 spent and 0.0048 to hold are above 0.0078.
    const { status, body } = await org.run(verify())
    expect(status).toBe(402)
    expect(body).toMatchObject({
      status: "blocked",
      error: { code: "budget_exceeded" },
      controls: control("daily_spend_guard")
    })
    expect((await org.ledger()).filter((one) => one.reference === body.run_id)).toEqual([])
    await asPerson({ daily_limit: "0.0108" })
    expect((await org.run(verify())).status).toBe(200)
  })

  test("replays a blocked run as it was blocked, after the control changed too", async () => {
    await fresh({ per_run_limit: "0.00" })
    const key = { "idempotency-key": "blocked" }
    const first = await org.run(verify(), key)
    await asPerson({ per_run_limit: null })
    const again = await org.run(verify(), key)
    expect([again.status, again.headers.get("idempotent-replay")]).toEqual([402, "true"])
    expect(again.body).toEqual(first.body)
  })

  test("concurrent runs can't slip past daily_limit together", async () => {
    await fresh({ daily_limit: "5.05" })
    // Each holds and charges $1.008, so five fit however holds and charges follow each other.
    const asked = {
      capability: "people.search",
      input: { titles: ["buyer"], limit: 3 },
      routing: { provider: "peopledatalabs" }
    }
    const answers = await Promise.all(Array.from({ length: 20 }, () => org.run(asked)))
    expect(answers.filter((one) => one.status === 200)).toHaveLength(5)
    const blocked = answers.filter((one) => one.status === 402)
    expect(blocked.map((one) => one.body.error.code)).toEqual(Array.from({ length: 15 }, () => "budget_exceeded"))
    expect((await org.get("/v1/spend-guard")).body.spent_today).toBe("5.04")
  })

  if (backend === "postgres") {
    test.each([
      [{ per_run_limit: "-1.00" }, "per_run_limit"],
      [{ per_run_limit: 1 }, "per_run_limit"],
      [{ daily_limit: "1.0000001" }, "daily_limit"],
      [{ daily_limit: "" }, "daily_limit"],
      [{ dailylimit: "1.00" }, "dailylimit"],
      [{ spent_today: "0.00" }, "spent_today"]
    ])("refuses %j", async (asked, path) => {
      await fresh()
      const { status, body } = await org.post("/v1/spend-guard", asked)
      expect([status, body.error.code, body.error.details[0].path]).toEqual([400, "invalid_request", path])
    })
  }
})
