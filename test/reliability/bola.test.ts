/**
 * T51: another organization's object is like an object that does not exist. Every kind of id that organization B has is put, by
 * organization A, into every free text of every operation of the OpenAPI document and of every MCP tool; the answer must be the one that a
 * made-up id gets, in the same time, and B must stay as it was.
 */
import { beforeAll, describe, expect, test } from "bun:test"
import { figures, type Reply, type Tenant, until, verify, withApp } from "../kit/app.ts"
import { howMany, sampled } from "../kit/input-samples.ts"
import { compareTimes, tLimit } from "../kit/compare-times.ts"

type Json = ReturnType<typeof JSON.parse>
interface Slot {
  readonly name: string
  /** Sends the text in this place. */
  readonly send: (token: string | null, text: string) => Promise<Reply>
}

/** What an operation needs beside the slot; an operation that is not here gets an empty body. */
const bodies: Readonly<Record<string, Json>> = {
  "passkeys.rename": { name: "x" },
  "runs.run": { ...verify(), wait_seconds: 20 },
  "quotes.quote": verify(),
  "batches.retry": { max_total: "1.00" },
  "batches.create": { runs: [{ ...verify(), routing: { max_cost: "1.00" } }] },
  "simulations.simulate": { from: new Date(Date.now() - 86_400_000).toISOString() },
  "disputes.dispute": { reason: "bounced", evidence: "my mail server says so" },
  "history.batch": { subjects: ["nobody@nowhere.example"] },
  "topups.setAutoTopup": { enabled: false, threshold: "5.00", amount: "10.00" },
  "keys.create": { name: "x", environment: "test" },
  "allowances.create": { name: "x", amount: "0.01", expires_at: new Date(Date.now() + 3_600_000).toISOString() },
  "members.setRole": { role: "admin" },
  "auth.signIn": { email: "nobody@nowhere.example", password: "not the password" }
}
const toolArguments: Readonly<Record<string, Json>> = {
  quote: { ...verify(), max_cost: "1.00" },
  run: { ...verify(), max_cost: "1.00", wait_seconds: 20 },
  history: {}
}

let org: Tenant
let other: Tenant
let slots: ReadonlyArray<Slot>
let theirs: Readonly<Record<string, string>>

const mcp = (token: string | null, name: string, given: Json) =>
  app.call(token, "POST", "/mcp", {
    body: { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: given } },
    headers: { accept: "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25" }
  })

/** Where a schema takes free text, as paths: `routing.provider`, `subjects.0`. */
const freeTexts = (schema: Json, document: Json): ReadonlyArray<ReadonlyArray<string>> => {
  const whole = schema.$ref === undefined ? schema : document.components.schemas[schema.$ref.split("/").at(-1)]
  const choices = [whole, ...(whole.anyOf ?? []), ...(whole.allOf ?? [])]
  return choices.flatMap((one: Json): ReadonlyArray<ReadonlyArray<string>> => {
    if (one.$ref !== undefined && one !== whole) return freeTexts(one, document)
    if (one.type === "string" && one.enum === undefined) return [[]]
    if (one.type === "array" && one.items !== undefined)
      return freeTexts(one.items, document).map((path) => ["0", ...path])
    return Object.entries(one.properties ?? {}).flatMap(([name, child]) =>
      freeTexts(child, document).map((path) => [name, ...path])
    )
  })
}

/** A copy of the value with the text at the path. */
const withText = (value: Json, [first, ...rest]: ReadonlyArray<string>, text: string): Json => {
  if (first === undefined) return text
  if (first === "0") return [withText(value?.[0], rest, text)]
  return { ...value, [first]: withText(value?.[first], rest, text) }
}

