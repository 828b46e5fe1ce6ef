/** Pages of the ledger while others write it. */
import { expect, test } from "bun:test"
import { type App, type Entry, figures, startApp, type Tenant, verify } from "../kit/app.ts"

/** One walk from the newest entry to the first, page by page. */
const walk = async (org: Tenant, limit: number) => {
  const entries: Array<Entry> = []
  let pages = 0
  for (let cursor: string | null = ""; cursor !== null; pages++) {
    const { status, body } = await org.get(
      `/v1/wallet/transactions?limit=${limit}${cursor === "" ? "" : `&cursor=${cursor}`}`
    )
    expect(status).toBe(200)
    entries.push(...body.items)
    cursor = body.next_cursor
  }
  return { entries, pages }
}

const micros = (amount: string): bigint => {
  const [whole = "", fraction = ""] = amount.replace("-", "").split(".")
  const value = BigInt(whole + fraction.padEnd(6, "0"))
  return amount.startsWith("-") ? -value : value
}

/** What an entry does to the balance: reserve and release only move money within the wallet. */
const effect = ({ type, amount }: Entry) => (type === "reserve" || type === "release" ? 0n : micros(amount))

/** E7 over concatenated pages, newest first: each entry continues the one before it. */
const breaks = (entries: ReadonlyArray<Entry>) =>
  entries.filter((entry, n) => {
    const before = entries[n + 1]
    return micros(entry.balance_after) !== (before === undefined ? 0n : micros(before.balance_after)) + effect(entry)
  }).length

const writers = 50
const runsEach = 6

test("T16 transactions.paging: pages have no gap and no duplicate while 50 writers run", async () => {
  const app: App = await startApp()
  const beside = await startApp({ beside: app })
  const org = await app.tenant("100.00")
  let writing = true
  const written = Promise.all(
    Array.from({ length: writers }, async (_, w) => {
      const mine = org.over(w % 2 === 0 ? app : beside)
      for (let n = 0; n < runsEach; n++) {
        const { status } = await mine.run(verify(`w${w}.${n}`))
        expect(status).toBe(200)
      }
    })
  ).finally(() => {
    writing = false
  })
  const walks: Array<Awaited<ReturnType<typeof walk>>> = []
  const reader = async (over: App, limit: number) => {
    while (writing) walks.push(await walk(org.over(over), limit))
  }
  await Promise.all([reader(app, 7), reader(beside, 50), reader(app, 200), written])

  const all = (await walk(org, 200)).entries
  expect(all).toHaveLength(1 + 3 * writers * runsEach)
  const violations: Array<string> = []
  let duplicates = 0
  for (const { entries } of walks) {
    const ids = entries.map((one) => one.id)
    duplicates += ids.length - new Set(ids).size
    if (breaks(entries) > 0) violations.push(`E7: ${breaks(entries)} of ${entries.length}`)
    // A walk is the ledger as it was when its first page was read, up to the last entry.
    const from = all.findIndex((one) => one.id === ids[0])
    const wanted = all.slice(from).map((one) => one.id)
    if (JSON.stringify(ids) !== JSON.stringify(wanted)) violations.push(`${ids.length} entries, not ${wanted.length}`)
  }
  expect(violations).toEqual([])
  expect(duplicates).toBe(0)
  expect(breaks(all)).toBe(0)
  // Otherwise nothing was written while they walked.
  expect(new Set(walks.map(({ entries }) => entries.length)).size).toBeGreaterThan(2)
  await app.books()
  figures("T16 transactions.paging", {
    writers,
    runs: writers * runsEach,
    walks: walks.length,
    pages: walks.reduce((sum, one) => sum + one.pages, 0),
    entries: all.length,
    duplicates,
    violations: violations.length
  })
  await beside.stop()
  await app.stop()
})
