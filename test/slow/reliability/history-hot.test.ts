/**
 * Subjects that thousands of runs name, spread over many segments of the index: what is answered is what reading every run would give, whatever
 * happens to the runs meanwhile. Where each subject stands is known here because the runs are made here; everything else is read from them.
 */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, ManagedRuntime, Redacted } from "effect"
import { HistoryIndex } from "../../../src/layers/history/index/HistoryIndex.ts"
import { channels, conclude } from "../../../src/schema/runs/History.ts"
import { makeId } from "../../../src/schema/Ids.ts"
import { usd } from "../../../src/schema/money/Money.ts"
import { type App, figures, startApp, type Tenant, until } from "../../kit/app.ts"
import { heldProvider, heldWord } from "../../kit/held-provider.ts"

interface Place {
  readonly matched: { readonly in: "input" | "result"; readonly path: string; readonly exact: boolean }
  /** The run is about it: a lookup of it can be read again. */
  readonly named: boolean
  /** A touch went there. */
  readonly to: boolean
}
type About = ReadonlyArray<readonly [q: string, place: Place]>
type Row = Record<string, any>

const domain = "sandbox.test"
const ada = `ada@${domain}`
const phrase = "quarterly forecast"
const page = "https://x.com/ada_two"
const mention = "@ada_two"
const elsewhere = "https://www.instagram.com/ada_two"
const hot = [domain, ada, phrase, page, mention, elsewhere]
const people = 400
const person = (n: number) => `p${n % people}@${domain}`

const input = (path: string, exact: boolean, more: Partial<Place> = {}): Place => ({
  matched: { in: "input", path, exact },
  named: exact,
  to: false,
  ...more
})
const mailTo = (email: string, text: string) => ({ from: "me@sender.example", to: [email], subject: "Hi", text })
const found = (email: string, path: string): About => [
  [email, input(path, true)],
  [domain, input(path, false)]
]
/** What comes up again and again: a third names Ada, almost all something on the domain. */
const shapes: ReadonlyArray<(n: number) => { readonly run: Row; readonly about: About }> = [
  (n) => ({ run: { capability: "email.verify", input: { email: person(n) } }, about: found(person(n), "email") }),
  () => ({ run: { capability: "email.verify", input: { email: ada } }, about: found(ada, "email") }),
  () => ({
    run: { capability: "email.send", input: mailTo(ada, "The quarterly forecast is here.") },
    about: [
      [ada, input("to[0]", true, { to: true })],
      [domain, input("to[0]", false, { to: true })],
      [phrase, input("text", false, { named: true })]
    ]
  }),
  () => ({
    run: { capability: "email.send", input: mailTo("bob@two.example", `Ask ada@${domain} about it`) },
    about: [ada, domain].map((q) => [q, input("text", false)])
  }),
  () => ({
    run: { capability: "company.enrich", input: { domain } },
    about: [[domain, input("domain", true)]]
  }),
  (n) => ({
    run: { capability: "people.enrich", input: { network_url: `linkedin.com/in/p-${n}` }, result: { email: ada } },
    about: [
      [ada, { matched: { in: "result", path: "email", exact: true }, named: false, to: false }],
      [domain, { matched: { in: "result", path: "email", exact: false }, named: false, to: false }]
    ]
  }),
  () => ({ run: { endpoint: "/people/{who}", provider: "acme", input: { who: ada } }, about: found(ada, "who") }),
  // A raw call of somebody who sends: it may have sent, and is no lookup.
  (n) => ({
    run: { endpoint: "/emails", provider: "resend", input: { who: person(n) } },
    about: found(person(n), "who")
  }),
  () => ({
    run: { capability: "web.search", input: { query: "the Quarterly\nForecast of all" } },
    about: [[phrase, input("query", false, { named: true })]]
  }),
  () => ({
    run: { capability: "social.profile", input: { profile: page } },
    about: [page, mention].map((q) => [q, input("profile", true)])
  }),
  () => ({
    run: { capability: "network.message", input: { text: "Hello", mention } },
    about: [
      [mention, input("mention", true)],
      [page, input("mention", false)],
      [elsewhere, input("mention", false)]
    ]
  }),
  () => ({
    run: { capability: "social.profile", input: { profile: page, mention } },
    about: [
      [mention, input("profile", true)],
      [page, input("profile", true)],
      [elsewhere, input("mention", false)]
    ]
  })
]

