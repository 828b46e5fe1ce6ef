/** What history must never do: show another organization's runs, cost anything, or keep what was erased. */
import { beforeAll, describe, expect, test } from "bun:test"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, ManagedRuntime, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { figures, type Tenant, until, withApp } from "../../kit/app.ts"
import { heldProvider, heldWord } from "../../kit/held-provider.ts"
import { documentOf, endpointOf } from "../../kit/provider-documents.ts"
import { HistoryIndex } from "../../../src/layers/history/index/HistoryIndex.ts"
import { historyLocks } from "../../../src/layers/history/index/Locks.ts"
import { families, historySegments } from "../../../src/layers/history/index/Segments.ts"
import { subjectTerm } from "../../../src/layers/history/index/Subjects.ts"
import { docsOf } from "../../../src/schema/segments/Docs.ts"
import { decoded } from "../../../src/schema/segments/Segment.ts"
import { detect, queryKeys } from "../../../src/schema/subjects/Subject.ts"
import { phraseOf, seedOf } from "../../../src/schema/words/Term.ts"

const people = endpointOf({
  path: "/people/{who}",
  path_params: { type: "object", properties: { who: { type: "string" } }, required: ["who"] },
  query_params: { type: "object", properties: { also: { type: "string" } } }
})
const any = endpointOf({ path: "/any", method: "POST", body: { type: "object" } })

const held = heldProvider()
const app = withApp({ held })
beforeAll(async () => {
  await app.catalog(documentOf("acme", [people, any]))
})

const asked = (q: string, kind?: string) => `/v1/history?${new URLSearchParams({ q, ...(kind ? { kind } : {}) })}`
const ask = async (org: Tenant, q: string, kind?: string) => {
  const { status, body } = await org.get(asked(q, kind))
  expect(status).toBe(200)
  return body
}
const erase = (token: string, q: string, kind?: string) => app.call(token, "DELETE", asked(q, kind))
const ids = (items: ReadonlyArray<{ run_id: string }>) => items.map((item) => item.run_id)
const raw = (input: Record<string, unknown>) => ({ provider: "acme", endpoint: "/any", input })
/** What the index has of a text: a subject, or a phrase of one or two words. */
const termsOf = (org_id: string, text: string) => {
  const subject = detect(text)
  if (subject === null || subject.kind === "text")
    return { family: "words", terms: phraseOf(text, seedOf(org_id))?.terms ?? [] }
  return { family: "subjects", terms: queryKeys(subject).map((key) => subjectTerm(org_id, key)) }
}
/** Those of the texts of which the organization's segments still hold a term. */
const termsLeft = async (org_id: string, all: ReadonlyArray<string>) => {
  const rows = await app.sql(
    "SELECT s.family, s.blocks, s.runs, b.block, b.bytes FROM history_segments s JOIN history_blocks b USING (segment) WHERE s.org_id = $1",
    [org_id]
  )
  const held = new Set(
    rows.flatMap(({ family, blocks, runs, block, bytes }) =>
      bytes instanceof Uint8Array
        ? [...decoded([{ block: Number(block), bytes }], { blocks: Number(blocks), runs: Number(runs) }).terms].map(
            (term) => `${family} ${term}`
          )
        : []
    )
  )
  return all.filter((text) => {
    const { family, terms } = termsOf(org_id, text)
    return terms.some((term) => held.has(`${family} ${term}`))
  })
}
/** The runs that the organization's segments of a family say they hold. */
const runsHeld = async (org_id: string, family: string) => {
  const rows = await app.sql(
    "SELECT d.bytes FROM history_segments s JOIN history_docs d USING (segment) WHERE s.org_id = $1 AND s.family = $2",
    [org_id, family]
  )
  return rows.flatMap(({ bytes }) => (bytes instanceof Uint8Array ? docsOf(bytes).map((doc) => doc.run_id) : []))
}
/** Rows of segments that there are no longer. */
const orphans = async () => {
  const counts = ["history_blocks", "history_docs", "history_classes"].map((table) =>
    app.sql(`SELECT 1 FROM ${table} t WHERE NOT EXISTS (SELECT FROM history_segments s WHERE s.segment = t.segment)`)
  )
  return (await Promise.all(counts)).flat().length
}

