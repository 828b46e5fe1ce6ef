/** Time zones of label budgets, what is spent by value, and what is told when a part of a budget is spent. */
import { afterEach, describe, expect, test } from "bun:test"
import fc from "fast-check"
import { alertMail } from "../../../src/schema/events/AlertMail.ts"
import { dayAt, dayStart, type Zones } from "../../../src/schema/money/SpendDay.ts"
import { valueBudgetId } from "../../../src/schema/wallet/LabelBudget.ts"
import { type Tenant, until, verify, withApp } from "../../kit/app.ts"

const app = withApp()
afterEach(async () => {
  await app.books()
})

const hour = 3_600_000
let people = 0
const run = (org: Tenant, customer: string) =>
  org.post("/v1/run", { ...verify(`p${(people += 1)}`), metadata: { customer } })
const begun = async () => {
  const org = await app.tenant("10.00")
  const session = await org.session()
  const put = (body: Record<string, unknown>) =>
    app.call(session, "PUT", "/v1/label-budgets", {
      body: { label: "customer", period: "day", limit: "1.00", ...body }
    })
  const values = async (query = "") => (await org.get(`/v1/label-budgets/values${query}`)).body.items
  const zoneOf = async (value: string) => {
    const [row] = await app.sql("SELECT time_zones, counted_on::text AS day FROM key_budgets WHERE budget_id = $1", [
      valueBudgetId(org.org_id, "customer", value)
    ])
    return row
  }
  return { org, session, put, values, zoneOf }
}
/** A zone whose day is not that of UTC now, as if the value had counted in it for years. */
const longSince = async (org_id: string, value: string) => {
  const now = Date.now()
  const zone = new Date(now).getUTCHours() >= 11 ? "Pacific/Kiritimati" : "Pacific/Pago_Pago"
  const zones = [{ zone, before: "UTC", on: "2020-01-01", since: Date.parse("2020-01-01T00:00Z") * 1_000 }]
  const id = valueBudgetId(org_id, "customer", value)
  await app.sql(
    `INSERT INTO key_budgets (budget_id, org_id, key_id, amount, period, label, value, time_zones)
     VALUES ($1, $2, $1, 9000000000000000000, 'total', 'customer', $3, $4)`,
    [id, org_id, value, JSON.stringify(zones)]
  )
  return { zone, zones, day: dayAt(now, zones), utc: dayAt(now) }
}

