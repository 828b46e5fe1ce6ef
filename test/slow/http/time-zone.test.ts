/** Days of an organization's time zone: what sets it, what counts by it, and that PostgreSQL and the pure function agree. */
import { beforeAll, describe, expect, test } from "bun:test"
import fc from "fast-check"
import { zoneNames } from "../../../src/schema/money/TimeZone.ts"
import { dayAt, dayStart, withZone, type Zones } from "../../../src/schema/money/SpendDay.ts"
import { type Tenant, rehearse, verify, withApp } from "../../kit/app.ts"
import { indexedAndCounted } from "../../kit/finished-work.ts"

const app = withApp()
const hour = 3_600_000

describe("PostgreSQL and the pure function", () => {
  let names: ReadonlyArray<string> = []
  beforeAll(async () => {
    const rows = await app.sql("SELECT name FROM pg_timezone_names WHERE is_time_zone(name) ORDER BY name")
    const known = rows.map(({ name }) => String(name)).filter((name) => zoneNames.includes(name))
    const at = Date.parse("2027-01-15T12:00Z")
    const local = await app.sql(
      "SELECT name, to_char(to_timestamp($2) AT TIME ZONE name, 'YYYY-MM-DD\"T\"HH24:MI:SS') AS time FROM unnest($1::text[]) AS n(name)",
      [known, at / 1_000]
    )
    const here = (name: string) =>
      Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(name).toPlainDateTime().toString()
    // A government may have changed its clocks since the older of both lists.
    const changed = new Set(local.flatMap(({ name, time }) => (here(String(name)) === time ? [] : [String(name)])))
    expect(changed.size).toBeLessThan(5)
    names = known.filter((name) => !changed.has(name))
  })

  const compared = async (cases: ReadonlyArray<{ readonly zones: Zones; readonly at: number }>) => {
    const rows = await app.sql(
      `SELECT spend_day(zones::jsonb, at::timestamptz)::text AS day FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS n(zones, at, i) ORDER BY i`,
      [cases.map(({ zones }) => JSON.stringify(zones)), cases.map(({ at }) => new Date(at).toISOString())]
    )
    const differ = cases.flatMap(({ zones, at }, index) => {
      const [ours, theirs] = [dayAt(at, zones), rows[index]?.["day"]]
      return ours === theirs ? [] : [{ zones, at: new Date(at).toISOString(), ours, theirs }]
    })
    return differ
  }

  test("know the same names", async () => {
    expect(names.length).toBeGreaterThan(400)
    expect(zoneNames.filter((name) => !names.includes(name)).length).toBeLessThan(5)
  })

  test("say the same day in every zone, at midnights and at changes of clocks", async () => {
    const cases = names.flatMap((zone) => {
      const zones = [{ zone, before: "UTC", on: "2026-01-01", since: Date.parse("2026-01-01T00:00Z") * 1_000 }]
      return ["2026-01-31", "2026-03-29", "2026-07-01", "2026-10-25", "2026-11-01", "2027-03-14"].flatMap((day) => {
        const start = dayStart(day, zones)
        return [start - 1, start, start + 13 * hour].map((at) => ({ zones, at }))
      })
    })
    expect(await compared(cases)).toEqual([])
  })

  test("say the same of any history of changes", async () => {
    const steps = fc.array(fc.tuple(fc.constantFrom(...names), fc.integer({ min: 0, max: 1_500 })), { maxLength: 5 })
    const start = fc.integer({ min: Date.parse("2026-10-20T00:00Z"), max: Date.parse("2027-01-10T00:00Z") })
    const histories = fc.sample(fc.tuple(steps, start, fc.array(start, { minLength: 4, maxLength: 4 })), 300)
    const differ = await compared(
      histories.flatMap(([all, first, moments]) => {
        let [zones, at]: [Zones, number] = [[], first]
        for (const [name, later] of all) {
          at += later * hour
          zones = withZone(zones, name, dayAt(at, zones), BigInt(at) * 1_000n) ?? zones
        }
        return moments.map((moment) => ({ zones, at: moment }))
      })
    )
    expect(differ).toEqual([])
  })
})

