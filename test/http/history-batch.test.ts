/** POST /v1/history: one row per subject that says what GET says of it, in one statement, and no row that breaks another. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { type App, figures, oneBackend, startApp, type Tenant, timed, until } from "../kit/app.ts"
import { heldProvider, heldWord } from "../kit/held-provider.ts"
import { documentOf, endpointOf } from "../kit/provider-documents.ts"
import { faultyPostgres } from "../faults/postgres.ts"

interface Row {
  readonly query: string
  readonly kind: string | null
  readonly normalized: string | null
  readonly seen: boolean
  readonly count: number
  readonly last_seen: string | null
  readonly contacted: boolean
  readonly last_touch: object | null
  readonly last_contact: object | null
  readonly reusable: object | null
  readonly error?: { readonly code: string; readonly message: string }
}

/** A generator with a seed, so that what fails can be made again. */
const dice = (seed: number) => () => {
  seed = (seed * 1_664_525 + 1_013_904_223) >>> 0
  return seed / 2 ** 32
}

describe.each(oneBackend)("POST /v1/history, queues on %s", (backend) => {
  const held = heldProvider()
  let app: App
  let org: Tenant
  beforeAll(async () => {
    app = await startApp({ backend, held })
    await app.catalog(documentOf("acme", [endpointOf({ path: "/any", method: "POST", body: { type: "object" } })]))
    org = await app.tenant("50.00")
  })
  afterAll(async () => {
    await app.books()
    await app.stop()
  })

  const ask = async (subjects: ReadonlyArray<string>, kind?: string) => {
    const { status, body } = await org.post("/v1/history", { subjects, ...(kind === undefined ? {} : { kind }) })
    expect(status).toBe(200)
    return body as { items: ReadonlyArray<Row>; seen: number; unseen: number; contacted: number }
  }
  const single = async (q: string, kind?: string) =>
    (await org.get(`/v1/history?${new URLSearchParams({ q, ...(kind === undefined ? {} : { kind }) })}`)).body
  const raw = (input: unknown) => ({ provider: "acme", endpoint: "/any", input })
  const unseen = {
    seen: false,
    count: 0,
    last_seen: null,
    contacted: false,
    last_touch: null,
    last_contact: null,
    reusable: null
  }

  /** What GET says, as a row. */
  const rowOf = async (query: string, kind?: string) => {
    const one = await single(query, kind)
    const { subject, count, last_seen, contacted, last_touch, last_contact, last_unknown, reusable } = one
    return {
      query,
      kind: subject.kind,
      normalized: subject.normalized,
      seen: count > 0,
      count,
      last_seen,
      contacted,
      last_touch,
      last_contact,
      ...(last_unknown === undefined ? {} : { last_unknown }),
      reusable: reusable[0] ?? null
    }
  }
  const addUp = ({ items, seen, unseen, contacted }: Awaited<ReturnType<typeof ask>>) => {
    const read = items.filter((row) => row.error === undefined)
    expect([seen, unseen, contacted]).toEqual([
      read.filter((row) => row.seen).length,
      read.filter((row) => !row.seen).length,
      read.filter((row) => row.contacted).length
    ])
    for (const row of items) expect([row.seen, row.contacted]).toEqual([row.count > 0, row.last_contact !== null])
  }

  test("rows agree with GET of each subject, over runs of every kind and end", async () => {
    const roll = dice(20_261_121)
    const pick = <A>(from: ReadonlyArray<A>): A => from[Math.floor(roll() * from.length)] as A
    const people = ["ada", "bob", "cyd", "dan"]
    const domains = ["one.example", "two.example", "mail.two.example"]
    const email = () => `${pick(people)}@${pick(domains)}`
    const note = () => pick(["", "", "", " sandbox:error", " sandbox:no_match"])
    const makers: ReadonlyArray<() => Record<string, unknown>> = [
      () => ({ capability: "email.verify", input: { email: email() } }),
      () => ({
        capability: "email.find",
        input: { full_name: pick(["Ada One", "Bob Two"]), company_domain: pick(domains) }
      }),
      () => ({
        capability: "email.send",
        input: { from: "me@me.example", to: [email()], subject: "Hi", text: `about ${email()}${note()}` }
      }),
      () => ({
        capability: "network.profile",
        input: { network_url: `https://www.linkedin.com/in/${pick(people)}-l` }
      }),
      () =>
        raw({
          list: [email(), email()],
          page: `https://${pick(domains)}/team`,
          note: `${pick(people)} was here${note()}`
        }),
      () => raw({ phone: pick(["+14155550111", "+1 (415) 555-0112"]), handle: `https://x.com/${pick(people)}_x` })
    ]
    const runs = await Promise.all(Array.from({ length: 60 }, () => org.run(pick(makers)())))
    expect(new Set(runs.map((run) => run.body.status)).size).toBeGreaterThan(1)
    const subjects = [
      ...people.flatMap((who) => domains.map((domain) => `${who}@${domain}`)),
      ...domains,
      "example",
      "ONE.example",
      ...people.flatMap((who) => [
        `linkedin.com/in/${who}-l/`,
        `@${who}_x`,
        `https://twitter.com/${who}_x`,
        `${who} was here`
      ]),
      "https://one.example/team",
      "+14155550111",
      "tel:+1-415-555-0112",
      "Ada One",
      "nobody@nowhere.example",
      "never said",
      "me@me.example"
    ]
    let rows = 0
    for (const round of ["at once", "when the words are indexed"]) {
      if (round !== "at once")
        await until(
          "the words are indexed",
          () => app.sql("SELECT 1 FROM history_queue"),
          (waiting) => waiting.length === 0
        )
      const batch = await ask(subjects)
      addUp(batch)
      expect([batch.seen > 20, batch.unseen > 1, batch.contacted > 5]).toEqual([true, true, true])
      for (const [index, query] of subjects.entries()) expect(batch.items[index]).toEqual(await rowOf(query))
      // Everybody's sender, and nobody's recipient.
      expect(batch.items.at(-1)).toMatchObject({ contacted: false, last_touch: { channel: "email" } })
      rows += subjects.length
    }
    for (const kind of ["text", "domain", "url"]) {
      const batch = await ask(subjects, kind)
      addUp(batch)
      for (const row of batch.items) {
        if (row.error === undefined) expect(row).toEqual(await rowOf(row.query, kind))
        else expect((await single(row.query, kind)).error.details[0].path).toBe("query.q")
      }
      rows += subjects.length
    }
    figures("history.batch_agrees", { backend, runs: runs.length, rows })
  })

  test("a run that is under way counts, and is neither a touch nor to be reused", async () => {
    const to = "slow@batch.example"
    const sending = { from: "me@me.example", to: [to], subject: "Hi", text: `sandbox:${heldWord}` }
    const { body } = await org.run({ capability: "email.send", input: sending, async: true })
    const [row] = (await ask([to])).items
    expect(row).toMatchObject({ seen: true, count: 1, contacted: false, last_touch: null, reusable: null })
    await held.holds(1)
    held.release()
    await org.get(`/v1/runs/${body.run_id}?wait=20`)
    const [after] = (await ask([to])).items
    expect(after).toMatchObject({
      contacted: true,
      last_touch: { run_id: body.run_id, channel: "email", status: "succeeded" }
    })
  })

  test("takes 1 to 200 subjects, in their order; duplicates each get their row", async () => {
    await org.run(raw({ who: "p7@many.example" }))
    const [one] = (await ask(["p7@many.example"])).items
    expect(one).toEqual(await rowOf("p7@many.example"))
    const many = Array.from({ length: 200 }, (_, n) => `p${n % 100}@many.example`)
    await ask(many)
    const { value: batch, millis } = await timed(() => ask(many))
    expect(batch.items.map((row) => row.query)).toEqual(many)
    expect(batch.items.flatMap((row, n) => (row.seen ? [n] : []))).toEqual([7, 107])
    expect([batch.seen, batch.unseen, batch.contacted]).toEqual([2, 198, 0])
    expect(batch.items[107]).toEqual(batch.items[7])
    const forms = ["P7@MANY.example", "<p7@many.example>", "mailto:p7@many.example", "p7@many.example"]
    for (const row of (await ask(forms)).items) expect(row).toMatchObject({ normalized: "p7@many.example", count: 1 })
    figures("history.batch_200", { backend, millis: Math.round(millis) })
  })

  test("one statement finds all subjects, and all phrases share theirs", async () => {
    const many = Array.from({ length: 200 }, (_, n) => `s${n}@counted.example`)
    const wire = await faultyPostgres(app.databaseUrl)
    const front = await startApp({ role: "http", beside: app, settings: { DATABASE_URL: wire.url } })
    const statements = async (subjects: ReadonlyArray<string>) => {
      wire.arm(({ text }) => /history_blocks/.test(text) && !/INSERT|DELETE|UPDATE/.test(text), 0, "before")
      expect((await org.over(front).post("/v1/history", { subjects })).status).toBe(200)
      return wire.disarm().counted.length
    }
    expect(await statements(many.slice(0, 1))).toBe(1)
    expect(await statements(many)).toBe(1)
    expect(await statements([...many.slice(0, 190), "a phrase of words"])).toBe(2)
    expect(await statements([...many.slice(0, 190), "a phrase of words", "another phrase", "one more"])).toBe(2)
    await front.stop()
    await wire.stop()
  })

  test("what does not read gets a row with an error, and counts neither as seen nor as unseen", async () => {
    await org.run(raw({ who: "good@rows.example" }))
    const mixed = [
      "good@rows.example",
      "not an address",
      "",
      " ",
      "x".repeat(2_001),
      "rows.example",
      "new@rows.example"
    ]
    const forced = await ask(mixed, "email")
    addUp(forced)
    expect(forced.items.map((row) => row.error?.code ?? row.count)).toEqual([
      1,
      ...Array.from({ length: 5 }, () => "invalid_request"),
      0
    ])
    for (const row of forced.items.slice(1, 6)) {
      expect(row).toMatchObject({ ...unseen, kind: "email", normalized: null })
      expect(row.error?.message).toContain("can't be read as email")
    }
    expect([forced.seen, forced.unseen, forced.contacted]).toEqual([1, 1, 0])
    const detected = await ask(mixed)
    addUp(detected)
    expect(detected.items.map((row) => row.kind)).toEqual(["email", "text", null, null, null, "domain", "email"])
    for (const row of detected.items.slice(2, 5))
      expect(row).toMatchObject({ ...unseen, error: { code: "invalid_request" } })
    const [long] = (await ask([`${"a".repeat(99)}😀 is no address`], "email")).items
    expect([long?.error?.message.isWellFormed(), long?.error?.message]).toEqual([
      true,
      expect.stringContaining("can't be read as email")
    ])
    // All of them may be wrong.
    expect(await ask(["a", "b"], "phone")).toMatchObject({ seen: 0, unseen: 0, contacted: 0 })
    // null is the same as leaving it out.
    const { status, body } = await org.post("/v1/history", { subjects: ["rows.example"], kind: null })
    expect([status, body.items[0].kind, body.items[0].count]).toEqual([200, "domain", 1])
  })

  test.each([
    [{}, "subjects"],
    [{ subjects: [] }, "subjects"],
    [{ subjects: Array.from({ length: 201 }, (_, n) => `a${n}@b.example`) }, "subjects"],
    [{ subjects: "a@b.example" }, "subjects"],
    [{ subjects: null }, "subjects"],
    [{ subjects: ["a@b.example", 1] }, "subjects.1"],
    [{ subjects: ["a@b.example", null] }, "subjects.1"],
    [{ subjects: ["a@b.example"], kind: "person" }, "kind"],
    [{ subjects: ["a@b.example"], kind: 1 }, "kind"],
    [{ subjects: ["a@b.example"], limit: 5 }, "limit"]
  ])("%#: is refused, and says why", async (body, path) => {
    const answer = await org.post("/v1/history", body)
    expect([answer.status, answer.body.error.code, answer.body.error.details[0].path]).toEqual([
      400,
      "invalid_request",
      path
    ])
  })
})
