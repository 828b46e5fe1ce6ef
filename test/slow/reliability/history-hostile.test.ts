/** Whatever a provider delivers: the run settles, its subjects are found, and no other run's history waits for it. */
import { beforeAll, describe, expect, test } from "bun:test"
import { figures, type Tenant, timed, until, withApp } from "../../kit/app.ts"
import { documentOf, endpointOf } from "../../kit/provider-documents.ts"

let org: Tenant
const app = withApp()
beforeAll(async () => {
  await app.catalog(documentOf("acme", [endpointOf({ path: "/any", method: "POST", body: { type: "object" } })]))
  org = await app.tenant("100.00")
})

/** The sandbox sends back what it was asked: input and result are alike hostile. `json` goes out as it is. */
const ask = (json: string) =>
  org.post("/v1/run", undefined, { raw: `{"provider":"acme","endpoint":"/any","input":${json}}` })
const history = async (q: string, kind?: string) => {
  const query = new URLSearchParams({ q, ...(kind === undefined ? {} : { kind }) })
  const { status, body } = await org.get(`/v1/history?${query}`)
  expect(status).toBe(200)
  return body
}
const queued = async () => Number((await app.sql("SELECT count(*) AS n FROM history_queue"))[0]?.["n"])
const indexed = () => until("all are indexed", queued, (waiting) => waiting === 0)

const nested = (levels: number, inner: string) => `${'{"a":'.repeat(levels)}${inner}${"}".repeat(levels)}`
const emoji = (letters: number) =>
  `{"${"k".repeat(99)}":{"${"k".repeat(99)}":{"${"k".repeat(letters)}${"😀".repeat(20)}":`
const pages = (letter: string) =>
  Array.from({ length: 15_000 }, (_, n) => `${letter}${n.toString(36)}.co/${letter}${n.toString(36)}`).join(" ")

/** Each names its canary as a subject and as words. */
const shapes: ReadonlyArray<readonly [string, (email: string) => string]> = [
  ["100,000 numbers", (e) => `{"who":"${e}","n":[${Array.from({ length: 100_000 }, (_, n) => n).join(",")}]}`],
  ["50,000 fields", (e) => `{"who":"${e}",${Array.from({ length: 50_000 }, (_, n) => `"f${n}":${n}`).join(",")}}`],
  ["a string of 900 kB", (e) => `{"who":"${e}","page":"${"lorem ipsum ".repeat(75_000)}"}`],
  ["a word of 900 kB", (e) => `{"who":"${e}","page":"${"x".repeat(900_000)}"}`],
  ["90 levels", (e) => nested(90, `{"who":"${e}"}`)],
  ["a NUL", (e) => `{"who":"${e}","nul":"a\\u0000b"}`],
  ["a NUL in a name", (e) => `{"a\\u0000b":{"who":"${e}"}}`],
  ["lone surrogates", (e) => `{"who":"${e}","half":"\\ud83d","other":"\\ude00x"}`],
  ["a lone surrogate in a name", (e) => `{"a\\ud83d":{"who":"${e}"}}`],
  ["backslashes that look like escapes", (e) => `{"who":"${e}","path":"C:\\\\u0000\\\\ud800","nul":"\\u0000"}`],
  ["a path that is cut within a letter", (e) => `${emoji(58)}"${e}"}}}`],
  ["a path that is cut beside a letter", (e) => `${emoji(59)}"${e}"}}}`],
  [
    "3,000 addresses",
    (e) => `{"who":["${e}",${Array.from({ length: 3_000 }, (_, n) => `"p${n}@many.example"`).join(",")}]}`
  ],
  ["__proto__", (e) => `{"__proto__":{"constructor":{"who":"${e}"}},"toString":"x"}`]
]

/** Every door refuses these in a request. Older versions stored them, and so may a provider's answer. */
const refused = new Set([
  "90 levels",
  "a NUL",
  "a NUL in a name",
  "lone surrogates",
  "a lone surrogate in a name",
  "backslashes that look like escapes"
])
/** Runs by the canary that they name. */
const runs = new Map<string, string>()

describe("hostile inputs and results", () => {
  test.each(shapes)(
    "%s",
    async (name, make) => {
      const email = `canary.${Bun.hash(name).toString(36)}@hostile.example`
      if (refused.has(name)) expect((await ask(make(email))).status).toBe(400)
      const { value: answer, millis } = await timed(() => ask(refused.has(name) ? `{"who":"${email}"}` : make(email)))
      if (refused.has(name))
        await app.sql("UPDATE runs SET input = $2::text::json WHERE run_id = $1", [answer.body.run_id, make(email)])
      expect([name, answer.status, answer.body?.status]).toEqual([name, 200, "succeeded"])
      const found = await history(email)
      expect(found.items.map((item: { run_id: string }) => item.run_id)).toEqual([answer.body.run_id])
      expect(found.items[0].matched).toMatchObject({ in: "input", exact: true })
      expect(found.reusable).toHaveLength(1)
      // By its words as well, from the moment it ends.
      expect((await history(email, "text")).count).toBe(1)
      runs.set(email, answer.body.run_id)
      figures("history.hostile", { name, millis: Math.round(millis) })
    },
    60_000
  )

  test("all of them are found, by subject and by words, when they are indexed", async () => {
    await indexed()
    expect(runs.size).toBe(shapes.length)
    for (const [email, run_id] of runs) {
      for (const kind of ["email", "text"]) {
        const { items } = await history(email, kind)
        expect([email, kind, items.map((item: { run_id: string }) => item.run_id)]).toEqual([email, kind, [run_id]])
      }
    }
  })

  test("more different words than Postgres puts into one index entry", async () => {
    const { body } = await ask(`{"who":"first canary","pages":"${pages("a")}"}`)
    await indexed()
    // The sandbox sends back what it was asked: a result of other words is put in its place.
    const result = JSON.stringify({ data: { who: "second canary", pages: pages("c") } })
    await app.sql("UPDATE runs SET result = $2::text::json WHERE run_id = $1", [body.run_id, result])
    // A run is in one place: all are taken out of their segments, to be put into new ones.
    await app.sql(
      `WITH gone AS (DELETE FROM history_segments WHERE org_id = $1 RETURNING segment),
            blocks AS (DELETE FROM history_blocks WHERE segment IN (SELECT segment FROM gone)),
            docs AS (DELETE FROM history_docs WHERE segment IN (SELECT segment FROM gone)),
            classes AS (DELETE FROM history_classes WHERE segment IN (SELECT segment FROM gone))
       INSERT INTO history_queue (org_id, run_ids, counted) SELECT org_id, array_agg(run_id), true FROM runs WHERE org_id = $1 GROUP BY 1`,
      [org.org_id]
    )
    expect((await history("second canary")).count).toBe(1)
    await indexed()
    for (const phrase of ["first canary", "second canary"]) {
      const { items } = await history(phrase)
      expect([phrase, items.map((item: { run_id: string }) => item.run_id)]).toEqual([phrase, [body.run_id]])
    }
  })

  test("other runs are indexed beside them, nothing is set aside, and the books add up", async () => {
    await ask('{"note":"an ordinary canary phrase"}')
    await indexed()
    expect((await history("Ordinary CANARY phrase")).count).toBe(1)
    expect((await history("hostile.example")).count).toBe(shapes.length)
    await app.books()
    // The tests' own server is warned about: it does without fsync.
    expect(app.logs.filter((line) => /^(Error|Warn|Fatal)(?!.*"database: )/i.test(line))).toEqual([])
  })
})