let app: App
let org: Tenant
let other: Tenant
/** Another process's hand at the index: these tests say when. */
let hand: ManagedRuntime.ManagedRuntime<HistoryIndex, unknown>
const known = new Map<string, ReadonlyMap<string, Place>>()
const dayMillis = 86_400_000
let made = 0
/** The same every time, and as good as by chance. */
const luck = () => ((Math.imul(++made, 2_654_435_761) >>> 0) % 10_007) / 10_007

const statusOf = (n: number) =>
  n % 7 === 0 ? "failed" : n % 11 === 0 ? "no_match" : n % 13 === 0 ? "timed_out" : "succeeded"

/** Runs of so many days ago, as if they had ended just now. */
const put = async (tenant: Tenant, count: number, days: () => number, state: "ended" | "open" = "ended") => {
  const runs = Array.from({ length: count }, () => {
    const millis = Math.floor(Date.now() - days() * dayMillis)
    const n = made
    const status = state === "open" ? "created" : statusOf(n)
    const shape = shapes[(n >> 3) % shapes.length]
    if (shape === undefined) throw new Error("no shape")
    const { run, about } = shape(n)
    const run_id = makeId("run", millis)
    const all = status === "succeeded" ? about : about.filter(([, { matched }]) => matched.in === "input")
    known.set(run_id, new Map(all))
    const charged = status === "succeeded" ? (n % 5 === 0 ? 0 : 1_000 + (n % 97) * 10) : null
    const { endpoint = null, capability = null, provider = "apollo" } = run
    const result = status === "succeeded" && run["result"] !== undefined ? JSON.stringify(run["result"]) : null
    const at = new Date(millis).toISOString()
    return { run_id, status, charged, endpoint, capability, provider, at, result, input: JSON.stringify(run["input"]) }
  })
  const wait =
    state === "ended"
      ? "history_queue (org_id, run_ids) SELECT org_id, array_agg(run_id)"
      : "open_runs (org_id, run_id, hold, state, side_effect, worker_id, lease_token) SELECT org_id, unnest(array_agg(run_id)), 0, 'running', false, 'wrk_other', 'lease'"
  await app.sql(
    `WITH made AS (
       INSERT INTO runs (org_id, run_id, request_id, fingerprint, kind, capability, endpoint, provider, status, hold, quoted, charged, input, plan,
                         result, routing_reason, attempts, created_at, finished_at)
       SELECT $1, run_id, 'req', '', CASE WHEN capability IS NULL THEN 'endpoint' ELSE 'capability' END, capability, endpoint, provider, status,
              9000, 9000, charged, input::json, '{}', result::json, '', '[]', at::timestamptz, CASE WHEN status <> 'created' THEN now() END
       FROM json_to_recordset($2) AS n(run_id text, status text, charged bigint, endpoint text, capability text, provider text, at text,
                                       result text, input text) RETURNING org_id, run_id
     ) INSERT INTO ${wait} FROM made GROUP BY org_id`,
    [tenant.org_id, JSON.stringify(runs)]
  )
  return runs.map((run) => run.run_id)
}

/** A step of the index, until nothing waits. */
const indexed = () =>
  until(
    "nothing waits",
    async () => {
      await hand.runPromise(Effect.flatMap(HistoryIndex, (index) => index.index))
      return Number((await app.sql("SELECT count(*) AS n FROM history_queue"))[0]?.["n"])
    },
    (left) => left === 0
  )