const waiting = async () => Number((await app.sql("SELECT count(*) AS n FROM history_queue"))[0]?.["n"])

/** Every column of every table that holds one of these texts, in any case. */
const holding = async (canaries: ReadonlyArray<string>) => {
  const columns = await app.sql(
    `SELECT table_schema AS s, table_name AS t, column_name AS c FROM information_schema.columns
     WHERE table_schema NOT IN ('pg_catalog', 'information_schema')`
  )
  const hits: Array<string> = []
  for (const { s, t, c } of columns) {
    const found = await app.sql(
      `SELECT 1 FROM "${s}"."${t}" WHERE EXISTS (SELECT FROM unnest($1::text[]) AS n(x) WHERE position(x IN lower("${c}"::text)) > 0) LIMIT 1`,
      [canaries]
    )
    if (found.length > 0) hits.push(`${t}.${c}`)
  }
  return { columns: columns.length, hits: hits.sort() }
}

describe("another organization's history", () => {
  const subjects = [
    ["ada@shared.example", "email"],
    ["shared.example", "domain"],
    ["https://www.linkedin.com/in/ada-shared", "network"],
    ["https://shared.example/team?page=2", "url"],
    ["@ada_shared", "handle"],
    ["+14155550101", "phone"],
    ["a phrase that both share", "text"]
  ] as const
  const input = { email: "ada@shared.example", profile: subjects[2][0], page: subjects[3][0], note: subjects[6][0] }
  const told = { ...input, mention: "@ada_shared", phone: subjects[5][0] }

  test("T51 never shows: the same subjects, asked by a key and by a session, one by one and in a batch", async () => {
    const [one, two, none] = await Promise.all([app.tenant("5.00"), app.tenant("5.00"), app.tenant()])
    const runs = new Map<Tenant, ReadonlyArray<string>>()
    for (const [org, count] of [
      [one, 3],
      [two, 2]
    ] as const) {
      const answers = []
      for (let n = 0; n < count; n++) answers.push((await org.run(raw({ ...told, n }))).body.run_id)
      runs.set(org, answers.reverse())
    }
    let checks = 0
    for (const indexed of [false, true]) {
      if (indexed) await until("all is indexed", waiting, (left) => left === 0)
      for (const org of [one, two, none]) {
        const mine = runs.get(org) ?? []
        for (const token of [org.key, await org.session()]) {
          for (const [q, kind] of subjects) {
            const { body } = await app.call(token, "GET", asked(q))
            expect([body.subject.kind, ids(body.items), body.count]).toEqual([kind, [...mine], mine.length])
            expect(ids(body.reusable).every((id) => mine.includes(id))).toBe(true)
            checks += 1
          }
          const batch = await app.call(token, "POST", "/v1/history", { body: { subjects: subjects.map(([q]) => q) } })
          expect(batch.body.items.map((row: { count: number }) => row.count)).toEqual(subjects.map(() => mine.length))
          for (const row of batch.body.items) expect([...mine, undefined]).toContain(row.reusable?.run_id)
          checks += subjects.length
        }
      }
    }
    // Erased by whoever knows the subject: only what is theirs.
    const before = await Promise.all([one, two].map((org) => ask(org, "shared.example")))
    for (const [q] of subjects) {
      const { body } = await erase(await none.session(), q)
      expect([body.erased, body.in_flight]).toEqual([0, 0])
    }
    expect(await Promise.all([one, two].map((org) => ask(org, "shared.example")))).toEqual(before)
    const erased = await erase(await one.session(), "ada@shared.example")
    expect(erased.body.erased).toBe(3)
    expect(await ask(two, "shared.example")).toEqual(before[1])
    const { violations } = await app.books()
    figures("T51 history.isolation", { checks, violations: violations.length })
  })

  test("history costs nothing, touches no wallet, and asks neither balance nor guard", async () => {
    const org = await app.tenant("1.00")
    await org.run(raw({ ...told }))
    await org.post("/v1/spend-guard", { per_run_limit: "0.00", daily_limit: "0.00" })
    expect((await org.run(raw({ ...told }))).body.status).toBe("blocked")
    const broke = await app.tenant()
    const wallets = async () => [
      await app.sql("SELECT * FROM wallets ORDER BY org_id"),
      await app.sql("SELECT count(*) FROM ledger"),
      await app.sql("SELECT count(*) FROM mailbox")
    ]
    const before = await wallets()
    for (const [q] of subjects) {
      expect((await ask(org, q)).count).toBe(2)
      expect((await ask(broke, q)).count).toBe(0)
    }
    expect((await org.post("/v1/history", { subjects: subjects.map(([q]) => q) })).body.seen).toBe(subjects.length)
    expect((await erase(await org.session(), subjects[0][0])).body.erased).toBe(2)
    expect(await wallets()).toEqual(before)
    await app.books()
  })
})

