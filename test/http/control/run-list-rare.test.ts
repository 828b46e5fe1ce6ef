/** `GET /v1/runs` by values that few runs have: the pages are those of a list that compares every run, counted or not, open or ended. */
import { beforeAll, expect, test } from "bun:test"
import { Layer } from "effect"
import { ScannedRuns } from "../../../src/layers/runs/RunList.ts"
import { type Tenant, until, verify, withApp } from "../../kit/app.ts"
import { heldProvider, rehearseHeld } from "../../kit/held-provider.ts"

interface Run {
  readonly run_id: string
  readonly status: string
  readonly capability: string | null
  readonly provider: string | null
  readonly key_id: string | null
}

/** So few runs are compared with the filters that nearly every list asks the rollups. */
const scanned = 4
const held = heldProvider()
let org: Tenant
let all: ReadonlyArray<Run> = []
const keys: Array<string> = []
const app = withApp({ held, limits: Layer.succeed(ScannedRuns, scanned) })
beforeAll(async () => {
  org = await app.tenant("20.00")
  const session = await org.session()
  const words = ["jane", "rare", "no_match", "jane", "error", "jane", "partial", "no_match", "jane", "jane"]
  for (const [index, word] of words.entries()) {
    const key = index % 4 === 1 ? await minted(session) : org.key
    const domain = word === "jane" || word === "rare" ? "example.com" : "sandbox.test"
    await app.call(key, "POST", "/v1/run", { body: verify(`${word}${word === "jane" ? index : ""}`, domain) })
  }
  await org.run({ capability: "company.enrich", input: { domain: "example.com" } })
})

const minted = async (session: string): Promise<string> => {
  const body = { name: `k${keys.length}`, environment: "test" }
  const { body: key } = await app.call(session, "POST", "/v1/api-keys", { body })
  keys.push(key.id)
  return key.api_key
}
const waiting = async () =>
  Number(
    (await app.sql("SELECT (SELECT count(*) FROM usage_queue) + (SELECT count(*) FROM history_queue) AS n"))[0]?.["n"]
  )
const listed = async (query: string, limit: number): Promise<ReadonlyArray<string>> => {
  const ids: Array<string> = []
  for (let cursor = ""; ; ) {
    const { status, body, text } = await org.list(`?limit=${limit}${query}${cursor === "" ? "" : `&cursor=${cursor}`}`)
    expect([status, status === 200 ? "" : text]).toEqual([200, ""])
    ids.push(...body.items.map(({ run_id }: Run) => run_id))
    if (body.next_cursor === null) return ids
    cursor = body.next_cursor
  }
}
const values = (name: keyof Run, none: string) => [...new Set([...all.map((run) => run[name] ?? ""), none])]

const agrees = async () => {
  all = (await org.list("?limit=200")).body.items
  let lists = 0
  for (const [name, none] of [
    ["status", "timed_out"],
    ["capability", "email.send"],
    ["provider", "nobody"],
    ["key_id", "key_nobody"]
  ] as const)
    for (const value of values(name, none)) {
      if (value === "") continue
      const expected = all.filter((run) => run[name] === value).map(({ run_id }) => run_id)
      for (const limit of [1, 2, 3, 50]) {
        expect([name, value, limit, await listed(`&${name}=${value}`, limit)]).toEqual([name, value, limit, expected])
        lists += 1
      }
    }
  return lists
}

test("runs that wait to be counted, and counted ones, are listed alike", async () => {
  expect(await agrees()).toBeGreaterThan(20)
  await until("all runs to be counted", waiting, (count) => count === 0)
  await agrees()
})

test("an open run is listed beside counted ones", async () => {
  const { body } = await org.run({ ...rehearseHeld(), async: true })
  for (const limit of [1, 50]) expect(await listed(`&capability=email.verify`, limit)).toContain(body.run_id)
  await held.holds(1)
  held.release()
  await until(
    "the run to end",
    () => org.get(`/v1/runs/${body.run_id}`),
    ({ body: run }) => run.status === "succeeded"
  )
  await agrees()
})

test("runs that are newer than the newest day of the rollups are not read", async () => {
  await app.sql(
    `UPDATE usage_days SET day = day - 40 WHERE group_id IN (SELECT group_id FROM usage_groups WHERE status = 'no_match')`
  )
  // Now the rollups say that no such run ended since. An empty list shows that they were asked, and that newer runs were not read.
  expect(await listed("&status=no_match", 50)).toEqual([])
})