describe("the time zone of a label budget", () => {
  test("decides the day that its values count, and when they reset", async () => {
    const { org, put, values, zoneOf } = await begun()
    const { zone, zones, day, utc } = await longSince(org.org_id, "acme")
    expect(day).not.toBe(utc)
    const set = await put({ value: "acme", limit: "0.0050", time_zone: zone })
    expect([set.status, set.body.time_zone]).toEqual([200, zone])
    await put({ value: "other" })
    expect((await run(org, "acme")).status).toBe(200)
    expect((await run(org, "other")).status).toBe(200)
    expect([(await zoneOf("acme"))?.["day"], (await zoneOf("other"))?.["day"]]).toEqual([day, utc])
    const ends = (start: number) => new Date(start + 24 * hour).toISOString()
    const all = await values("?label=customer")
    expect(Object.fromEntries(all.map((one: Record<string, string>) => [one["value"], one["resets_at"]]))).toEqual({
      acme: ends(dayStart(day, zones)),
      other: ends(dayStart(utc))
    })
    const refused = await run(org, "acme")
    expect([refused.status, refused.body.error.message]).toEqual([
      402,
      expect.stringContaining(`it resets at 00:00 ${zone}`)
    ])
    const statement = async (period: string) =>
      (await org.get(`/v1/label-budgets/statement?label=customer&value=acme&period=${period}`)).body.statement
    expect(await statement(day)).toMatchObject({
      time_zone: zone,
      runs: 1,
      from: new Date(dayStart(day, zones)).toISOString()
    })
    await app.books()
    // As if a hold on the next day of the zone had begun it: the charge is of the day before.
    await app.sql(
      `UPDATE key_budgets SET counted_on = counted_on + 1, spent_day = 0,
         spent_week = CASE WHEN extract(isodow FROM counted_on) = 7 THEN 0 ELSE spent_week END,
         spent_month = CASE WHEN extract(day FROM counted_on + 1) = 1 THEN 0 ELSE spent_month END
       WHERE org_id = $1 AND value = 'acme'`,
      [org.org_id]
    )
  })

  test("keeps the day, week and month of its change, and changes once a month", async () => {
    const { org, put, zoneOf } = await begun()
    await put({ value: "acme" })
    await run(org, "acme")
    expect((await put({ value: "acme", time_zone: "Asia/Tokyo" })).body.time_zone).toBe("Asia/Tokyo")
    await run(org, "acme")
    // On the day of a change it may be corrected.
    expect((await put({ value: "acme", time_zone: "Europe/Berlin" })).body.time_zone).toBe("Europe/Berlin")
    expect((await put({ value: "acme", limit: "2.00" })).body).toMatchObject({
      time_zone: "Europe/Berlin",
      spent: "0.006"
    })
    await run(org, "acme")
    const zones = (await zoneOf("acme"))?.["time_zones"] as Zones
    expect(zones.map(({ before, zone }) => [before, zone])).toEqual([["UTC", "Europe/Berlin"]])
    await app.sql(`
      BEGIN; ALTER TABLE label_budgets DISABLE TRIGGER label_zone_changes;
      UPDATE label_budgets SET time_zones = jsonb_set(time_zones, '{0,on}', to_jsonb(((time_zones -> 0 ->> 'on')::date - 1)::text)) WHERE org_id = '${org.org_id}';
      ALTER TABLE label_budgets ENABLE TRIGGER label_zone_changes; COMMIT`)
    const late = await put({ value: "acme", time_zone: "Asia/Tokyo" })
    expect([late.status, late.body.error.details[0].path, late.body.error.message]).toEqual([
      400,
      "time_zone",
      expect.stringMatching(/may change again on 2\d{3}-\d\d-\d\d/)
    ])
    const direct = (sql: string) =>
      app.sql(sql, [org.org_id]).then(
        () => "changed",
        (error: { constraint?: string }) => error.constraint
      )
    expect(
      await direct(
        "UPDATE label_budgets SET time_zones = jsonb_set(time_zones, '{0,zone}', '\"Asia/Tokyo\"') WHERE org_id = $1"
      )
    ).toBe("label_zone_changes")
    expect(
      await direct(
        "UPDATE key_budgets SET time_zones = jsonb_set(time_zones, '{0,before}', '\"Asia/Seoul\"') WHERE org_id = $1 AND label IS NOT NULL"
      )
    ).toBe("key_budget_zones")
  })

  test("is counted on by values of which another budget counts then, and the organization's after it", async () => {
    const { org, session, put, values, zoneOf } = await begun()
    const { id } = (await put({ value: "acme", time_zone: "Asia/Tokyo" })).body
    await put({ time_zone: "America/New_York" })
    await run(org, "acme")
    await app.call(session, "DELETE", `/v1/label-budgets/${id}`)
    await run(org, "acme")
    await put({ value: "acme" })
    await run(org, "acme")
    const zones = (await zoneOf("acme"))?.["time_zones"] as Zones
    // All of them on one day, which keeps its end.
    expect(zones.map(({ before, zone }) => [before, zone])).toEqual([["UTC", "UTC"]])
    expect(await values()).toMatchObject([{ value: "acme", spent: "0.009" }])
  })

  test.each(["Mars/Olympus", "US/Eastern", "+02:00", "", "CET"])("is refused as %s", async (time_zone) => {
    const { put } = await begun()
    const { status, body } = await put({ value: "acme", time_zone })
    expect([status, body.error.details[0].path]).toEqual([400, "time_zone"])
  })

  test("gives days that never go back, whichever budgets counted, and that the pure function says too", async () => {
    const zone = fc.constantFrom(
      "UTC",
      "Pacific/Kiritimati",
      "Pacific/Pago_Pago",
      "Europe/Berlin",
      "Asia/Tokyo",
      "America/New_York"
    )
    const steps = fc.array(fc.tuple(zone, fc.integer({ min: 1, max: 900 })), { minLength: 1, maxLength: 6 })
    for (const all of fc.sample(steps, 40)) {
      let [zones, at]: [Zones | null, number] = [null, Date.parse("2026-10-20T05:00Z")]
      const days: Array<string> = []
      for (const [name, later] of all) {
        for (let n = 0; n < 4; n++, at += (later * hour) / 4) days.push(dayAt(at, zones ?? []))
        const [row] = await app.sql(
          "SELECT value_zones($1::jsonb, NULL, $2::jsonb, $3) AS zones, spend_day($1::jsonb, $3)::text AS day",
          [zones === null ? null : JSON.stringify(zones), JSON.stringify([{ zone: name }]), new Date(at).toISOString()]
        )
        expect(row?.["day"]).toBe(dayAt(at, zones ?? []))
        days.push(String(row?.["day"]))
        zones = row?.["zones"] as Zones
        days.push(dayAt(at, zones))
      }
      expect(days).toEqual([...days].sort())
    }
  })
})