/** What there is: subjects and words each. */
const segments = async (org_id: string) =>
  app.sql(
    `SELECT family, count(*)::int AS segments, sum(runs)::int AS runs, max(runs) AS largest FROM history_segments WHERE org_id = $1
     GROUP BY 1 ORDER BY 1`,
    [org_id]
  )

const anywhen = () => luck() * 365
const lately = () => luck() * 20
const longAgo = () => 300 + luck() * 65

beforeAll(async () => {
  app = await startApp({ held: heldProvider() })
  hand = ManagedRuntime.make(
    HistoryIndex.layer.pipe(Layer.provide(PgClient.layer({ url: Redacted.make(app.databaseUrl) })))
  )
  org = await app.tenant("20.00")
  other = await app.tenant("1.00")
  await app.sql("INSERT INTO workers (worker_id, expires_at) VALUES ('wrk_other', now() + interval '1 day')")
  // Sixteen of a size are joined; what comes later stands beside that, and ids of all lie among each other.
  for (let batch = 0; batch < 16; batch++) {
    const days = [anywhen, lately, longAgo, anywhen][batch % 4] ?? anywhen
    await put(org, 300, days)
    await put(other, 40, days)
    await indexed()
  }
  for (const [count, days] of [
    [1_100, anywhen],
    [40, longAgo],
    [5, lately],
    [3, longAgo]
  ] as const) {
    await put(org, count, days)
    await put(other, 5, anywhen)
    await indexed()
  }
})
afterAll(async () => {
  await hand.dispose()
  await app.stop()
})

const get = async (q: string, limit = 200, by = org) => {
  const { status, body } = await by.get(`/v1/history?limit=${limit}&q=${encodeURIComponent(q)}`)
  expect([q, status]).toEqual([q, 200])
  return body
}
const counted = (names: ReadonlyArray<string>) =>
  Object.fromEntries(
    Map.groupBy(names, (name) => name)
      .entries()
      .map(([name, all]) => [name, all.length])
  )

/** Every run of an organization, read from where runs are kept; the newest first. */
const runsOf = async ({ org_id }: Tenant): Promise<ReadonlyArray<Row>> =>
  app.sql(
    `SELECT r.run_id, coalesce(o.state, r.status) AS status, r.kind, r.capability, r.endpoint, CASE WHEN r.status = 'succeeded' THEN r.provider END AS provider, r.charged, r.created_at, r.input
     FROM runs r LEFT JOIN open_runs o USING (run_id) WHERE r.org_id = $1 AND r.erased_at IS NULL ORDER BY r.run_id DESC`,
    [org_id]
  )

const final = new Set(["succeeded", "no_match", "failed", "timed_out", "blocked", "cancelled"])