const slotsOf = (document: Json, tools: Json): ReadonlyArray<Slot> => {
  const found: Array<Slot> = []
  for (const [path, methods] of Object.entries<Json>(document.paths)) {
    for (const [verb, operation] of Object.entries<Json>(methods)) {
      const id: string = operation.operationId
      // The catalog is the same for everybody, with and without a key.
      if (id.startsWith("discovery.")) continue
      // The operator's refuse every key and session before they look at an id (http/operator/session.test.ts).
      if (id.startsWith("operator")) continue
      const method = verb.toUpperCase()
      const schema = operation.requestBody?.content?.["application/json"]?.schema
      const body = schema === undefined ? undefined : (bodies[id] ?? {})
      for (const { in: where, name, schema: form } of operation.parameters ?? []) {
        if (form.enum !== undefined || name === "if-none-match") continue
        found.push({
          name: `${id} ${where} ${name}`,
          send: (token, text) => {
            const encoded = encodeURIComponent(text)
            const filled = path.replace(`{${name}}`, encoded)
            const asked = where === "query" ? `${filled}?${name}=${encoded}` : filled
            return app.call(token, method, asked, {
              body,
              ...(where === "header" ? { headers: { [name]: text } } : {})
            })
          }
        })
      }
      for (const place of schema === undefined ? [] : freeTexts(schema, document)) {
        // A file's keys and rules are told apart by their names, and the sweep has made some whose names are ids. It has opted ids out too.
        if (id === "configuration.preview" && /^configuration\.(keys|approval_rules)\.0\.name$/.test(place.join(".")))
          continue
        if (id === "optOuts.check") continue
        found.push({
          name: `${id} body ${place.join(".")}`,
          send: (token, text) => app.call(token, method, path, { body: withText(body, place, text) })
        })
      }
    }
  }
  for (const { name, inputSchema } of tools) {
    if (name === "discover" || name === "inspect") continue
    const given = toolArguments[name] ?? {}
    for (const place of freeTexts(inputSchema, { components: { schemas: inputSchema.$defs ?? {} } }))
      found.push({
        name: `tool ${name} ${place.join(".")}`,
        send: (token, text) => mcp(token, name, withText(given, place, text))
      })
  }
  // Free-form inputs that name an object: the schema of a capability's input is not in the document.
  const messages = (inbox: string) => ({ body: { capability: "email.messages", input: { inbox } } })
  found.push({
    name: "runs.run email.messages",
    send: (token, text) => app.call(token, "POST", "/v1/run", messages(text))
  })
  return found
}

/** The same kind of id with another end. It begins alike, because cursors compare ids as texts, and ids begin with their time. */
const madeUp = (id: string) => {
  const letters = "0123456789abcdefghjkmnpqrstvwxyz"
  const tail = Array.from({ length: 6 }, () => letters[Math.floor(Math.random() * letters.length)]).join("")
  const at = id.includes("@") ? id.indexOf("@") : id.length
  return `${id.slice(0, Math.max(1, at - 6))}${tail}${id.slice(at)}`
}

/** An answer without what is new in every answer. */
const essence = ({ status, headers, text }: Reply, sent: string) =>
  JSON.stringify([status, [...headers.keys()].sort(), text])
    .replaceAll(sent, "<sent>")
    .replaceAll(sent.toLowerCase(), "<sent>")
    .replaceAll(encodeURIComponent(sent), "<sent>")
    .replace(/\b([a-z]{2,4})_[0-9a-z]{26}\b/g, "<$1>")
    .replace(/rg_(test|sess)_[0-9A-Za-z]+(…[0-9A-Za-z]+)?/g, "<token>")
    .replace(/[0-9A-Za-z]{4}…[0-9A-Za-z]{4}/g, "<display>")
    // Opt-outs answer the digest of what was sent.
    .replace(/\b[0-9a-f]{64}\b/g, "<digest>")
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>")
    .replace(/\\*"(duration_ms|count)\\*":\d+/g, "<number>")
    // A run of one's own is replayed, queued or running by now, and its key shows it.
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "<uuid>")

