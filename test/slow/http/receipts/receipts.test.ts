/**
 * Receipts over real HTTP: what they say is what the run and the ledger stored, they verify with any JOSE library and offline with the
 * command, a changed one does not, keys rotate, and nobody gets somebody else's.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { compactVerify, createLocalJWKSet, decodeJwt, decodeProtectedHeader } from "jose"
import { callUrl, rehearse, startApp, type Tenant, until, verify, withApp } from "../../../kit/app.ts"
import { dumpDatabase, hitsIn } from "../../../kit/stored-text.ts"
import { type Home, newHome } from "../../../http/cli/shell.ts"

const find = {
  capability: "email.find",
  input: { first_name: "Jane", last_name: "Doe", company_domain: "example.com" },
  routing: { strategy: "cheapest", max_cost: "0.02" }
}
const encryption = Buffer.alloc(32, 7).toString("base64")

let org: Tenant
let other: Tenant
let home: Home
let run_id: string
const app = withApp()
beforeAll(async () => {
  ;[org, other] = [await app.tenant("25.00"), await app.tenant("5.00")]
  home = newHome({ RUNGATE_URL: app.url, RUNGATE_API_KEY: org.key })
  run_id = (await org.run(find)).body.run_id
})
afterAll(async () => {
  home.remove()
})

const receiptOf = (tenant: Tenant, id: string) => tenant.get(`/v1/runs/${id}/receipt`)
const jwks = async () => (await app.call(null, "GET", "/.well-known/jwks.json")).body
/** The contents, after any library's verification. */
const opened = async (jws: string) => {
  const { payload } = await compactVerify(jws, createLocalJWKSet(await jwks()))
  return JSON.parse(new TextDecoder().decode(payload))
}