describe("what was erased", () => {
  const email = "canary.ada@erased.example"
  const canaries = ["canary.ada", "canary lovelace", "erased.example", "canaryphrase", "4155550177"]
  let org: Tenant
  let session: string
  beforeAll(async () => {
    org = await app.tenant("20.00")
    session = await org.session()
  })

  test("T65 pii.logs_and_history: is in no answer, no column and no log; money and the run's end stay", async () => {
    const key = { "idempotency-key": "first" }
    const verify = { capability: "email.verify", input: { email } }
    const send = {
      from: "me@sender.example",
      to: [email],
      subject: "Hello Canary Lovelace",
      text: "a canaryphrase, call +14155550177"
    }
    const find = { capability: "email.find", input: { full_name: "Canary Ada", company_domain: "erased.example" } }
    const path = { provider: "acme", endpoint: "/people/{who}", path: { who: email }, input: {} }
    const inQuery = {
      provider: "acme",
      endpoint: "/people/{who}",
      path: { who: "nobody" },
      query: { also: email },
      input: {}
    }
    const failing = raw({ note: `sandbox:error ${email}` })
    const asked = [find, { capability: "email.send", input: send }, path, inQuery, failing]
    const [first, ...rest] = [await org.run(verify, key), ...(await Promise.all(asked.map((one) => org.run(one))))]
    const runs = [first, ...rest].map((reply) => reply?.body)
    expect(runs.map((run) => run.status)).toEqual([...Array.from({ length: 5 }, () => "succeeded"), "failed"])
    const other = await org.run({ capability: "email.verify", input: { email: "somebody@else.example" } })
    const { body: slow } = await org.run({ ...raw({ note: `sandbox:${heldWord} ${email}` }), async: true })
    await until(
      "the slow run is at its provider",
      async () => (await ask(org, email)).by_status,
      (by) => by.running === 1
    )
    await until("all is indexed", waiting, (left) => left === 0)
    expect((await holding(canaries)).hits).toContain("runs.input")
    const found = await ask(org, "erased.example")
    expect(ids(found.items)).toHaveLength(7)
    const [ledger, wallet] = await Promise.all([org.ledger(), org.wallet()])
    const ends = "SELECT run_id, status, charged, provider, finished_at FROM runs WHERE org_id = $1 ORDER BY run_id"
    const before = await app.sql(ends, [org.org_id])

    const refused = await erase(org.key, email)
    expect([refused.status, refused.body.error.code]).toEqual([403, "forbidden"])
    expect((await ask(org, email)).count).toBe(7)
    const { status, body } = await erase(session, email)
    expect([status, body]).toEqual([
      200,
      { subject: { query: email, kind: "email", normalized: email }, erased: 6, in_flight: 1 }
    ])
    // Money and the runs' ends are as they were.
    expect(await org.ledger()).toEqual(ledger)
    expect(await org.wallet()).toEqual(wallet)
    expect(await app.sql(ends, [org.org_id])).toEqual(before)

    // Nothing of a run that is under way is taken from its provider.
    await held.holds(1)
    held.release()
    const ended = await org.get(`/v1/runs/${slow.run_id}?wait=20`)
    expect(ended.body.status).toBe("succeeded")
    expect(ended.body.result.data.request.body.note).toContain(email)
    expect(ids((await ask(org, email)).items)).toEqual([slow.run_id])
    expect((await erase(session, email)).body).toMatchObject({ erased: 1, in_flight: 0 })
    for (let again = 0; again < 2; again++)
      expect((await erase(session, email)).body).toMatchObject({ erased: 0, in_flight: 0 })

    for (const run of [...runs, ended.body]) {
      const { body: shown } = await org.get(`/v1/runs/${run.run_id}`)
      expect([shown.status, shown.billing, shown.result]).toEqual([run.status, run.billing, undefined])
      expect(shown.hints).toEqual([
        expect.stringMatching(/^The input, result and metadata of this run were erased on \d{4}-\d\d-\d\d;/)
      ])
      expect(shown.error?.code).toBe(run.error?.code)
    }
    const replay = await org.run(verify, key)
    expect([replay.status, replay.body.run_id, replay.headers.get("idempotent-replay")]).toEqual([
      200,
      first?.body.run_id,
      "true"
    ])
    const texts = await Promise.all([
      org.list("?limit=200").then((reply) => reply.text),
      ...runs.map((run) => org.get(`/v1/runs/${run.run_id}`).then((reply) => reply.text)),
      Promise.resolve(replay.text)
    ])
    for (const text of texts) expect(canaries.filter((canary) => text.toLowerCase().includes(canary))).toEqual([])
    for (const q of [email, "erased.example", "Canary Lovelace", "canaryphrase", "+14155550177"])
      expect([q, (await ask(org, q)).count]).toEqual([q, 0])
    expect((await ask(org, "somebody@else.example")).items[0].run_id).toBe(other.body.run_id)

    await until("all is indexed", waiting, (left) => left === 0)
    const { columns, hits } = await holding(canaries)
    expect(hits).toEqual([])
    // Of subjects and words no term is left either, and of the runs only the one that nobody erased.
    const kept = ["else", "somebody@else.example", "else.example"]
    expect(await termsLeft(org.org_id, kept)).toEqual(kept)
    const gone = ["canary", "lovelace", "canaryphrase", "14155550177", "canary lovelace"]
    const gonePeople = [email, "erased.example", "+14155550177"]
    expect(await termsLeft(org.org_id, [...gone, ...gonePeople])).toEqual([])
    for (const family of families)
      expect([family, await runsHeld(org.org_id, family)]).toEqual([family, [other.body.run_id]])
    expect(await orphans()).toBe(0)
    const metrics = await app.metrics()
    const lines = [...app.logs, metrics].filter((text) =>
      canaries.some((canary) => text.toLowerCase().includes(canary))
    )
    expect(lines).toEqual([])
    await app.books()
    figures("T65 pii.logs_and_history", {
      runs: 7,
      columns,
      log_lines: app.logs.length,
      violations: hits.length + lines.length
    })
  })

  test.each([
    ["erasedphrase here", "text"],
    ["https://www.linkedin.com/in/erased-one", "network"],
    ["gone.example", "domain"],
    ["+14155550188", "phone"]
  ])("is found by %s, as %s", async (q, kind) => {
    const input = { profile: "uk.linkedin.com/in/Erased-One/", mail: "x@mail.gone.example", phone: "+1 415 555 0188" }
    const { body } = await org.run(raw({ ...input, note: "An ERASEDPHRASE  here, twice" }))
    const done = await erase(session, q)
    expect(done.body).toMatchObject({ subject: { kind }, erased: 1, in_flight: 0 })
    expect((await org.get(`/v1/runs/${body.run_id}`)).body.result).toBeUndefined()
    expect((await ask(org, q)).count).toBe(0)
  })

  test("is refused without a subject that reads, and to a key", async () => {
    for (const [path, place] of [
      ["/v1/history", "query.q"],
      ["/v1/history?q=", "query.q"],
      ["/v1/history?q=hello&kind=email", "query.q"],
      ["/v1/history?q=a@b.example&kind=person", "query.kind"]
    ] as const) {
      const { status, body } = await app.call(session, "DELETE", path)
      expect([path, status, body.error.details[0].path]).toEqual([path, 400, place])
    }
    expect((await erase(org.key, "a@b.example")).status).toBe(403)
  })

  test.each(["put into", "joined from"])("does not come back by what is %s segments meanwhile", async (how) => {
    const say = () => org.run(raw({ who: "late@race.example", note: "a racing canary" }))
    if (how === "joined from") await say().then(() => until("all is indexed", waiting, (left) => left === 0))
    const race = Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { index } = yield* HistoryIndex
      const segments = yield* historySegments
      const { lock } = yield* historyLocks
      // Another process's turn at the index, caught in the middle of it.
      const turn = Effect.gen(function* () {
        yield* lock([org.org_id])
        if (how === "put into") {
          yield* Effect.promise(say)
          expect(yield* index).toBeGreaterThan(0)
        } else for (const family of families) yield* segments.join(org.org_id, yield* segments.list(org.org_id, family))
        let over = false
        const erased = erase(session, "late@race.example").finally(() => {
          over = true
        })
        const locks = `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
        const waits = async () => over || Number((await app.sql(locks))[0]?.["n"]) > 0
        yield* Effect.promise(() => until("the erasure waits, or is over", waits, Boolean))
        return { erased }
      })
      return yield* sql.withTransaction(turn)
    })
    const hand = ManagedRuntime.make(
      HistoryIndex.layer.pipe(Layer.provideMerge(PgClient.layer({ url: Redacted.make(app.databaseUrl) })))
    )
    const { erased } = await hand.runPromise(race)
    await hand.dispose()
    expect((await erased).body.erased).toBe(1)
    expect((await ask(org, "racing canary")).count).toBe(0)
    expect((await ask(org, "late@race.example")).count).toBe(0)
    expect(await termsLeft(org.org_id, ["racing", "racing canary", "late@race.example", "race.example"])).toEqual([])
    expect((await holding(["racing", "race.example"])).hits).toEqual([])
    expect(await orphans()).toBe(0)
  })

  test("T62 is in no error and no log when the index itself fails", async () => {
    const secret = "canary.failing@erased.example"
    const lines = app.logs.length
    for (const table of ["history_segments", "history_docs", "history_queue"]) {
      await app.sql(`ALTER TABLE ${table} RENAME TO ${table}_away`)
      try {
        for (const answer of [
          await org.get(asked(secret, "email")),
          await org.get(asked(`"${secret}"`, "text")),
          await org.post("/v1/history", { subjects: [secret, `phrase ${secret}`] }),
          await erase(session, secret, "email"),
          await erase(session, `phrase ${secret}`, "text")
        ]) {
          expect([200, 500]).toContain(answer.status)
          if (answer.status === 500) expect(answer.body.error.code).toBe("internal_error")
          expect(answer.text).not.toMatch(/SELECT|relation|\.ts:/)
        }
      } finally {
        await app.sql(`ALTER TABLE ${table}_away RENAME TO ${table}`)
      }
    }
    const said = app.logs.slice(lines)
    expect(said.length).toBeGreaterThan(0)
    expect(said.filter((line) => /canary/i.test(line))).toEqual([])
    expect((await ask(org, secret)).count).toBe(0)
  })
})

test("an answer has at most 8 MiB of inputs, and says that more runs match", async () => {
  const org = await app.tenant("20.00")
  const made: Array<string> = []
  for (let n = 0; n < 3; n++) {
    const { status, body } = await org.run(raw({ email: "long@example.com", n }))
    expect(status).toBe(200)
    made.unshift(body.run_id)
  }
  await app.sql(
    `UPDATE runs SET input = json_build_object('email', 'long@example.com', 'text', repeat('x', 3500000)) WHERE org_id = $1`,
    [org.org_id]
  )
  const { items, count, truncated, hints } = await ask(org, "long@example.com")
  expect([ids(items), count, truncated]).toEqual([made.slice(0, 2), 3, true])
  expect(hints).toContainEqual(expect.stringContaining("Only the newest 2 are shown, because their inputs fill"))
})
