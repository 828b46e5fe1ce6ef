/** The day that counts spending has one home: nobody else computes when it begins or ends, or says so. */
import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import fc from "fast-check"
import {
  budgetPeriods,
  dayAt,
  dayEnd,
  dayStart,
  periodStart,
  resetsAt,
  resetText,
  withZone,
  type Zones
} from "../../src/schema/money/SpendDay.ts"

const midnightOf = (day: string | null) => (day === null ? null : `${day}T00:00:00.000Z`)

test.each([
  ["day", "2026-12-31", "2026-12-31", "2027-01-01"],
  ["week", "2026-11-22", "2026-11-16", "2026-11-23"],
  ["week", "2026-11-23", "2026-11-23", "2026-11-30"],
  ["month", "2026-12-31", "2026-12-01", "2027-01-01"],
  ["month", "2028-02-29", "2028-02-01", "2028-03-01"],
  ["total", "2026-11-22", null, null]
] as const)("%s of %s begins on %s and ends before %s", (period, day, start, end) => {
  expect([periodStart(period, day), resetsAt(period, day)?.toISOString() ?? null]).toEqual([start, midnightOf(end)])
})

test("a day ends with its last millisecond", () => {
  expect(["2026-11-21T23:59:59.999Z", "2026-11-22T00:00:00.000Z"].map((time) => dayAt(Date.parse(time)))).toEqual([
    "2026-11-21",
    "2026-11-22"
  ])
})

/** As if the organization had always been there. */
const always = (zone: string): Zones => [{ zone, before: zone, on: "1990-01-01", since: 0 }]
const utc = (millis: number) => new Date(millis).toISOString()

test.each([
  ["Europe/Berlin", "2026-03-29", "2026-03-28T23:00:00.000Z", 23],
  ["Europe/Berlin", "2026-10-25", "2026-10-24T22:00:00.000Z", 25],
  ["America/New_York", "2026-03-08", "2026-03-08T05:00:00.000Z", 23],
  ["Asia/Kolkata", "2026-11-26", "2026-11-25T18:30:00.000Z", 24],
  ["Asia/Kathmandu", "2026-11-26", "2026-11-25T18:15:00.000Z", 24],
  ["Pacific/Chatham", "2026-09-27", "2026-09-26T11:15:00.000Z", 23],
  ["Australia/Lord_Howe", "2026-10-04", "2026-10-03T13:30:00.000Z", 23.5],
  // Midnight does not exist on this day.
  ["Africa/Cairo", "2026-04-24", "2026-04-23T22:00:00.000Z", 23],
  // Samoa had no 30 December.
  ["Pacific/Apia", "2011-12-29", "2011-12-29T10:00:00.000Z", 24],
  ["Pacific/Apia", "2011-12-31", "2011-12-30T10:00:00.000Z", 24]
])("in %s, %s begins at %s and has %d hours", (zone, day, begins, hours) => {
  const zones = always(zone)
  const [start, end] = [dayStart(day, zones), dayEnd(day, zones).getTime()]
  expect([utc(start), (end - start) / 3_600_000]).toEqual([begins, hours])
  expect([start - 1, start, end - 1, end].map((at) => dayAt(at, zones) === day)).toEqual([false, true, true, false])
})

test("says in which zone a limit resets", () => {
  expect(resetText("week", always("Asia/Tokyo"))).toBe("it resets on Monday at 00:00 Asia/Tokyo")
})