describe("a receipt", () => {
  test("says what was decided, called, held and charged, and is signed", async () => {
    const { body: run } = await org.get(`/v1/runs/${run_id}`)
    const reply = await receiptOf(org, run_id)
    expect([reply.status, reply.headers.get("content-type")]).toEqual([200, "application/jose"])
    expect(decodeProtectedHeader(reply.text)).toMatchObject({ alg: "EdDSA", typ: "rungate-receipt+jws" })
    const receipt = await opened(reply.text)
    const { decision, ledger } = receipt
    expect(receipt).toMatchObject({
      iss: expect.stringMatching(/^http:/),
      org_id: org.org_id,
      run_id,
      status: "succeeded",
      provider: run.provider,
      currency: "USD",
      quote: run.billing.quoted,
      charge: run.billing.charged,
      erased_at: null
    })
    expect(receipt.request).toMatchObject({ key_id: org.key_id, capability: "email.find", request_id: run.request_id })
    expect(receipt.request.fingerprint).toMatch(/^[0-9a-f]{64}$/)
    expect(receipt.attempts).toEqual(run.attempts.map(({ detail: _detail, ...one }: { detail: unknown }) => one))
    expect(decision).toMatchObject({
      routing: "auto",
      strategy: "cheapest",
      max_cost: "0.02",
      max_total: null,
      attempts_max: 3,
      reason: run.routing_reason,
      catalog_version: expect.stringMatching(/^[0-9a-f]{16}$/)
    })
    // Every offer of the capability is there, and each that was left out says why.
    const { body: quote } = await org.post("/v1/quote", find)
    const shown = (offers: ReadonlyArray<{ provider: string; price: string; excluded_because: string | null }>) =>
      offers.map(({ provider, price, excluded_because }) => `${provider} ${price} ${excluded_because}`).sort()
    expect(shown(decision.offers)).toEqual(shown(quote.offers))
    expect(decision.offers.some((one: { excluded_because: string }) => one.excluded_because === "max_cost")).toBe(true)
    expect(ledger.map((one: { type: string }) => one.type)).toEqual(["reserve", "settle"])
    const rows = await app.sql("SELECT seq, encode(hash, 'hex') AS hash FROM ledger WHERE run_id = $1 ORDER BY seq", [
      run_id
    ])
    expect(ledger.map(({ seq, hash }: { seq: number; hash: string }) => [seq, hash])).toEqual(
      rows.map(({ seq, hash }) => [Number(seq), hash])
    )
  })

  test("exists for every way in which a run ends, and for raw and metered runs", async () => {
    const bodies = [
      rehearse("error"),
      { capability: "web.search", input: { query: "rungate", limit: 3 } },
      { provider: "sec_edgar", endpoint: "/submissions/CIK{cik}.json", path: { cik: "0000320193" }, input: {} },
      { ...verify(), routing: { provider: "zerobounce" } },
      { ...find, routing: { max_total: "0.03", strategy: "highest_success_rate" } }
    ]
    const ids: Array<string> = []
    for (const body of bodies) {
      const { body: run } = await org.run(body)
      expect([body, run.run_id]).toEqual([body, expect.stringMatching(/^run_/)])
      ids.push(run.run_id)
    }
    expect((await org.post("/v1/spend-guard", { per_run_limit: "0.0001" })).status).toBe(200)
    ids.push((await org.run(find)).body.run_id)
    await app.call(await org.session(), "POST", "/v1/spend-guard", { body: { per_run_limit: null } })
    const statuses: Array<string> = []
    await home.shell("rungate receipt keys -o jwks.json")
    for (const id of ids) {
      const { status, decision } = await opened((await receiptOf(org, id)).text)
      statuses.push(status)
      expect(decision.offers.every((one: { price: string }) => /^\d+\.\d+$/.test(one.price))).toBe(true)
      expect((await home.shell(`rungate receipt ${id} -o - | rungate receipt verify --jwks jwks.json`)).code).toBe(0)
    }
    expect(statuses).toEqual(["failed", "succeeded", "succeeded", "succeeded", "succeeded", "blocked"])
  })

  test("shows the health that the route was chosen by", async () => {
    await app.sql(
      `UPDATE runs SET plan = jsonb_set(plan::jsonb, '{seen,health}', '{"hunter": [0.93, 812, 50]}')::json WHERE run_id = $1`,
      [run_id]
    )
    const { decision } = await opened((await receiptOf(org, run_id)).text)
    const health = Object.fromEntries(
      decision.offers.map(({ provider, health }: { provider: string; health: unknown }) => [provider, health])
    )
    expect(health.hunter).toEqual({ success_rate: 0.93, latency_ms_p50: 812, sample_size: 50 })
    expect(health[decision.offers.find((one: { provider: string }) => one.provider !== "hunter").provider]).toBeNull()
  })

  test("does not exist before the run has ended, and says when it will", async () => {
    // Nobody takes turns here, so the run stays open.
    const idle = await startApp({ role: "http" })
    const waiting = await idle.tenant()
    const { body: run } = await waiting.run({ ...verify(), async: true })
    const early = await receiptOf(waiting, run.run_id)
    expect([early.status, early.body.error.code]).toEqual([409, "run_not_finished"])
    expect(early.body.error.message).toContain(`GET /v1/runs/${run.run_id}?wait=60`)
    const worker = await startApp({ beside: idle, role: "worker" })
    await waiting.get(`/v1/runs/${run.run_id}?wait=20`)
    expect((await receiptOf(waiting, run.run_id)).status).toBe(200)
    await worker.stop()
    await idle.stop()
  })

  test("of an erased run keeps the amounts and hides the decision", async () => {
    const { body } = await org.run({ ...verify("gone", "erased.example") })
    const session = await org.session()
    expect((await app.call(session, "DELETE", "/v1/history?q=gone@erased.example")).status).toBe(200)
    const receipt = await opened((await receiptOf(org, body.run_id)).text)
    expect([receipt.decision === null, receipt.erased_at !== null]).toEqual([true, true])
    expect(receipt.charge).toBe(body.billing.charged)
    expect(JSON.stringify(receipt)).not.toContain("erased.example")
  })

  test("belongs to the organization, whatever is asked", async () => {
    const nobody = await receiptOf(org, `run_${"7".repeat(26)}`)
    expect([nobody.status, nobody.body.error.code]).toEqual([400, "invalid_request"])
    const stolen = await receiptOf(other, run_id)
    expect([stolen.status, stolen.body.error.code]).toEqual([400, "invalid_request"])
    for (const hostile of ["%00", "..%2f..", "run_", "'; DROP TABLE runs; --", "\u{1f600}", "x".repeat(5_000)]) {
      const { status } = await other.get(`/v1/runs/${encodeURIComponent(decodeURIComponent(hostile))}/receipt`)
      expect([hostile.slice(0, 30), [400, 404, 414].includes(status)]).toEqual([hostile.slice(0, 30), true])
    }
    expect((await callUrl(app.url, null, "GET", `/v1/runs/${run_id}/receipt`)).status).toBe(401)
  })
})

