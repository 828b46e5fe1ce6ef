/** Statements of a label's runs: they equal the ledger, and whoever holds one verifies it offline. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { parse } from "papaparse"
import { compactVerify, createLocalJWKSet } from "jose"
import { indexedAndCounted } from "../../kit/finished-work.ts"
import { type Tenant, until, verify, withApp } from "../../kit/app.ts"
import { type Home, newHome } from "../../http/cli/shell.ts"

const app = withApp({ settings: { RUNGATE_WARRANTY_SHARE: "1" } })
afterEach(async () => {
  await app.books()
})
let org: Tenant
let home: Home
const month = new Date().toISOString().slice(0, 7)
const hostile = '=cmd|"/c calc"!A1,<img src=x onerror=alert(1)>\n'
beforeAll(async () => {
  org = await app.tenant("10.00")
  home = newHome({ RUNGATE_URL: app.url, RUNGATE_API_KEY: org.key })
  for (const customer of ["acme", "acme", "other", hostile, "acme"]) await run({ customer })
  await run(null)
})
afterAll(async () => {
  home.remove()
})

let people = 0
const run = async (metadata: Record<string, string> | null, of = org) =>
  (await of.run({ ...verify(`p${(people += 1)}`), ...(metadata === null ? {} : { metadata }) })).body
const pathOf = (query: Record<string, string>) => `/v1/label-budgets/statement?${new URLSearchParams(query)}`
const statement = (value: string, more: Record<string, string> = {}, of = org) =>
  of.get(pathOf({ label: "customer", value, ...more }))
const sumOf = async (type: string) => {
  const [row] = await app.sql(
    `SELECT coalesce(abs(sum(l.amount)), 0)::text AS sum FROM ledger l JOIN runs r USING (org_id, run_id)
     WHERE l.org_id = $1 AND r.metadata @> '{"customer": "acme"}' AND l.type = $2`,
    [org.org_id, type]
  )
  return BigInt(String(row?.["sum"]))
}
const micros = (usd: string) => BigInt(Math.round(Number(usd) * 1_000_000))
/** What `rungate receipt verify` prints of a file with these lines, and its exit code. */
const verified = async (lines: ReadonlyArray<string>) => {
  writeFileSync(join(home.folder, "changed.jws"), `${lines.join("\n")}\n`)
  const { code, out } = await home.shell("rungate receipt verify changed.jws --jwks jwks.json --json")
  return { code, wrong: JSON.parse(out).checks.flatMap((one: Check) => (one.result === "failed" ? one.text : [])) }
}
interface Check {
  readonly result: string
  readonly text: string
}
const saved = async (value = "acme") => {
  await home.shell("rungate receipt keys -o jwks.json")
  expect((await home.shell(`rungate label-budgets statement customer ${value} -o s.jws`)).code).toBe(0)
  return readFileSync(join(home.folder, "s.jws"), "utf8").trim().split("\n")
}