describe("what is spent by value", () => {
  test("is listed in pages, of the own organization and of values with a budget", async () => {
    const { org, session, put, values } = await begun()
    const { id } = (await put({})).body
    for (const customer of ["a", "b", '<b>"c",\n']) await run(org, customer)
    const all = await values()
    expect(all.map(({ value, spent }: Record<string, string>) => [value, spent]).sort()).toEqual([
      ['<b>"c",\n', "0.003"],
      ["a", "0.003"],
      ["b", "0.003"]
    ])
    const first = (await org.get("/v1/label-budgets/values?limit=2")).body
    const second = (await org.get(`/v1/label-budgets/values?limit=2&cursor=${first.next_cursor}`)).body
    expect([...first.items, ...second.items]).toEqual(all)
    expect(second.next_cursor).toBeNull()
    expect(await values(`?id=${all[0].id}`)).toEqual([all[0]])
    expect(await values("?label=campaign")).toEqual([])
    const stranger = await app.tenant("1.00")
    expect((await stranger.get(`/v1/label-budgets/values?id=${all[0].id}`)).body.items).toEqual([])
    expect((await org.get("/v1/label-budgets/values?cursor=x")).status).toBe(400)
    await app.call(session, "DELETE", `/v1/label-budgets/${id}`)
    expect(await values()).toEqual([])
  })

  test("causes an alert at 50, 80 and 100 percent, and when a run is refused", async () => {
    const { org, put, values } = await begun()
    await put({ limit: "0.0090" })
    const told = async () =>
      (
        await app.sql("SELECT data FROM events WHERE org_id = $1 AND kind = 'budget.reached' ORDER BY position", [
          org.org_id
        ])
      ).map(({ data }) => data as Record<string, unknown>)
    await run(org, "acme")
    await run(org, "acme")
    expect((await run(org, "acme")).status).toBe(402)
    await run(org, "other")
    const events = await until("the alerts", told, (all) => all.length >= 2)
    const [{ id }] = (await values()).filter(({ value }: { value: string }) => value === "acme")
    expect(events.map(({ percent }) => percent)).toEqual([50, 100])
    expect(events[0]).toEqual({
      ...{ control: "label_budget", label: "customer", value_id: id, manage: `/v1/label-budgets/values?id=${id}` },
      ...{ percent: 50, limit: "0.009", spent: "0.006", resets_at: expect.any(String) }
    })
    expect((await org.get(String(events[0]?.["manage"]))).body.items).toMatchObject([{ value: "acme" }])
    const { subject, text } = alertMail("https://rungate.example", "budget.reached", events[0])
    expect(subject).toBe("50 % of the budget of a value of the label customer is used")
    expect(text).not.toContain("acme")
  })
})
