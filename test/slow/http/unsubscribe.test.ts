/** The link with which the recipient of a message opts out, and runs that wait while somebody does. */
import { afterEach, describe, expect, test } from "bun:test"
import { createHash } from "node:crypto"
import { until, withApp } from "../../kit/app.ts"
import { heldProvider, heldWord } from "../../kit/held-provider.ts"
import { offerOf } from "../../layers/providers/stage.ts"
import { agentmail } from "../../../src/layers/providers/agentmail.ts"
import { postmark } from "../../../src/layers/providers/postmark.ts"
import { resend } from "../../../src/layers/providers/resend.ts"
import { readUnsubscribe, unsubscribeIn, unsubscribeToken } from "../../../src/schema/guards/Unsubscribe.ts"

const held = heldProvider()
const app = withApp({ held, settings: { RUNGATE_CONCURRENCY: "1" } })
afterEach(async () => {
  held.release()
  await app.books()
})

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex")
const send = (to: string) => ({
  capability: "email.send",
  input: { from: "hello@example.com", to, subject: "Hello", text: "Hello" }
})
const run = { org_id: `org_${"0".repeat(26)}`, run_id: `run_${"1".repeat(26)}` }

describe("the headers of a message", () => {
  const link = "https://gate.example/unsubscribe/x"
  const input = {
    from: "a@example.com",
    to: "ada@example.com",
    subject: "Hello",
    text: "Hello",
    headers: { "X-A": "b" }
  }
  const ours = { "X-A": "b", "List-Unsubscribe": `<${link}>`, "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" }

  test.each([agentmail, postmark, resend])(
    "of $slug have the link beside the caller's, and none without",
    (provider) => {
      const offer = offerOf(provider, "email.send")
      const headersOf = (more: object, sent: object = {}) => {
        const body: unknown = offer.request({ ...input, ...sent }, { run_id: "run_1", ...more }).body
        const { headers, Headers } = Object(body)
        const listed: ReadonlyArray<{ Name: string; Value: string }> = Headers ?? []
        return headers ?? Object.fromEntries(listed.map(({ Name, Value }) => [Name, Value]))
      }
      expect(headersOf({ unsubscribe: link })).toEqual(ours)
      expect(headersOf({})).toEqual({ "X-A": "b" })
      const own = { headers: { "list-unsubscribe": "<mailto:out@example.com>" } }
      expect(headersOf({ unsubscribe: link }, own)).toEqual(own.headers)
    }
  )

  test("have a link for one recipient only, which names nobody", () => {
    const linkFor = (sent: object) =>
      unsubscribeIn("secret", { address: "https://gate.example", cell: null }, run, { ...input, ...sent }).unsubscribe
    const one = linkFor({ to: ["Ada@Example.com"] }) ?? ""
    expect(one).toStartWith("https://gate.example/unsubscribe/org_")
    expect(one.toLowerCase()).not.toMatch(/ada|example\.com/)
    expect(readUnsubscribe("secret", one.split("/unsubscribe/")[1] ?? "")).toEqual({
      ...run,
      digest: sha256("ada@example.com")
    })
    for (const several of [
      { to: ["ada@example.com", "bob@example.com"] },
      { cc: ["bob@example.com"] },
      { bcc: ["bob@example.com"] }
    ])
      expect(linkFor(several)).toBeUndefined()
  })
})