describe("rungate receipt", () => {
  test("saves a receipt and the keys, and verifies without the service", async () => {
    const saved = await home.shell(`rungate receipt ${run_id}`)
    expect([saved.code, saved.out, saved.err]).toEqual([
      0,
      "",
      expect.stringContaining(`Saved the receipt in ${run_id}.jws`)
    ])
    expect((await home.shell("rungate receipt keys")).code).toBe(0)
    const offline = newHome({ RUNGATE_URL: "http://127.0.0.1:1" })
    for (const name of [`${run_id}.jws`, "jwks.json"])
      writeFileSync(join(offline.folder, name), readFileSync(join(home.folder, name)))
    const told = await offline.shell(`rungate receipt verify ${run_id}.jws --jwks jwks.json --json`)
    expect([told.code, told.body.valid]).toEqual([0, true])
    const texts = told.body.checks.map((one: { text: string }) => one.text).join("\n")
    expect(texts).toContain(`signed the receipt of ${run_id}`)
    expect(texts).toMatch(
      /[23] ledger entries \(2, 3(, 4)?\): each hash is computed from the entry and the hash before it\./
    )
    expect(texts).toContain("The ledger entries add up to the charge.")
    const piped = await offline.shell(`rungate receipt verify --jwks jwks.json < ${run_id}.jws`)
    expect(piped.code).toBe(0)
    offline.remove()
  })

  test("refuses what was changed, what another key signed, and what is no receipt", async () => {
    const path = (name: string) => join(home.folder, name)
    const jws = readFileSync(path(`${run_id}.jws`), "utf8").trim()
    const [head, body = "", signature] = jws.split(".")
    const cheaper = { ...decodeJwt(jws), charge: "0.00" }
    const bad: Readonly<Record<string, string>> = {
      changed: [head, Buffer.from(JSON.stringify(cheaper)).toString("base64url"), signature].join("."),
      unsigned: [head, body, ""].join("."),
      none: [Buffer.from('{"alg":"none"}').toString("base64url"), body, ""].join("."),
      text: "not a receipt",
      empty: "\n"
    }
    for (const [name, text] of Object.entries(bad)) {
      writeFileSync(path(name), text)
      const { code, err } = await home.shell(`rungate receipt verify ${name} --jwks jwks.json`)
      expect([name, code]).toEqual([name, name === "empty" ? 5 : 1])
      expect(err).toMatch(name === "empty" ? /is empty/ : /Not valid/)
    }
    writeFileSync(path("other.json"), '{"keys":[]}')
    const unknown = await home.shell(`rungate receipt verify ${run_id}.jws --jwks other.json --json`)
    expect([unknown.code, unknown.body.checks[0].text]).toEqual([1, expect.stringContaining("save its keys again")])
    for (const [flags, message] of [
      ["verify missing.jws --jwks jwks.json", "missing.jws"],
      [`verify ${run_id}.jws --jwks ${run_id}.jws`, "does not hold keys"],
      [`verify ${run_id}.jws`, "--jwks"],
      [`verify - --jwks -`, "Only one"]
    ] as const) {
      const said = await home.shell(`rungate receipt ${flags} < /dev/null`)
      expect([flags, said.code, said.err]).toEqual([flags, 5, expect.stringContaining(message)])
    }
    expect((await home.shell(`rungate receipt run_${"7".repeat(26)}`)).code).toBe(250)
  })
})