/** What reading every run gives; all but `subject`. */
const read = (runs: ReadonlyArray<Row>, q: string, limit: number): Row => {
  const all = runs.flatMap((run) => {
    const place = known.get(run["run_id"])?.get(q)
    return place === undefined ? [] : [{ run, ...place, created_at: run["created_at"].toISOString() }]
  })
  type One = (typeof all)[number]
  const touch = (one: One | undefined) =>
    one === undefined
      ? null
      : {
          ...{ run_id: one.run["run_id"], capability: one.run["capability"], channel: channels[one.run["capability"]] },
          ...{ status: one.run["status"], created_at: one.created_at }
        }
  const touches = all.filter(({ run }) => Object.hasOwn(channels, run["capability"] ?? ""))
  const done = touches.filter(({ run }) => run["status"] === "succeeded")
  const [last_touch, last_contact] = [touch(done[0]), touch(done.find((one) => one.to))]
  const bought = ({ run: { run_id, capability, endpoint, provider, charged }, created_at }: One) => ({
    ...{ run_id, capability, endpoint, provider, charged: usd(BigInt(charged)), created_at }
  })
  const isLookup = ({ run }: One) =>
    run["status"] === "succeeded" &&
    Number(run["charged"]) > 0 &&
    !Object.hasOwn(channels, run["capability"] ?? "") &&
    run["provider"] !== "resend"
  const reusable = all
    .filter((one) => one.named && isLookup(one))
    .slice(0, 50)
    .map(bought)
  const [returned] = all
    .slice(0, limit)
    .filter((one) => one.matched.in === "result" && one.matched.exact && isLookup(one))
  const returned_by = returned === undefined ? null : bought(returned)
  const items = all.slice(0, limit).map(({ run, created_at, matched }) => ({
    ...{ ...run, created_at, matched },
    charged: run["charged"] === null ? null : usd(BigInt(run["charged"]))
  }))
  const [count, truncated] = [all.length, all.length > limit]
  const over = touches.filter(({ run }) => final.has(run["status"]) && run["status"] !== "succeeded")
  const in_flight = all.filter(({ run }) => !final.has(run["status"])).length
  const concluded = { count, truncated, limit, last_touch, last_contact, in_flight, failed_touches: over.length }
  return {
    items,
    touches: touches.filter((one) => all.indexOf(one) < limit).map(touch),
    ...{ last_touch, contacted: last_contact !== null, last_contact, reusable, count },
    by_status: counted(all.map(({ run }) => run["status"])),
    by_capability: counted(all.map(({ run }) => run["capability"] ?? run["endpoint"])),
    charged: usd(all.reduce((sum, { run }) => sum + BigInt(run["charged"] ?? 0), 0n)),
    ...{
      currency: "USD",
      first_seen: all.at(-1)?.created_at ?? null,
      last_seen: all[0]?.created_at ?? null,
      truncated
    },
    hints: conclude({ ...concluded, reusable: reusable[0] ?? null, returned_by } as Parameters<typeof conclude>[0])
  }
}

/** What a batch has to say of what GET says. */
const rowOf = ({ count, last_seen, contacted, last_touch, last_contact, reusable }: Row) => ({
  ...{ seen: count > 0, count, last_seen, contacted, last_touch, last_contact, reusable: reusable[0] ?? null }
})

/** Asks for each, as one and in a batch, and compares with what the runs say. */
const compare = async (by: Tenant, asked: ReadonlyArray<string>, limits: ReadonlyArray<number>) => {
  const runs = await runsOf(by)
  for (const limit of limits)
    await Promise.all(
      asked.map(async (q) => {
        const { subject, ...view } = await get(q, limit, by)
        expect(subject.query).toBe(q)
        expect(view).toEqual(read(runs, q, limit))
      })
    )
  const { body } = await by.post("/v1/history", { subjects: asked })
  for (const item of body.items) expect(item).toMatchObject(rowOf(read(runs, item.query, 1)))
  return read(runs, domain, 1)["count"]
}

test("a subject in thousands of runs is answered as if every run had been read", async () => {
  // How many segments there are depends on how many runs had ended when the index looked.
  const found = await segments(org.org_id)
  expect(found.map(({ family, runs }) => [family, runs])).toEqual([
    ["subjects", 5_948],
    ["words", 5_948]
  ])
  expect(found.every(({ segments: count }) => Number(count) > 1)).toBe(true)
  const matches = await compare(org, [...hot, person(0), person(8), "nobody@sandbox.test"], [1, 50, 200])
  figures("history.hot", { runs: 5_948, matches, segments: Number(found[0]?.["segments"]) })
})

test("each organization is answered from its own runs", async () => {
  expect(await compare(other, [...hot, person(8)], [200])).toBeGreaterThan(200)
  const stranger = await app.tenant()
  for (const q of hot) expect([q, (await get(q, 200, stranger)).count]).toEqual([q, 0])
})