describe("a change of the time zone", () => {
  const zoneNames = Intl.supportedValuesOf("timeZone")
  const zone = fc.oneof(
    fc.constantFrom("Pacific/Kiritimati", "Pacific/Pago_Pago", "UTC"),
    fc.constantFrom(...zoneNames)
  )
  const hour = 3_600_000
  /** Near the end of a year, with weeks, months and a change of clocks within reach. */
  const times = fc.integer({ min: Date.parse("2026-10-20T00:00Z"), max: Date.parse("2027-01-10T00:00Z") })

  /** A history of changes, each with the zones before it. */
  const changed = (steps: ReadonlyArray<readonly [zone: string, hoursLater: number]>, start: number) => {
    let [zones, at]: [Zones, number] = [[], start]
    const history: Array<{ readonly before: Zones; readonly after: Zones; readonly at: number }> = []
    for (const [name, later] of steps) {
      at += later * hour
      const after = withZone(zones, name, dayAt(at, zones), BigInt(at) * 1_000n)
      if (after === null || after === zones) continue
      // A correction takes the place of the change that it corrects.
      history.push({ before: after.slice(0, -1), after, at })
      zones = after
    }
    return { history, zones }
  }
  const steps = fc.array(
    fc.tuple(zone, fc.oneof(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 0, max: 1_500 }))),
    {
      minLength: 1,
      maxLength: 6
    }
  )

  test("lets the day, week and month keep their end, so that none is counted anew before", () => {
    fc.assert(
      fc.property(steps, times, (all, start) => {
        for (const { before, after, at } of changed(all, start).history)
          for (const period of budgetPeriods) {
            const day = dayAt(at, before)
            const end = resetsAt(period, day, before)
            const last = end === null ? at + 400 * hour : end.getTime() - 1
            for (const moment of [at, Math.min(at + 1, last), (at + last) / 2, last])
              expect([period, periodStart(period, dayAt(moment, after))]).toEqual([period, periodStart(period, day)])
          }
      }),
      { numRuns: 400 }
    )
  })

  test("changes no day before it, never turns a day back, and counts in the new zone at last", () => {
    fc.assert(
      fc.property(steps, times, fc.array(times, { minLength: 2, maxLength: 8 }), (all, start, moments) => {
        const { history, zones } = changed(all, start)
        for (const { before, after, at } of history)
          for (const moment of moments.filter((one) => one < at))
            expect(dayAt(moment, after)).toBe(dayAt(moment, before))
        const days = moments.toSorted((a, b) => a - b).map((one) => dayAt(one, zones))
        expect(days).toEqual(days.toSorted())
        // More than a month after the last possible change.
        const later = Date.parse("2028-03-09T00:00Z") + (start % (48 * hour))
        const own = zones.at(-1)?.zone ?? "UTC"
        expect(dayAt(later, zones)).toBe(new Intl.DateTimeFormat("en-CA", { timeZone: own }).format(later))
      }),
      { numRuns: 400 }
    )
  })

  test("has a first moment for each day, before which the day was another", () => {
    fc.assert(
      fc.property(steps, times, times, (all, start, moment) => {
        const { zones } = changed(all, start)
        const day = dayAt(moment, zones)
        const [begins, ends] = [dayStart(day, zones), dayEnd(day, zones).getTime()]
        expect([begins <= moment, moment < ends]).toEqual([true, true])
        expect([dayAt(begins, zones), dayAt(begins - 1, zones) < day, dayAt(ends, zones) > day]).toEqual([
          day,
          true,
          true
        ])
      }),
      { numRuns: 400 }
    )
  })

  test("is refused until these have ended, and may be corrected on its day", () => {
    const at = (time: string) => BigInt(Date.parse(time)) * 1_000n
    const first = withZone([], "Asia/Tokyo", "2026-11-26", at("2026-11-26T20:00Z"))
    if (first === null) throw new Error("the first change is always allowed")
    const corrected = withZone(first, "Asia/Seoul", "2026-11-26", at("2026-11-26T23:59Z"))
    expect(corrected).toEqual([{ zone: "Asia/Seoul", before: "UTC", on: "2026-11-26", since: first[0]?.since ?? 0 }])
    expect(withZone(first, "Asia/Seoul", "2026-11-27", at("2026-11-27T00:00Z"))).toBeNull()
    expect(withZone(first, "Asia/Seoul", "2026-11-30", at("2026-11-30T03:00Z"))).toBeNull()
    expect(withZone(first, "Asia/Seoul", "2026-12-01", at("2026-12-01T03:00Z"))).toHaveLength(2)
  })
})

/** Other days: those of statistics, receipts and the warranty, and the audit, which shares no code with what it checks. */
const otherDays = [
  ...["layers/audit/", "layers/usage/Facts.ts", "layers/guards/GuardStore.ts", "layers/quotes/OfferOutcomes.ts"],
  ...["layers/receipts/HeadStore.ts", "layers/runs/UnknownOutcomes.ts", "layers/postgres/schema/"]
]
const homes = ["schema/money/SpendDay.ts", "layers/postgres/SpendDay.ts"]

test("nobody else says when it resets, or casts a time to a day", () => {
  const src = join(import.meta.dir, "..", "..", "src")
  const files = Array.from(new Bun.Glob("{schema,layers,actors,http}/**/*.{ts,tsx,sql}").scanSync(src))
  const others = files.filter((file) => !homes.includes(file))
  const saying = (pattern: RegExp) =>
    others.filter((file) => pattern.test(readFileSync(join(src, file), "utf8"))).sort()
  expect(saying(/00:00 UTC|midnight,? UTC/)).toEqual(["actors/receipts/HeadWorker.ts"])
  const cast = saying(/AT TIME ZONE 'UTC'\)::date/)
  expect(cast.filter((file) => !otherDays.some((one) => file.startsWith(one)))).toEqual([])
})