describe("the page of the link", () => {
  const linkOf = async (org_id: string, run_id: string, address: string) => {
    const [row] = await app.sql("SELECT secret FROM contact_secret")
    return `/unsubscribe/${unsubscribeToken(String(row?.["secret"]), { org_id, run_id, digest: sha256(address) })}`
  }
  const entries = (org_id: string) =>
    app.sql("SELECT source, run_id, hint, created_by FROM opt_outs WHERE org_id = $1", [org_id])

  test("shows a masked address and changes nothing when it is opened; its POST opts out once, without cookie or sign-in", async () => {
    const org = await app.tenant("5.00")
    const { body } = await org.run(send("ada@example.com"))
    const link = await linkOf(org.org_id, body.run_id, "ada@example.com")
    const opened = await app.call(null, "GET", link)
    expect([opened.status, opened.text.includes("a•••@example.com"), opened.text.includes("ada@")]).toEqual([
      200,
      true,
      false
    ])
    expect(await entries(org.org_id)).toEqual([])
    for (const content of ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x"]) {
      const clicked = await app.call(null, "POST", link, {
        raw: "List-Unsubscribe=One-Click",
        headers: { "content-type": content }
      })
      expect([clicked.status, clicked.text.includes("You have opted out"), clicked.headers.get("set-cookie")]).toEqual([
        200,
        true,
        null
      ])
    }
    expect(await entries(org.org_id)).toEqual([
      { source: "one_click", run_id: body.run_id, hint: "a•••@example.com", created_by: null }
    ])
    expect((await org.run(send("ada@example.com"))).body.error.code).toBe("opt_out")
    expect((await org.run(send("bob@example.com"))).body.status).toBe("succeeded")
  })

  test("is unknown for a token that the service has not signed", async () => {
    const org = await app.tenant("5.00")
    const { body } = await org.run(send("ada@example.com"))
    const link = await linkOf(org.org_id, body.run_id, "ada@example.com")
    const token = link.replace("/unsubscribe/", "")
    const [org_id = "", run_id = "", mac = ""] = token.split(/\.|\/[^.]*\./)
    const other = Buffer.from(sha256("bob@example.com"), "hex").toString("base64url")
    const hostile = [
      `${org_id}.${run_id}/${other}.${mac}`,
      token.slice(0, -1),
      `${token.slice(0, -1)}_`,
      "x".repeat(5_000),
      "..%2f..",
      "%00",
      "a.b.c.d"
    ]
    for (const one of hostile)
      for (const method of ["GET", "POST"])
        expect((await app.call(null, method, `/unsubscribe/${one}`)).status).toBeOneOf([400, 404])
    expect(await entries(org.org_id)).toEqual([])
  })

  test("still opts out after the run was erased", async () => {
    const org = await app.tenant("5.00")
    const { body } = await org.run(send("eve@example.com"))
    const link = await linkOf(org.org_id, body.run_id, "eve@example.com")
    expect((await app.call(await org.session(), "DELETE", "/v1/history?q=eve@example.com")).body.erased).toBe(1)
    expect((await app.call(null, "GET", link)).text).toContain("This address will get no more messages")
    expect((await app.call(null, "POST", link)).status).toBe(200)
    expect((await org.run(send("eve@example.com"))).body.error.code).toBe("opt_out")
  })
})

describe("a run that waits for a slot", () => {
  test("contacts nobody who has opted out meanwhile, charges nothing, and its receipt names the entry", async () => {
    const org = await app.tenant("5.00")
    const first = org.run(send(`${heldWord}@sandbox.test`))
    await held.holds(1)
    const { body: queued } = await org.post("/v1/run", { ...send("late@example.com"), async: true })
    await until(
      "it waits",
      async () => (await org.get(`/v1/runs/${queued.run_id}`)).body.status,
      (status) => status === "queued"
    )
    expect((await org.post("/v1/opt-outs", { values: ["late@example.com"] })).body.added).toBe(1)
    held.release()
    expect((await first).body.status).toBe("succeeded")
    const { body } = await org.get(`/v1/runs/${queued.run_id}?wait=20`)
    expect(body).toMatchObject({
      status: "failed",
      billing: { charged: null },
      error: { code: "opt_out" },
      attempts: []
    })
    expect(body.controls).toEqual([{ control: "opt_out", manage: "/v1/opt-outs" }])
    expect((await org.get(`/v1/runs/${queued.run_id}/details`)).body.opt_out).toMatchObject({
      digest: sha256("late@example.com")
    })
    expect(await app.sql("SELECT 1 FROM contact_claims WHERE run_id = $1", [queued.run_id])).toEqual([])
  })
})

test("the audit names a run that was admitted after an opt-out of its recipient's domain", async () => {
  const org = await app.tenant("5.00")
  const { body } = await org.run(send("ada@mail.audited.example"))
  expect((await org.post("/v1/opt-outs", { values: ["audited.example"] })).body.added).toBe(1)
  await app.books()
  await app.sql("UPDATE contact_claims SET contacted_at = now() WHERE run_id = $1", [body.run_id])
  const { body: audit } = await org.get("/v1/wallet/audit")
  expect(audit.violations).toMatchObject([
    { equation: "E23 no run that was admitted after an opt-out contacts the person", subject: body.run_id }
  ])
  await app.sql("DELETE FROM contact_claims WHERE run_id = $1", [body.run_id])
})
