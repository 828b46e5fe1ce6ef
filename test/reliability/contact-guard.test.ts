/** The contact guard: no two agents write to one person within a time, whichever process they ask. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { type App, oneBackend, type Reply, startApp, type Tenant, until } from "../kit/app.ts"

const day = 86_400
const send = (to: unknown, more: Record<string, unknown> = {}, input: Record<string, unknown> = {}) => ({
  capability: "email.send",
  input: { from: "hello@example.com", to, subject: "Hello", text: "Hello", ...input },
  ...more
})
const guarded = { unless_contacted_within_seconds: 30 * day }
const message = (network_url: string, more: Record<string, unknown> = {}) => ({
  capability: "network.message",
  input: { network_url, text: "Hello", account_id: "acc" },
  ...more
})
const codeOf = ({ status, body }: Reply) => [status, body.status, body.error?.code]
const blocked = [409, "blocked", "contact_guard"]

describe.each(oneBackend)("the contact guard over two processes, queues on %s", (backend) => {
  let apps: readonly [App, App]
  beforeAll(async () => {
    const first = await startApp({ backend })
    apps = [first, await startApp({ beside: first })]
  })
  afterAll(async () => {
    await apps[1].stop()
    await apps[0].stop()
  })
  const over = (org: Tenant, index: number) => org.over(apps[index % 2 === 0 ? 0 : 1])

  test("reaches each of ten people once in fifty concurrent sends", async () => {
    const org = await apps[0].tenant("5.00")
    const runs = await Promise.all(
      Array.from({ length: 50 }, (_, index) => over(org, index).run(send(`p${index % 10}@example.com`, guarded)))
    )
    const sent = runs.filter(({ body }) => body.status === "succeeded").map(({ body }) => body.result.accepted[0])
    expect(sent.toSorted()).toEqual(Array.from({ length: 10 }, (_, index) => `p${index}@example.com`))
    expect(runs.filter((run) => codeOf(run)[2] === "contact_guard")).toHaveLength(40)
    expect(await apps[0].sql("SELECT count(*)::int AS n FROM contact_claims WHERE org_id = $1", [org.org_id])).toEqual([
      { n: 10 }
    ])
    expect((await org.ledger()).filter(({ type }) => type === "settle")).toHaveLength(10)
    await apps[0].books()
  })

  test("says who was contacted, when, by which run, and when it may be done again", async () => {
    const org = await apps[0].tenant("5.00")
    // A run without the guard is not refused, and counts for those with it.
    const { body: first } = await org.run(send(["Ada@Example.com"]))
    expect(codeOf(await org.run(send("ada@example.com")))).toEqual([200, "succeeded", undefined])
    const { body: second } = await org.run(send("ada@example.com"))
    const run = await over(org, 1).run(send("grace@example.com", guarded, { bcc: ["ada@example.com"] }))
    expect(codeOf(run)).toEqual(blocked)
    expect(run.body.error.message).toMatch(
      /^ada@example\.com was contacted by run_\w+ at 20\d\d-\S+Z, which is within 30 days; leave this recipient out, or write again after 20\d\d-\S+Z$/
    )
    expect(run.body.error.message).toContain(second.run_id)
    expect(first.status).toBe("succeeded")
    expect(run.body.controls).toEqual([{ control: "contact_guard", manage: "/v1/spend-guard" }])
    const quote = await org.post("/v1/quote", send("ada@example.com", guarded))
    expect(quote.body).toMatchObject({ would: "block", controls: run.body.controls, error: { code: "contact_guard" } })
    const { body: inspected } = await org.post("/v1/inspect", { capability: "email.send" })
    expect(inspected.hints).toContainEqual(expect.stringContaining("--unless-contacted 30d"))
    // The blocked run contacted nobody, and a short window lets the run pass.
    expect(codeOf(await org.run(send("grace@example.com", guarded)))).toEqual([200, "succeeded", undefined])
    await apps[0].sql("UPDATE contact_claims SET contacted_at = now() - interval '2 hours' WHERE org_id = $1", [
      org.org_id
    ])
    const hour = { unless_contacted_within_seconds: 3_600 }
    expect(codeOf(await over(org, 1).run(send("ada@example.com", hour)))).toEqual([200, "succeeded", undefined])
  })

  test("knows a person on the network by every form of the profile's URL, and another organization knows nothing", async () => {
    const org = await apps[0].tenant("5.00")
    expect((await org.run(message("https://www.linkedin.com/in/Ada-Lovelace/"))).body.status).toBe("succeeded")
    const invite = {
      capability: "network.invite",
      input: { network_url: "linkedin.com/in/ada-lovelace?x=1", account_id: "a" }
    }
    expect(codeOf(await over(org, 1).run({ ...invite, ...guarded }))).toEqual(blocked)
    const other = await apps[0].tenant("5.00")
    expect(codeOf(await other.run({ ...invite, ...guarded }))).toEqual([200, "succeeded", undefined])
  })

  test("an address and a profile that a run tied together are one person", async () => {
    const org = await apps[0].tenant("5.00")
    const network_url = "https://www.linkedin.com/in/grace-hopper"
    const { body: found } = await org.run({ capability: "people.enrich", input: { network_url } })
    const { email } = found.result
    expect((await org.run(message(network_url))).body.status).toBe("succeeded")
    const run = await over(org, 1).run(send(email, guarded))
    expect(codeOf(run)).toEqual(blocked)
    expect((await org.post("/v1/quote", send(email, guarded))).body).toMatchObject({ would: "block" })
    // Two identities of one person at the same time.
    const other = "https://www.linkedin.com/in/mary-jackson"
    const { body: second } = await org.run({ capability: "people.enrich", input: { network_url: other } })
    const runs = await Promise.all([
      over(org, 0).run(message(other, guarded)),
      over(org, 1).run(send(second.result.email, guarded))
    ])
    expect(runs.map(({ body }) => body.status).toSorted()).toEqual(["blocked", "succeeded"])
  })

  test("contacts from before runs claimed their recipients count, from history", async () => {
    const org = await apps[0].tenant("5.00")
    const { body: first } = await org.run(send("ada@example.com"))
    await apps[0].sql("DELETE FROM contact_claims WHERE org_id = $1", [org.org_id])
    expect((await org.post("/v1/quote", send("ada@example.com", guarded))).body.would).toBe("run")
    await apps[0].sql("UPDATE contact_secret SET created_at = now()")
    const run = await over(org, 1).run(send("ada@example.com", guarded))
    expect(codeOf(run)).toEqual(blocked)
    expect(run.body.error.message).toContain(first.run_id)
  })

  test("a send that surely failed does not count, and one whose outcome is unknown does", async () => {
    const org = await apps[0].tenant("5.00")
    expect((await over(org, 1).run(send("no_match@sandbox.test", guarded))).body.status).toBe("no_match")
    expect((await org.run(send("no_match@sandbox.test", guarded))).body.status).toBe("no_match")
    for (let index = 0; index < 2; index++)
      expect((await over(org, index).run(send("rate_limited@sandbox.test", guarded))).body.error.code).toBe(
        "provider_error"
      )
    expect((await org.run(send("error@sandbox.test", guarded))).body.error.code).toBe("outcome_unknown")
    expect(codeOf(await over(org, 1).run(send("error@sandbox.test", guarded)))).toEqual(blocked)
    await apps[0].books()
  })

  test("contact_guard_days guards every run of the organization, and only a person may loosen it", async () => {
    const org = await apps[0].tenant("5.00")
    const set = (days: unknown, token = org.key) =>
      apps[1].call(token, "POST", "/v1/spend-guard", { body: { contact_guard_days: days } })
    expect((await set(90)).body.contact_guard_days).toBe(90)
    expect((await org.get("/v1/spend-guard")).body.contact_guard_days).toBe(90)
    expect((await org.run(send("ada@example.com"))).body.status).toBe("succeeded")
    expect(codeOf(await over(org, 1).run(send("ada@example.com")))).toEqual(blocked)
    const hour = { unless_contacted_within_seconds: 3_600 }
    await apps[0].sql("UPDATE contact_claims SET contacted_at = now() - interval '2 hours' WHERE org_id = $1", [
      org.org_id
    ])
    expect(codeOf(await org.run(send("ada@example.com", hour)))).toEqual(blocked)
    for (const days of [30, null]) expect((await set(days)).body.error.code).toBe("forbidden")
    const session = await org.session()
    expect((await set(null, session)).body.contact_guard_days).toBeNull()
    expect((await org.run(send("ada@example.com"))).body.status).toBe("succeeded")
    for (const days of [0, 366, 1.5, "30"])
      expect((await set(days)).body.error).toMatchObject({ details: [{ path: "contact_guard_days" }] })
    const log = await apps[0].call(session, "GET", "/v1/audit-log")
    expect(JSON.stringify(log.body.items)).toContain("contact_guard.")
  })

  test("holds for the rows of a batch", async () => {
    const org = await apps[0].tenant("5.00")
    const to = (name: string) => send(`${name}@example.com`, guarded)
    const { body: batch } = await org.post("/v1/batches", {
      runs: [to("ada"), to("grace"), to("ada"), to("ada")],
      max_total: "1.00"
    })
    const ended = await until(
      "the end of the batch",
      () => org.get(`/v1/batches/${batch.id}/results`),
      ({ text }) => text.trim().split("\n").length === 4
    )
    const rows = ended.text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
    expect(rows.map(({ status }) => status).toSorted()).toEqual(["blocked", "blocked", "succeeded", "succeeded"])
  })

  test("is refused where nobody is contacted, and outside its range", async () => {
    const org = await apps[0].tenant("5.00")
    const path = "unless_contacted_within_seconds"
    for (const body of [
      { capability: "email.verify", input: { email: "ada@example.com" }, ...guarded },
      { provider: "hunter", endpoint: "/v2/account", input: {}, ...guarded },
      send("ada@example.com", { [path]: 0 }),
      send("ada@example.com", { [path]: 366 * day }),
      send("ada@example.com", { [path]: "30d" })
    ]) {
      const { status, body: answer } = await org.run(body)
      expect([status, answer.error.code, answer.error.details[0].path]).toEqual([400, "invalid_request", path])
    }
  })
})