describe("the statement of a label's value", () => {
  test("lists its runs with their ledger lines, and sums up to the ledger", async () => {
    const { status, body } = await statement("acme")
    expect([status, body.items.length, body.next_cursor]).toEqual([200, 3, null])
    for (const item of body.items) {
      const receipt = await app.call(org.key, "GET", `/v1/runs/${item.run_id}`)
      expect(item.charged).toBe(receipt.body.billing.charged)
      expect(item.ledger.map(({ type }: { type: string }) => type)).toEqual(
        ["reserve", "settle", "release"].slice(0, item.ledger.length)
      )
      expect(micros(item.held)).toBe(micros(item.charged) + micros(item.released))
    }
    const { statement: whole } = body
    expect(whole).toMatchObject({
      label: "customer",
      value: "acme",
      period: month,
      time_zone: "UTC",
      runs: 3,
      refunded: "0.00"
    })
    expect([micros(whole.held), micros(whole.charged), micros(whole.released)]).toEqual([
      await sumOf("reserve"),
      await sumOf("settle"),
      await sumOf("release")
    ])
  })

  test("is read in pages that see the same runs while others end", async () => {
    const first = await statement("acme", { limit: "2" })
    expect([first.body.items.length, first.body.statement]).toEqual([2, null])
    const late = await run({ customer: "acme" })
    const rest = await statement("acme", { limit: "2", cursor: first.body.next_cursor })
    expect([rest.body.items.length, rest.body.next_cursor, rest.body.statement.runs]).toEqual([1, null, 3])
    const now = (await statement("acme")).body
    expect([now.statement.runs, now.items.at(-1).run_id]).toEqual([4, late.run_id])
    for (const cursor of [
      "x",
      "1.2",
      "1.run_1",
      `99999999999999999999.${late.run_id}`,
      `999999999999999999.${late.run_id}`,
      `1000.${late.run_id}`
    ])
      expect((await statement("acme", { cursor })).status).toBe(400)
  })

  test("is of a month or a day of the time zone, and of no other", async () => {
    const count = async (period: string) => (await statement("acme", { period })).body.statement.runs
    const all = await count(month)
    expect([
      await count(new Date().toISOString().slice(0, 10)),
      await count("2025-01"),
      await count("2999-12")
    ]).toEqual([all, 0, 0])
    for (const period of ["2026-13", "2026-02-30", "november", "", "2026"]) {
      const { status, body } = await statement("acme", { period })
      expect([period, status, body.error.details?.[0]?.path]).toEqual([period, 400, "query.period"])
    }
  })

  test("is of the own organization, and is read by everybody of it", async () => {
    const stranger = await app.tenant("0.01")
    expect((await statement("acme", {}, stranger)).body).toMatchObject({
      items: [],
      statement: { runs: 0, charged: "0.00" }
    })
    expect((await app.call(null, "GET", pathOf({ label: "customer", value: "acme" }))).status).toBe(401)
    const [, viewer = ""] = [await org.session(), await org.session()]
    await app.sql(
      "UPDATE members SET role = 'viewer' WHERE org_id = $1 AND user_id = (SELECT max(user_id) FROM members WHERE org_id = $1)",
      [org.org_id]
    )
    expect((await app.call(viewer, "GET", pathOf({ label: "customer", value: "acme" }))).status).toBe(200)
    const own = await app.tenant("1.00")
    await app.sql(`UPDATE api_keys SET allow = '{"read": "own"}' WHERE key_id = $1`, [own.key_id])
    expect((await statement("acme", {}, own)).status).toBe(403)
    for (const [label, value, path] of [
      ["a b", "acme", "query.label"],
      ["customer", "x".repeat(501), "query.value"]
    ] as const) {
      const { status, body } = await org.get(pathOf({ label, value }))
      expect([status, body.error.details?.[0]?.path]).toEqual([400, path])
    }
  })

  test("is CSV too, also of a value that a spreadsheet would execute", async () => {
    const { text, headers } = await org.get(pathOf({ label: "customer", value: hostile }), {
      headers: { accept: "text/csv" }
    })
    expect(headers.get("content-type")).toBe("text/csv; charset=utf-8")
    const { data } = parse<Record<string, string>>(text, { header: true, skipEmptyLines: true })
    const [item] = (await statement(hostile)).body.items
    expect(data).toEqual([
      {
        ...Object.fromEntries(
          ["run_id", "status", "capability", "finished_at", "held", "charged", "released", "refunded"].map((name) => [
            name,
            item[name]
          ])
        ),
        endpoint: ""
      }
    ])
    const page = await org.get(pathOf({ label: "customer", value: "acme", limit: "2" }), {
      headers: { accept: "text/csv" }
    })
    expect([page.text.trim().split("\n").length, page.headers.get("link")]).toEqual([
      3,
      expect.stringContaining('rel="next"')
    ])
  })
})

