/** GET /v1/history as an agent sees it: what is known of one subject, word for word as the specification says. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { type App, oneBackend, startApp, type Tenant, until } from "../../kit/app.ts"
import { heldProvider, heldWord } from "../../kit/held-provider.ts"
import { documentOf, endpointOf } from "../../kit/provider-documents.ts"

const text = { type: "string" }
const any = { type: "object" }
const people = endpointOf({
  path: "/people/{who}",
  path_params: { type: "object", properties: { who: text }, required: ["who"] },
  query_params: { type: "object", properties: { also: text } }
})
const search = endpointOf({ path: "/search", method: "POST", body: any })
const free = endpointOf({
  path: "/filings",
  method: "POST",
  body: any,
  cost: { model: "free", estimate: "0.00", note: null }
})

describe.each(oneBackend)("GET /v1/history, queues on %s", (backend) => {
  const held = heldProvider()
  let app: App
  let org: Tenant
  beforeAll(async () => {
    app = await startApp({ backend, held, settings: { RUNGATE_CONCURRENCY: "2" } })
    await app.catalog(documentOf("acme", [people, search]))
    await app.catalog(documentOf("sec_edgar", [free]))
    await app.catalog(documentOf("resend", [search]))
    org = await app.tenant("20.00")
  })
  afterAll(async () => {
    await app.books()
    await app.stop()
  })

  const asked = (q: string, more: Record<string, string> = {}) => `/v1/history?${new URLSearchParams({ q, ...more })}`
  const view = async (q: string, more: Record<string, string> = {}) => {
    const { status, body } = await org.get(asked(q, more))
    expect([q, status]).toEqual([q, 200])
    return body
  }
  const ids = (items: ReadonlyArray<{ run_id: string }>) => items.map((item) => item.run_id)
  const ran = async (body: Record<string, unknown>) => (await org.run(body)).body
  const raw = (input: unknown) => ({ provider: "acme", endpoint: "/search", input })
  const verify = (email: string) => ({ capability: "email.verify", input: { email } })
  const send = (to: string, note: string) => ({
    capability: "email.send",
    input: { from: "me@sender.example", to: [to], subject: "Hello", text: note }
  })
  const state = (run_id: string, wanted: string) =>
    until(
      `the run is ${wanted}`,
      async () => (await org.get(`/v1/runs/${run_id}`)).body.status,
      (status) => status === wanted
    )

  test("an e-mail that was found, verified, and written to: the whole view", async () => {
    const email = "grace.hopper@golden.example"
    const found = await ran({
      capability: "email.find",
      input: { full_name: "Grace Hopper", company_domain: "golden.example" }
    })
    expect(found.result.email).toBe(email)
    const verified = await ran(verify("Grace.Hopper@GOLDEN.example"))
    const missed = await ran(send(email, "sandbox:error"))
    const sent = await ran(send(email.toUpperCase(), "hello"))
    const slow = (await org.run({ ...send(email, `sandbox:${heldWord}`), async: true })).body
    await state(slow.run_id, "running")
    const body = await view(`<mailto:${email}>`)
    const touch = (run: { run_id: string; created_at: string }, status: string) => ({
      run_id: run.run_id,
      capability: "email.send",
      channel: "email",
      status,
      created_at: run.created_at
    })
    const item = (
      run: Record<string, any>,
      status: string,
      capability: string,
      charged: string | null,
      matched: object
    ) => ({
      run_id: run["run_id"],
      status,
      kind: "capability",
      capability,
      endpoint: null,
      provider: run["provider"],
      charged,
      created_at: run["created_at"],
      input: expect.any(Object),
      matched
    })
    const inInput = (path: string) => ({ in: "input", path, exact: true })
    const charged = verified.billing.charged
    expect(body).toEqual({
      subject: { query: `<mailto:${email}>`, kind: "email", normalized: email },
      items: [
        item(slow, "running", "email.send", null, inInput("to[0]")),
        item(sent, "succeeded", "email.send", sent.billing.charged, inInput("to[0]")),
        item(missed, "failed", "email.send", null, inInput("to[0]")),
        item(verified, "succeeded", "email.verify", charged, inInput("email")),
        item(found, "succeeded", "email.find", found.billing.charged, { in: "result", path: "email", exact: true })
      ],
      touches: [touch(slow, "running"), touch(sent, "succeeded"), touch(missed, "failed")],
      last_touch: touch(sent, "succeeded"),
      contacted: true,
      last_contact: touch(sent, "succeeded"),
      // Not the one that found it: its input did not name it. Not those that sent: they did not look anything up.
      reusable: [
        {
          run_id: verified.run_id,
          capability: "email.verify",
          endpoint: null,
          provider: verified.provider,
          created_at: verified.created_at,
          charged
        }
      ],
      count: 5,
      by_status: { running: 1, succeeded: 3, failed: 1 },
      by_capability: { "email.send": 3, "email.verify": 1, "email.find": 1 },
      charged: expect.stringMatching(/^0\.\d+$/),
      currency: "USD",
      first_seen: found.created_at,
      last_seen: slow.created_at,
      truncated: false,
      hints: [
        expect.stringMatching(new RegExp(`^Already contacted: email\\.send succeeded on .*${sent.run_id}`)),
        expect.stringMatching(new RegExp(`^Already bought: email\\.verify on .*${verified.run_id}`)),
        expect.stringMatching(
          new RegExp(
            `^Already bought: email\\.find returned this subject on .* for \\$${found.billing.charged}\\. .*${found.run_id}`
          )
        ),
        expect.stringMatching(/^1 run is still under way/)
      ]
    })
    expect(body.items[3].input).toEqual({ email: "Grace.Hopper@GOLDEN.example" })
    const micros = (usd: string) => Math.round(Number(usd) * 1e6)
    expect(micros(body.charged)).toBe(
      [found, verified, sent].reduce((sum, run) => sum + micros(run.billing.charged), 0)
    )
    // A page of one: the summary is of all, and the touch that succeeded lies beyond it.
    const one = await view(email, { limit: "1" })
    expect([ids(one.items), ids(one.touches), one.truncated, one.count]).toEqual([
      [slow.run_id],
      [slow.run_id],
      true,
      5
    ])
    const { items: _items, touches: _touches, truncated: _truncated, hints: _hints, subject: _subject, ...rest } = body
    expect(one).toMatchObject(rest)
    expect(one.hints).toContainEqual(expect.stringMatching(/^Only the newest 1 are shown/))
    for (const [limit, truncated] of [
      ["4", true],
      ["5", false],
      ["6", false],
      ["200", false]
    ] as const)
      expect([limit, (await view(email, { limit })).truncated]).toEqual([limit, truncated])
    // Ended: right in that moment.
    held.release()
    await org.get(`/v1/runs/${slow.run_id}?wait=20`)
    const after = await view(email)
    expect([after.by_status, after.last_touch.run_id]).toEqual([{ succeeded: 4, failed: 1 }, slow.run_id])
  })

  test("contacted is whom a touch went to, not who sent it or is mentioned, also when that came later", async () => {
    const write = (input: Record<string, unknown>) =>
      ran({ capability: "email.send", input: { from: "boss@office.example", subject: "Hi", ...input } })
    // Whatever comes first, and even where another place names the domain itself.
    const sent = await write({
      subject: "acme.example",
      text: "https://acme.example, ask guide@other.example of https://other.example/x about @ghost_writer",
      tags: { company: "acme.example" },
      to: ["reached@acme.example"],
      cc: ["copied@acme.example"],
      bcc: "hidden@acme.example".split(" ")
    })
    const missed = await write({ text: "sandbox:rate_limited", to: "missed@acme.example" })
    const later = await write({ text: "reached@acme.example and missed@acme.example said no", to: "else@else.example" })
    const invited = await ran({
      capability: "network.invite",
      input: {
        message: "linkedin.com/in/her-friend says hello",
        network_url: "https://www.linkedin.com/in/reached-too"
      }
    })
    expect([sent, missed, later, invited].map((run) => run.status)).toEqual([
      ...["succeeded", "failed", "succeeded", "succeeded"]
    ])
    const contacts = [
      ["reached@acme.example", sent, later],
      ["copied@acme.example", sent, sent],
      ["hidden@acme.example", sent, sent],
      ["acme.example", sent, later],
      ["linkedin.com/in/reached-too", invited, invited],
      ["else@else.example", later, later],
      ["missed@acme.example", null, later],
      ["boss@office.example", null, later],
      ["office.example", null, later],
      ["guide@other.example", null, sent],
      ["other.example", null, sent],
      ["@ghost_writer", null, sent],
      ["linkedin.com/in/her-friend", null, invited]
    ] as const
    const rows = (await org.post("/v1/history", { subjects: contacts.map(([q]) => q) })).body
    for (const [index, [q, contact, touched]] of contacts.entries()) {
      const body = await view(q, { limit: "1" })
      const found = ({ contacted, last_contact, last_touch }: typeof body) => [
        ...[q, contacted, last_contact?.run_id ?? null, last_touch?.run_id ?? null]
      ]
      expect(found(body)).toEqual([q, contact !== null, contact?.run_id ?? null, touched.run_id])
      expect(found(rows.items[index])).toEqual(found(body))
      const told =
        contact === null ? `Mentioned but not contacted: .*${touched.run_id}` : `Already contacted: .*${contact.run_id}`
      expect(body.hints[0]).toMatch(new RegExp(`^${told}`))
    }
    expect(rows.contacted).toBe(6)
    expect((await view("missed@acme.example")).hints[1]).toMatch(/^Never reached: 1 outbound run/)
    // Words are judged alike: only where they stand among the recipients was somebody written to.
    const words = ["reached@acme.example", "said no", "boss@office.example"]
    const told = (await org.post("/v1/history", { subjects: words, kind: "text" })).body.items
    expect(told.map((row: { contacted: boolean }) => row.contacted)).toEqual([true, false, false])
    for (const [index, q] of words.entries()) {
      const { last_contact, last_touch } = await view(q, { kind: "text" })
      expect(told[index]).toMatchObject({ last_contact, last_touch })
    }
  })

  test("a domain over e-mails and URLs; what only lies on it is not reusable by its name", async () => {
    const mail = await ran(verify("a@mail.wide.example"))
    const page = await ran(raw({ page: "https://www.wide.example/pricing?utm_source=x" }))
    const self = await ran(raw({ site: "WIDE.example" }))
    const text_ = await ran(raw({ note: "see http://docs.wide.example/start." }))
    await ran(raw({ page: "https://notwide.example", mail: "a@wide.example.evil.test" }))
    const body = await view("https://wide.example/")
    expect(body.subject).toMatchObject({ kind: "domain", normalized: "wide.example" })
    expect(body.items.map((item: { run_id: string; matched: object }) => [item.run_id, item.matched])).toEqual([
      [text_.run_id, { in: "input", path: "note", exact: false }],
      [self.run_id, { in: "input", path: "site", exact: true }],
      [page.run_id, { in: "input", path: "page", exact: false }],
      [mail.run_id, { in: "input", path: "email", exact: false }]
    ])
    expect(ids(body.reusable)).toEqual([self.run_id])
    expect(body.by_capability).toEqual({ "/search": 3, "email.verify": 1 })
    expect(body.items[1]).toMatchObject({
      kind: "endpoint",
      capability: null,
      endpoint: "/search",
      provider: "acme",
      charged: "0.02"
    })
    // The other way round: an e-mail's question does not match its domain.
    expect((await view("b@wide.example")).count).toBe(0)
    expect((await view("wide.example", { kind: "email" }).catch(() => null)) ?? "400").toBe("400")
  })

  test.each([
    [
      "network",
      "https://www.linkedin.com/in/ada-form/",
      [
        "https://uk.linkedin.com/in/Ada-Form?trk=x",
        "linkedin.com/in/ada%2Dform",
        "http://m.linkedin.com/in/ada-form#about"
      ]
    ],
    ["handle", "https://x.com/ada_handle", ["https://twitter.com/Ada_Handle/", "mobile.twitter.com/ada_handle?s=20"]],
    ["phone", "+1 (415) 555-0123", ["tel:+14155550123", "0014155550123"]],
    [
      "url",
      "https://pages.example/team?b=2&a=1",
      ["http://www.pages.example/team/?a=1&b=2&utm_medium=mail#top", "pages.example/team?a=1&b=2"]
    ],
    ["text", "The quick brown fox", ["the  QUICK brown\tfox", "“The quick brown fox”"]]
  ])("a %s in every form", async (kind, written, forms) => {
    const run = await ran(raw({ deep: [{ value: `${written}` }] }))
    for (const q of [written, ...forms]) {
      const body = await view(q)
      expect([q, body.subject.kind, ids(body.items)]).toEqual([q, kind, [run.run_id]])
      expect(body.items[0].matched).toEqual({ in: "input", path: "deep[0].value", exact: true })
      expect(ids(body.reusable)).toEqual([run.run_id])
    }
  })

  test("reusable are only lookups that succeeded, cost something, and were about it", async () => {
    const who = "judge@reuse.example"
    const bought = await ran(raw({ who }))
    await ran(raw({ who, note: "sandbox:error" }))
    await ran({ provider: "sec_edgar", endpoint: "/filings", input: { who } })
    await ran(raw({ who, note: "sandbox:no_match" }))
    await ran(send(who, "hello"))
    // A raw call of somebody who sends may have sent.
    await ran({ provider: "resend", endpoint: "/search", input: { who } })
    await ran(raw({ note: `a long letter that mentions ${who} somewhere` }))
    const body = await view(who)
    expect([body.count, ids(body.reusable)]).toEqual([7, [bought.run_id]])
  })

  test("a raw run is found by its body, its path and its query, and by its provider's payload", async () => {
    const inPath = await ran({
      provider: "acme",
      endpoint: "/people/{who}",
      path: { who: "path@raw.example" },
      input: {}
    })
    const inQuery = await ran({
      provider: "acme",
      endpoint: "/people/{who}",
      path: { who: "x" },
      query: { also: "query@raw.example" },
      input: {}
    })
    const inBody = await ran(raw({ a: { b: ["body@raw.example"] } }))
    for (const [q, run, path] of [
      ["path@raw.example", inPath, "path[2]"],
      ["query@raw.example", inQuery, "query.also"],
      ["body@raw.example", inBody, "a.b[0]"]
    ] as const) {
      const body = await view(q)
      expect([q, ids(body.items), body.items[0]?.matched]).toEqual([
        q,
        [run.run_id],
        { in: "input", path, exact: true }
      ])
      expect(ids(body.reusable)).toEqual([run.run_id])
    }
    const answered = await view("/people/path%40raw.example", { kind: "text" })
    expect(answered.items[0]?.matched).toMatchObject({ in: "result", path: "data.request.path" })
  })

  test("runs that ended by failure, cancelling, the guard and an empty wallet are on record, the moment they end", async () => {
    const email = (n: number) => `way${n}@ends.example`
    const blocked = await app.tenant("1.00")
    await blocked.post("/v1/spend-guard", { per_run_limit: "0.00" })
    const poor = await app.tenant()
    for (const [tenant, status] of [
      [blocked, "blocked"],
      [poor, "failed"]
    ] as const) {
      const { body } = await tenant.run(verify(email(1)))
      const seen = (await tenant.get(asked(email(1)))).body
      expect([ids(seen.items), seen.by_status, seen.charged, seen.reusable]).toEqual([
        [body.run_id],
        { [status]: 1 },
        "0.00",
        []
      ])
    }
    // Both workers' places are taken, so that the third waits and can be cancelled.
    const busy = await Promise.all(
      [1, 2].map(async (n) => (await org.run({ ...raw({ n, note: `sandbox:${heldWord}` }), async: true })).body)
    )
    for (const run of busy) await state(run.run_id, "running")
    await held.holds(2)
    const queued = (await org.run({ ...verify(email(2)), async: true })).body
    await state(queued.run_id, "queued")
    expect((await view(email(2))).by_status).toEqual({ queued: 1 })
    expect((await view("way2 ends", { kind: "text" })).count).toBe(0)
    expect((await view(email(2), { kind: "text" })).by_status).toEqual({ queued: 1 })
    await org.post(`/v1/runs/${queued.run_id}/cancel`)
    for (const more of [{}, { kind: "text" }]) {
      const body = await view(email(2), more)
      expect([body.by_status, body.reusable]).toEqual([{ cancelled: 1 }, []])
    }
    held.release()
    await Promise.all(busy.map((run) => org.get(`/v1/runs/${run.run_id}?wait=20`)))
    const failed = await ran(raw({ who: email(3), note: "sandbox:timeout" }))
    expect([failed.status, (await view(email(3))).by_status]).toEqual(["timed_out", { timed_out: 1 }])
  })

  test("a phrase that was said a moment ago is found before and after its words are indexed", async () => {
    const phrase = "lagging pelican"
    const run = await ran(raw({ note: `A Lagging   PELICAN, said (twice)` }))
    const early = await view(phrase)
    expect(ids(early.items)).toEqual([run.run_id])
    await until(
      "the words are indexed",
      () => app.sql("SELECT 1 FROM history_queue"),
      (rows) => rows.length === 0
    )
    expect(await view(phrase)).toEqual(early)
    await ran(raw({ first: "parted", second: ["walrus"] }))
    for (const not of ["parted walrus", "agging pelican", "lagging pelicans", "pelican lagging", "lagging and pelican"])
      expect([not, (await view(not)).count]).toEqual([not, 0])
  })

  test("a phrase is read alike on both sides, in every script", async () => {
    const pairs = [
      ["Große Straße", "große straße"],
      ["Jose\u0301 Nu\u0301n\u0303ez", "José Núñez"],
      ["ΟΔΥΣΣΕΥΣ", "οδυσσευς"],
      ["山田太郎", "山田太郎"],
      ["O'Neil-Smith & Co.", "o'neil-smith & co."],
      ["Ａｄａ Ｗｉｄｅ", "Ada Wide"],
      ["οδυσσεας ς", "ΟΔΥΣΣΕΑΣ Σ"],
      ["infor\u00admation de\u200bsk", "information desk"],
      ["„Zitat＂ ＼ Ende", "zitat"]
    ] as const
    const missed: Array<string> = []
    for (const [written, q] of pairs) {
      const run = await ran(raw({ note: `about ${written} and more` }))
      for (const form of [written, q]) {
        const found = ids((await view(form, { kind: "text" })).items)
        if (!found.includes(run.run_id)) missed.push(`${written} by ${form}`)
      }
    }
    // As a client that writes ASCII only sends it.
    const escaped =
      '{"provider":"acme","endpoint":"/search","input":{"note":"Weise Wei\\u00dfe J\\u006fse\\u0301 \\ud83d\\ude00"}}'
    const { body } = await org.post("/v1/run", undefined, { raw: escaped })
    for (const q of ["weise weiße josé", "WEISSE JOSÉ"])
      if (!ids((await view(q, { kind: "text" })).items).includes(body.run_id)) missed.push(q)
    expect(missed).toEqual([])
  })
})