const sessionOnly =
  /^(senders\.(verify|remove)|keys\.(revoke|change|rotate)|members\.\w+|invitations\.\w+|auth\.endSession|passkeys\.\w+|webhooks\.(change|remove|rotate|replay|replayAll)|providerAccounts\.(set|remove)|labelBudgets\.remove|optOuts\.remove|approvals\.(changeRule|removeRule|approve|deny)) /
/** Operations that answer an unknown id with 404. */
const notFound =
  /^((allowances|members|invitations|passkeys)\.|(auth\.endSession|providerAccounts\.(get|remove)|optOuts\.remove) )/

const difference = (a: string, b: string) => {
  const at = [...a].findIndex((letter, index) => letter !== b[index])
  return `…${a.slice(Math.max(0, at - 60), at + 200)} and not …${b.slice(Math.max(0, at - 60), at + 200)}`
}

/** Every row of every table that belongs to the organization. When a key was last used may change. */
const rowsOf = async ({ org_id }: Tenant) => {
  const tables = await app.sql("SELECT table_name FROM information_schema.columns WHERE column_name = 'org_id'")
  const rows = tables.map(async ({ table_name }) => {
    const found = await app.sql(
      `SELECT to_jsonb(row) - 'last_used_at' AS row FROM ${table_name} AS row WHERE org_id = $1`,
      [org_id]
    )
    return found.map(({ row }) => `${table_name} ${JSON.stringify(row)}`)
  })
  return (await Promise.all(rows)).flat().sort()
}

const app = withApp()
beforeAll(async () => {
  ;[org, other] = [await app.tenant("50.00"), await app.tenant("50.00")]
  const { body: ran } = await other.run(verify("their.secret", "their-customer.example"), {
    "idempotency-key": "their-own-key"
  })
  const session = await other.session()
  await app.call(session, "POST", "/v1/api-keys", { body: { name: "theirs", environment: "test" } })
  await other.post("/v1/wallet/topups/checkout", { amount: "10.00" })
  const hash = await Bun.password.hash("the right password")
  await app.sql("UPDATE users SET password_hash = $1 WHERE org_id = $2", [hash, other.org_id])
  const [user] = await app.sql("SELECT user_id, email FROM users WHERE org_id = $1", [other.org_id])
  const [payment] = await app.sql("SELECT payment_id, session_id FROM payments WHERE org_id = $1", [other.org_id])
  const inbox = "their.inbox@agentmail.to"
  await app.sql("INSERT INTO owned_resources (kind, resource_id, org_id, run_id) VALUES ('inbox', $1, $2, $3)", [
    inbox,
    other.org_id,
    ran.run_id
  ])
  const batch = await other.post("/v1/batches", { runs: [verify("their.row", "their-customer.example")] })
  await until(
    "their batch to finish",
    () => other.get(`/v1/batches/${batch.body.id}`),
    ({ body }) => body.done
  )
  const sender = await app.call(session, "POST", "/v1/senders", { body: { domain: "their-customer.example" } })
  const allowance = await app.call(session, "POST", "/v1/allowances", { body: bodies["allowances.create"] })
  const referral = (await app.call(session, "GET", "/v1/referrals")).body
  theirs = {
    run: ran.run_id,
    key: other.key_id,
    entry: (await other.ledger())[0]?.id ?? "",
    request: ran.request_id ?? (await app.sql("SELECT request_id FROM runs"))[0]?.["request_id"],
    organization: other.org_id,
    user: String(user?.["user_id"]),
    "user's address": String(user?.["email"]),
    payment: String(payment?.["payment_id"]),
    checkout: String(payment?.["session_id"]),
    "idempotency key": "their-own-key",
    subject: "their.secret@their-customer.example",
    inbox,
    sender: String(sender.body.id),
    batch: String(batch.body.id),
    allowance: String(allowance.body.id),
    ...(typeof referral.code === "string" ? { referral: referral.code } : {})
  }
  const { body: document } = await app.call(null, "GET", "/openapi.json")
  const listed = await app.call(org.key, "POST", "/mcp", {
    body: { jsonrpc: "2.0", id: 1, method: "tools/list", params: {} },
    headers: { accept: "application/json, text/event-stream", "mcp-protocol-version": "2025-11-25" }
  })
  slots = slotsOf(document, listed.body.result.tools)
})

