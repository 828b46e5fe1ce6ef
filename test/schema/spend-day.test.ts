/** The day that counts spending has one home: nobody else computes when it begins or ends, or says so. */
import { expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { dayAt, periodStart, resetsAt } from "../../src/schema/money/SpendDay.ts"

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