test("a handle is asked for by two keys: a run that has both counts once", async () => {
  const runs = await runsOf(org)
  const counts = async () => Promise.all([page, mention, elsewhere].map(async (q) => (await get(q)).count))
  const [one = 0, two = 0, three = 0] = await counts()
  const both = runs.filter(({ input }) => input.profile !== undefined && input.mention !== undefined).length
  const either = runs.filter(({ input }) => input.profile !== undefined || input.mention !== undefined).length
  expect([both > 300, one, two]).toEqual([true, either, either])
  expect(three).toBe(runs.filter(({ input }) => input.mention !== undefined).length)
})

test("runs that are under way count, new ones and one of long ago, and again when they have ended", async () => {
  const before = await get(domain)
  const slow = await Promise.all(
    Array.from({ length: 3 }, async () => {
      const { body } = await org.run({
        capability: "email.verify",
        input: { email: `${heldWord}@${domain}` },
        async: true
      })
      known.set(body.run_id, new Map(found(`${heldWord}@${domain}`, "email")))
      return String(body.run_id)
    })
  )
  const open = await put(org, 24, anywhen, "open")
  // As many have ended, and no segment has them yet.
  const ended = await put(org, 300, anywhen)
  await until(
    "they are under way",
    async () =>
      (await runsOf(org)).filter(({ run_id, status }) => slow.includes(run_id) && status === "running").length,
    (count) => count === slow.length
  )
  const asked = [...hot, `${heldWord}@${domain}`, person(8)]
  const matches = await compare(org, asked, [200])
  expect(matches).toBeGreaterThan(before.count + slow.length)
  await indexed()
  expect(await compare(org, asked, [200])).toBe(matches)
  // Those of long ago end at last: they come into a segment of their own, between the ids of all others.
  await app.sql("UPDATE runs SET status = 'failed', finished_at = now() WHERE run_id = ANY($1)", [open])
  await app.sql("DELETE FROM open_runs WHERE run_id = ANY($1)", [open])
  await app.sql("INSERT INTO history_queue (org_id, run_ids) VALUES ($1, $2::text[])", [org.org_id, open])
  await compare(org, asked, [200])
  await indexed()
  expect(await compare(org, asked, [200])).toBe(matches)
  figures("history.hot_under_way", { open: open.length + slow.length, ended: ended.length })
})

test("two hundred subjects: each row says what GET says, and both what the runs say", async () => {
  const subjects = [...hot, ...Array.from({ length: 200 - hot.length }, (_, n) => person(n * 2))]
  const { body } = await org.post("/v1/history", { subjects })
  expect([body.items.length, body.seen > 150]).toEqual([200, true])
  const runs = await runsOf(org)
  for (let at = 0; at < subjects.length; at += 20)
    await Promise.all(
      subjects.slice(at, at + 20).map(async (query, n) => {
        const { subject, ...view } = await get(query, 1)
        expect(body.items[at + n]).toEqual({ ...subject, ...rowOf(view) })
        expect(view).toEqual(read(runs, query, 1))
      })
    )
})

test("what is erased is out of every segment at once, a person's few runs and one's in thousands", async () => {
  const session = await org.session()
  const erase = async (q: string) => {
    const runs = await runsOf(org)
    const due = runs.filter(({ run_id, status }) => known.get(run_id)?.has(q) && final.has(status))
    const { body } = await app.call(session, "DELETE", `/v1/history?q=${encodeURIComponent(q)}`)
    expect(body).toMatchObject({ erased: due.length })
    return due.length
  }
  const few = await erase(person(8))
  await compare(org, [...hot, person(8)], [200])
  const theirs = await get(ada, 200, other)
  const many = await erase(ada)
  expect([few > 0, many > 2_000]).toEqual([true, true])
  expect((await get(ada)).count).toBe(0)
  await compare(org, [...hot, person(16), `${heldWord}@${domain}`], [20, 200])
  expect(await get(ada, 200, other)).toEqual(theirs)
  figures("history.hot_erased", { few, many })
})