describe("T51 tenant.bola_sweep", () => {
  test("every id of another organization, in every place of every operation and tool, is an id of nothing", async () => {
    for (const [kind, id] of Object.entries(theirs)) expect([kind, id.length]).toEqual([kind, expect.any(Number)])
    // The index of history moves their rows by itself, a moment after their run.
    await until(
      "their run is indexed and counted",
      () => app.sql("SELECT org_id FROM history_queue UNION ALL SELECT org_id FROM usage_queue"),
      (queued) => queued.length === 0
    )
    const before = await rowsOf(other)
    const session = await org.session()
    const violations: Array<string> = []
    let calls = 0
    let turn = 0
    for (const slot of slots) {
      const fitting = Object.entries(theirs).filter(
        ([kind, id]) =>
          // Who signs in is asked with what could be an address only.
          (!slot.name.startsWith("auth.") || id.includes("@")) &&
          (!/idempotency/.test(slot.name) || /^(run|idempotency key)$/.test(kind))
      )
      // Where the place itself says that an object is meant, more kinds of ids are tried. Few days have all of them everywhere.
      const tried = sampled(fitting, / path |_id$/.test(slot.name) ? 6 : 3, turn++)
      for (const [kind, id] of tried) {
        // A key and a session in turn: the matrix of credentials has a test of its own.
        const holder = (calls / 2) % 2 === 0 ? "key" : "session"
        const asker = async () => {
          // An Idempotency-Key makes a run, which shows in the wallet: each such request has an organization of its own.
          if (/idempotency/.test(slot.name)) return (await app.tenant("1.00")).key
          return holder === "key" ? org.key : session
        }
        const absent = madeUp(id)
        const [real, made] = [await slot.send(await asker(), id), await slot.send(await asker(), absent)]
        calls += 2
        const [a, b] = [essence(real, id), essence(made, absent)]
        if (a !== b) violations.push(`${slot.name}, ${kind}, by ${holder}: ${difference(a, b)}`)
        const told = Object.entries(theirs).filter(([, one]) => !id.includes(one) && real.text.includes(one))
        if (told.length > 0) violations.push(`${slot.name}, ${kind}: tells their ${told.map(([name]) => name)}`)
        // Some operations need a person: they refuse a key before they look at any id.
        const statuses =
          holder === "key" && sessionOnly.test(slot.name) ? [403] : notFound.test(slot.name) ? [404] : [400]
        if (/ path /.test(slot.name) && !statuses.includes(real.status))
          violations.push(`${slot.name}, ${kind}: ${real.status}`)
        if (real.status >= 500) violations.push(`${slot.name}, ${kind}: ${real.status}`)
      }
    }
    expect(violations).toEqual([])
    expect(await rowsOf(other)).toEqual(before)
    expect(before.length).toBeGreaterThan(8)
    figures("T51 tenant.bola_sweep", {
      places: slots.length,
      id_kinds: Object.keys(theirs).length,
      calls,
      violations: violations.length
    })
  })

  test("and takes as long", async () => {
    const places = slots.filter(({ name }) => / path (run_id|key_id)$|^tool (get_run|cancel_run) /.test(name))
    expect(places.length).toBeGreaterThan(4)
    const rounds = howMany(150, 40)
    let most = 0
    for (const { name, send } of places) {
      const id = theirs[name.includes("key_id") ? "key" : "run"] ?? ""
      const absent = madeUp(id)
      const { t } = await compareTimes({ absent: () => send(org.key, absent), theirs: () => send(org.key, id) }, rounds)
      expect([name, t < tLimit]).toEqual([name, true])
      most = Math.max(most, t)
    }
    figures("T51 timing", { places: places.length, samples: rounds, t_max: most })
  })
})