describe("a saved statement", () => {
  test("verifies offline with the command, and with any JOSE library", async () => {
    const lines = await saved()
    const offline = newHome({ RUNGATE_URL: "http://127.0.0.1:9", RUNGATE_API_KEY: "" })
    for (const name of ["s.jws", "jwks.json"])
      writeFileSync(join(offline.folder, name), readFileSync(join(home.folder, name)))
    const { code, out } = await offline.shell("rungate receipt verify s.jws --jwks jwks.json --json")
    offline.remove()
    expect([code, JSON.parse(out).checks.map(({ result }: Check) => result)]).toEqual([0, ["ok", "ok", "ok", "ok"]])
    const jwks = (await app.call(null, "GET", "/.well-known/jwks.json")).body
    for (const line of lines)
      expect((await compactVerify(line, createLocalJWKSet(jwks))).protectedHeader.alg).toBe("EdDSA")
  })

  test("is not valid with a changed byte, and without one of its lines or with another one", async () => {
    const lines = await saved()
    expect((await verified(lines)).wrong).toEqual([])
    for (let n = 0; n < lines.length; n++)
      for (const part of [0, 1, 2]) {
        const parts = (lines[n] ?? "").split(".")
        const text = parts[part] ?? ""
        const at = Math.floor(text.length / 2)
        parts[part] = `${text.slice(0, at)}${text[at] === "A" ? "B" : "A"}${text.slice(at + 1)}`
        const changed = await verified(lines.with(n, parts.join(".")))
        expect([n, part, changed.code === 0, changed.wrong.length > 0]).toEqual([n, part, false, true])
      }
    expect((await verified(lines.slice(0, -1))).wrong).toContainEqual(
      expect.stringContaining("the receipts are others")
    )
    expect((await verified([...lines, lines.at(-1) ?? ""])).wrong).toContainEqual(
      expect.stringContaining("the receipts are others")
    )
    const others = await saved("other")
    expect((await verified(lines.with(1, others[1] ?? ""))).wrong).toContainEqual(
      expect.stringContaining("the receipts are others")
    )
    expect((await verified([lines[0] ?? "", ...others.slice(1)])).code).toBe(1)
    expect((await verified([...lines.slice(1)])).code).toBe(1)
  })

  test("has the refund of the warranty", async () => {
    const labels = { metadata: { customer: "refunded" } }
    const input = { from: "me@example.com", to: "bounce@sandbox.test", subject: "Hello", text: "Hi" }
    const { body: checked } = await org.run({ capability: "email.verify", input: { email: input.to }, ...labels })
    const { body: sent } = await org.run({ capability: "email.send", input })
    await indexedAndCounted(app)
    await org.post(`/v1/runs/${checked.run_id}/dispute`, { reason: "bounced", evidence: sent.run_id })
    const { charged } = checked.billing
    const { items } = await until(
      "the refund is booked",
      async () => (await statement("refunded")).body,
      (body) => body.statement.refunded === charged
    )
    expect(items).toMatchObject([{ run_id: checked.run_id, charged, refunded: charged }])
    const lines = await saved("refunded")
    expect((await verified(lines)).wrong).toEqual([])
  })

  test("keeps a run of a value with a budget when it is erased", async () => {
    const session = await (await app.tenant("1.00")).session()
    const send = (method: string, path: string, body?: unknown) => app.call(session, method, path, { body })
    await send("PUT", "/v1/label-budgets", { label: "customer", value: "acme", limit: "1.00", period: "month" })
    const { body: one } = await send("POST", "/v1/run", { ...verify("erase.me"), metadata: { customer: "acme" } })
    expect((await send("DELETE", "/v1/history?q=erase.me@example.com")).body.erased).toBe(1)
    const { body } = await app.call(session, "GET", pathOf({ label: "customer", value: "acme" }))
    expect(body.items).toMatchObject([{ run_id: one.run_id, charged: one.billing.charged }])
    expect(body.statement).toMatchObject({ runs: 1, charged: one.billing.charged })
  })
})