describe("keys", () => {
  test("are public, cacheable, and hold no private part", async () => {
    const reply = await app.call(null, "GET", "/.well-known/jwks.json")
    expect(reply.headers.get("cache-control")).toBe("public, max-age=300")
    expect(Object.keys(reply.body.keys[0]).sort()).toEqual(["alg", "crv", "kid", "kty", "use", "x"])
    expect((await callUrl(app.url, null, "POST", "/.well-known/jwks.json")).status).toBe(405)
    const limited = await startApp({ beside: app, role: "http", settings: { RUNGATE_RATE_LIMIT: "1" } })
    const flood = Array.from({ length: 20 }, () => callUrl(limited.url, null, "GET", "/.well-known/jwks.json"))
    expect((await Promise.all(flood)).some(({ status }) => status === 429)).toBe(true)
    await limited.stop()
  })

  test("rotate: every process signs with the new key at once, and older receipts stay valid", async () => {
    const second = await startApp({ beside: app, role: "http" })
    const [before] = [(await receiptOf(org, run_id)).text]
    expect((await org.over(second).get(`/v1/runs/${run_id}/receipt`)).status).toBe(200)
    const operator = newHome({ DATABASE_URL: app.databaseUrl })
    const rotated = await operator.shell("rungate admin receipts rotate --json")
    expect([rotated.code, rotated.body.replaced]).toEqual([0, decodeProtectedHeader(before).kid])
    operator.remove()
    for (const one of [app, second]) {
      const { text } = await org.over(one).get(`/v1/runs/${run_id}/receipt`)
      expect(decodeProtectedHeader(text).kid).toBe(rotated.body.key_id)
    }
    // A process keeps its answer for up to a second.
    const published = async () => (await jwks()).keys.map((one: { kid: string }) => one.kid)
    const kids = await until("the new key is published", published, ([newest]) => newest === rotated.body.key_id)
    expect(kids).toEqual([rotated.body.key_id, rotated.body.replaced])
    await opened(before)
    const secrets = await app.sql("SELECT key_id FROM receipt_secrets")
    expect(secrets).toEqual([{ key_id: rotated.body.key_id }])
    const log = await app.sql("SELECT actor, object FROM audit_log WHERE action = 'receipt_key.created'")
    expect(log).toContainEqual({ actor: "operator", object: rotated.body.key_id })
    await expect(app.sql("DELETE FROM receipt_keys")).rejects.toThrow("kept for ever")
    await second.stop()
  })

  test("a private key is encrypted if there is a key for it, and is in no log and no error", async () => {
    const [{ secret } = { secret: "" }] = await app.sql("SELECT secret FROM receipt_secrets")
    const { d } = JSON.parse(String(secret))
    const sealing = await startApp({ beside: app, role: "http", settings: { RUNGATE_ENCRYPTION_KEY: encryption } })
    const signed = await org.over(sealing).get(`/v1/runs/${run_id}/receipt`)
    expect(signed.status).toBe(200)
    expect(hitsIn(await dumpDatabase(app), { "private key": d })).toEqual([])
    const logs = [...app.logs, ...sealing.logs].map((text) => ({ place: "log", text }))
    expect(hitsIn([...logs, { place: "receipt", text: signed.text }], { "private key": d })).toEqual([])
    await sealing.stop()
    // A process without the key, or with another one, says what to do.
    for (const settings of [{}, { RUNGATE_ENCRYPTION_KEY: Buffer.alloc(32, 9).toString("base64") }]) {
      const blind = await startApp({ beside: app, role: "http", settings })
      const refused = await org.over(blind).get(`/v1/runs/${run_id}/receipt`)
      expect([refused.status, refused.body.error.message]).toEqual([
        503,
        expect.stringContaining("RUNGATE_ENCRYPTION_KEY")
      ])
      await blind.stop()
    }
    const rotatedSetting = { RUNGATE_ENCRYPTION_KEY: `${Buffer.alloc(32, 9).toString("base64")},${encryption}` }
    const rotating = await startApp({ beside: app, role: "http", settings: rotatedSetting })
    expect((await org.over(rotating).get(`/v1/runs/${run_id}/receipt`)).status).toBe(200)
    await rotating.stop()
    const [after] = await app.sql("SELECT secret FROM receipt_secrets")
    await app.sql("UPDATE receipt_secrets SET secret = $1", [secret])
    expect(String(after?.["secret"])).toStartWith("v1.")
  })

  test("a wrong encryption key is refused at the start, without a copy of it", async () => {
    const wrong = startApp({ settings: { RUNGATE_ENCRYPTION_KEY: "c2hvcnQ=" } })
    await expect(wrong).rejects.toThrow("RUNGATE_ENCRYPTION_KEY must be 32 random bytes in Base64")
  })
})