describe("the time zone of an organization", () => {
  const asPerson = async (org: Tenant, guard: Record<string, unknown>) =>
    app.call(await org.session(), "POST", "/v1/spend-guard", { body: guard })

  test("is UTC, is set by a person, and is in the audit log", async () => {
    const org = await app.tenant("10.00")
    const before = (await org.get("/v1/spend-guard")).body
    expect(before.time_zone).toBe("UTC")
    const byKey = await org.post("/v1/spend-guard", { time_zone: "Asia/Tokyo" })
    expect([byKey.status, byKey.body.error.code]).toEqual([403, "forbidden"])
    const set = await asPerson(org, { time_zone: "Asia/Tokyo" })
    // Today keeps its end.
    expect([set.status, set.body]).toEqual([200, { ...before, time_zone: "Asia/Tokyo" }])
    expect((await asPerson(org, { time_zone: "Asia/Seoul" })).body.time_zone).toBe("Asia/Seoul")
    const log = await app.call(await org.session(), "GET", "/v1/audit-log?action=spend_guard.changed")
    expect(log.body.items.map(({ before: was, after }: Record<string, unknown>) => [was, after])).toEqual([
      [{ time_zone: "Asia/Tokyo" }, { time_zone: "Asia/Seoul" }],
      [{ time_zone: "UTC" }, { time_zone: "Asia/Tokyo" }]
    ])
    await app.books()
  })

  test.each([
    "Mars/Olympus",
    "+02:00",
    "US/Eastern",
    "europe/berlin",
    "localtime",
    "Factory",
    "CET",
    "Europe/Berlin ",
    "EST5EDT,M3.2.0,M11.1.0"
  ])("is refused as %s", async (time_zone) => {
    const org = await app.tenant("1.00")
    const { status, body } = await asPerson(org, { time_zone })
    expect([status, body.error.code, body.error.details[0].path]).toEqual([400, "invalid_request", "time_zone"])
  })

  /** As if the organization had changed its zone long ago. Returns the day, which is not that of UTC. */
  const longSince = async (org: Tenant) => {
    const now = Date.now()
    const zone = new Date(now).getUTCHours() >= 11 ? "Pacific/Kiritimati" : "Etc/GMT+12"
    const zones = [{ zone, before: "UTC", on: "2020-01-01", since: Date.parse("2020-01-01T00:00Z") * 1_000 }]
    await app.sql(`
      BEGIN; ALTER TABLE wallets DISABLE TRIGGER wallet_zone_changes;
      UPDATE wallets SET time_zones = '${JSON.stringify(zones)}', version = version + 1 WHERE org_id = '${org.org_id}';
      ALTER TABLE wallets ENABLE TRIGGER wallet_zone_changes; COMMIT`)
    return { zone, zones, day: dayAt(now, zones), utc: dayAt(now) }
  }

  test("has the days of the guard, of budgets, of usage and of statements", async () => {
    const org = await app.tenant("10.00")
    const { zone, zones, day, utc } = await longSince(org)
    expect(day).not.toBe(utc)
    const session = await org.session()
    const key = (
      await app.call(session, "POST", "/v1/api-keys", {
        body: { name: "k", environment: "test", budget: { limit: "0.0070", period: "day" } }
      })
    ).body
    const first = await app.call(key.api_key, "POST", "/v1/run", { body: verify("first") })
    expect(first.status).toBe(200)
    const ends = new Date(dayStart(day, zones) + 24 * hour).toISOString()
    expect((await org.get("/v1/spend-guard")).body).toMatchObject({
      time_zone: zone,
      spent_today: first.body.billing.charged,
      resets_at: ends
    })
    const record = (await app.call(session, "GET", `/v1/api-keys/${key.id}`)).body
    expect(record.budget).toMatchObject({ spent: first.body.billing.charged, resets_at: ends })
    const over = await app.call(key.api_key, "POST", "/v1/run", { body: verify("over") })
    expect([over.status, over.body.error.message]).toEqual([402, expect.stringContaining(`it resets at 00:00 ${zone}`)])
    await asPerson(org, { daily_limit: "0.0070" })
    const guarded = await org.post("/v1/run", verify("guarded"))
    expect([guarded.status, guarded.body.error.message]).toEqual([
      402,
      expect.stringContaining(`resets at 00:00 ${zone}`)
    ])
    // What waits to be counted, and then the rollups.
    for (const counted of [false, true]) {
      if (counted) await indexedAndCounted(app)
      const usage = (await org.get("/v1/usage?group_by=day")).body.items
      expect(usage).toMatchObject([{ day, runs: 3, succeeded: 1, charged: first.body.billing.charged }])
      expect((await org.get(`/v1/usage?from=${utc}&to=${utc}&group_by=day`)).body.items).toEqual([])
    }
    const statement = async (date: string) =>
      (await org.get(`/v1/wallet/transactions?type=settle&from=${date}&to=${date}`)).body.items.length
    expect([await statement(day), await statement(utc)]).toEqual([1, 0])
    await app.books()
  })

  test("counts a run by the day on which it ends, also without reading the wallet again", async () => {
    const org = await app.tenant("10.00")
    const { day } = await longSince(org)
    for (const word of ["one", "two", "three"]) expect((await org.post("/v1/run", rehearse(word))).status).toBe(200)
    const [wallet] = await app.sql("SELECT spent_day::text AS spent_day FROM wallets WHERE org_id = $1", [org.org_id])
    expect(wallet).toEqual({ spent_day: day })
    await app.books()
  })

  test("changes in the database as the pure rule says, and in no other way", async () => {
    const org = await app.tenant("1.00")
    const now = Date.now()
    const since = now * 1_000
    const set = async (zones: ReadonlyArray<object> | null) =>
      app
        .sql("UPDATE wallets SET time_zones = $1::jsonb, version = version + 1 WHERE org_id = $2", [
          zones === null ? null : JSON.stringify(zones),
          org.org_id
        ])
        .then(
          () => "changed",
          (error: { constraint?: string }) => error.constraint
        )
    const change = { zone: "Asia/Tokyo", before: "UTC", on: dayAt(now), since }
    const refused = "wallet_zone_changes"
    expect(await set([{ ...change, zone: "Mars/Olympus" }])).toBe(refused)
    expect(await set([{ ...change, on: dayAt(now + 24 * hour) }])).toBe(refused)
    expect(await set([{ ...change, before: "Asia/Tokyo" }])).toBe(refused)
    expect(await set([change])).toBe("changed")
    expect(await set([{ ...change, zone: "Asia/Seoul" }])).toBe("changed")
    // A second one in the same month would count a period anew.
    expect(await set([change, { ...change, zone: "UTC", before: "Asia/Tokyo", since: since + 1 }])).toBe(refused)
    expect(await set([{ ...change, on: dayAt(now - 24 * hour) }])).toBe(refused)
    expect(await set(null)).toBe(refused)
  })

  test("says when it may change again", async () => {
    const org = await app.tenant("1.00")
    const now = Date.now()
    const on = dayAt(now - 24 * hour)
    const zones = [{ zone: "Asia/Tokyo", before: "UTC", on, since: (now - 24 * hour) * 1_000 }]
    await app.sql(`
      BEGIN; ALTER TABLE wallets DISABLE TRIGGER wallet_zone_changes;
      UPDATE wallets SET time_zones = '${JSON.stringify(zones)}', version = version + 1 WHERE org_id = '${org.org_id}';
      ALTER TABLE wallets ENABLE TRIGGER wallet_zone_changes; COMMIT`)
    const { status, body } = await asPerson(org, { time_zone: "Europe/Berlin" })
    // Not on the first day of both a week and a month, when every period of yesterday is over.
    if (status === 200) expect(new Date(now).getUTCDate()).toBe(1)
    else
      expect(body.error.details[0]).toEqual({
        path: "time_zone",
        message: expect.stringMatching(/^may change again on 2/)
      })
  })
})
