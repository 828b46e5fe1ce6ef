/**
 * An organization with rows in many tables, for tests of what others see of it.
 *
 * Each of its objects has the word `hidden` in a text of its own, which nobody but the organization ever sends. Half of its ids, and the
 * texts with the word `known`, are what others send, so that they may stand in the answers to them.
 */
import { expect } from "bun:test"
import { digest } from "../../src/layers/accounts/Secrets.ts"
import { newId } from "../../src/layers/platform/Ids.ts"
import { type App, type Reply, type Tenant, until, verify } from "../kit/app.ts"
import { indexedAndCounted } from "../kit/finished-work.ts"
import type { Names } from "./random-requests.ts"

/** Not the contract's example: a random request that signs in with it is no leak. */
const password = "planted horse battery"
const roles = ["owner", "admin", "member", "viewer"] as const

export interface Organization {
  readonly tenant: Tenant
  /** In every text that others must not see. */
  readonly hidden: string
  /** Secrets that the service has, and tells nobody. */
  readonly secrets: ReadonlyArray<string>
  readonly known: ReadonlyArray<string>
  readonly cursors: ReadonlyArray<string>
  /** Where its webhooks go. */
  readonly hooks: string
}

/** A new member, signed in. */
const memberOf = async (app: App, org_id: string, email: string, role: string, hash: string): Promise<string> => {
  const [token, user_id] = [`rg_sess_${crypto.randomUUID().replaceAll("-", "")}`, newId("usr")]
  await app.sql("INSERT INTO users (user_id, org_id, email, password_hash) VALUES ($1, $2, $3, $4)", [
    ...[user_id, org_id, email, hash]
  ])
  await app.sql("UPDATE members SET role = $1 WHERE user_id = $2", [role, user_id])
  await app.sql(
    "INSERT INTO passkeys (passkey_id, user_id, credential_id, public_key, name, counter) VALUES ($1, $2, $1, 'k', $3, 0)",
    [...[newId("psk"), user_id, email]]
  )
  await app.sql(
    "INSERT INTO sessions (token_hash, user_id, org_id, expires_at) VALUES ($1, $2, $3, now() + interval '1 hour')",
    [...[Buffer.from(digest(token)), user_id, org_id]]
  )
  return token
}

const cheap = { algorithm: "argon2id", memoryCost: 8, timeCost: 1 } as const
const day = 86_400_000
const tomorrow = () => new Date(Date.now() + day).toISOString()

const triesMax = 5
/** A busy machine: the service says that it can't answer now, and asks for another try. */
export const isBusy = ({ status, body }: Reply): boolean =>
  status === 503 && body?.error?.code === "service_unavailable"
/** Ids of requests that met a busy service. The log has its reason. */
export const busy = new Set<string>()
const answered = async (ask: () => Promise<Reply>): Promise<Reply> => {
  let reply = await ask()
  for (let tries = 1; tries < triesMax && isBusy(reply); tries++) {
    busy.add(reply.body.request_id)
    reply = await ask()
  }
  return reply
}

/** Keys and sessions of each kind. Those of `before` that still work are among them, because keys are limited. */
export const callersOf = async (
  app: App,
  { tenant, hidden }: Organization,
  before: ReadonlyArray<string> = []
): Promise<ReadonlyArray<string>> => {
  const hash = await Bun.password.hash(password, cheap)
  const email = (name: string) => `${hidden}-${name}-${crypto.randomUUID().slice(0, 8)}@example.com`
  const works = async (token: string) =>
    (await answered(() => app.call(token, "POST", "/v1/inspect", { body: { capability: "email.verify" } }))).status !==
    401
  const owner = await memberOf(app, tenant.org_id, email("owner"), "owner", hash)
  const given = async (path: string, body: object) => {
    const reply = await answered(() => app.call(owner, "POST", path, { body }))
    expect([reply.status, reply.body.error]).toEqual([200, undefined])
    return String(reply.body.api_key)
  }
  const key = (more: object) => given("/v1/api-keys", { name: `${hidden} key`, environment: "test", ...more })
  // What an earlier round limited.
  const guard = { daily_limit: null, per_run_limit: null }
  expect((await answered(() => app.call(owner, "POST", "/v1/spend-guard", { body: guard }))).status).toBe(200)
  const kinds = [
    ...roles.map((role) => () => memberOf(app, tenant.org_id, email(role), role, hash)),
    () => key({}),
    () => key({ allow: { capabilities: ["email.verify"], max_cost: "0.50", mint: true } }),
    () => key({ allow: { read_only: true }, budget: { limit: "5.00", period: "day" } }),
    () => key({ allow: { raw: true, read: "own" } }),
    () => given("/v1/allowances", { name: `${hidden} allowance`, amount: "0.50", expires_at: tomorrow() })
  ]
  const callers: Array<string> = []
  for (const [at, made] of kinds.entries()) {
    const old = before[at]
    callers.push(old !== undefined && (await works(old)) ? old : await made())
  }
  return callers
}

const lists = [
  "runs",
  "batches",
  "wallet/transactions",
  "wallet/chain",
  "api-keys",
  "allowances",
  "audit-log",
  "members",
  "opt-outs"
]

/** An organization of that name, with some of everything. `hooks` receives its webhooks. */
export const organization = async (app: App, tag: string, hooks: string): Promise<Organization> => {
  const [hidden, known] = [`${tag}hidden`, `${tag}known`]
  const tenant = await app.tenant("500.00")
  await app.sql("UPDATE orgs SET name = $1 WHERE org_id = $2", [`${hidden} Ltd`, tenant.org_id])
  const hash = await Bun.password.hash(password, cheap)
  const owner = await memberOf(app, tenant.org_id, `${hidden}@example.com`, "owner", hash)
  for (const role of roles) await memberOf(app, tenant.org_id, `${known}-${role}@example.com`, role, "none")
  const call = async (method: string, path: string, body?: object) => {
    const reply = await answered(() => app.call(owner, method, `/v1/${path}`, { body }))
    expect([path, reply.status, reply.body.error]).toEqual([path, expect.any(Number), undefined])
    return reply.body
  }
  const labels = { customer: hidden, campaign: "spring" }
  const secrets = [`${hidden}-account-key`, password]
  for (const at of [0, 1]) {
    const url = `${hooks}/${hidden}/${at}`
    secrets.push((await call("POST", "webhook-endpoints", { url, events: ["run.finished", "wallet.low"] })).secret)
    await call("POST", "senders", { domain: `${hidden}-${at}.example` })
    await call("POST", "invitations", { email: `${hidden}-guest-${at}@example.com`, role: "viewer" })
    await call("PUT", "label-budgets", { label: "customer", value: `${hidden} ${at}`, limit: "50.00", period: "month" })
    await call("POST", "approval-rules", {
      name: `${hidden} ${at}`,
      labels: { campaign: `${hidden} ${at}` },
      expires_after: 86_400
    })
    await call("POST", "wallet/topups/checkout", { amount: "10.00" })
    await call("POST", "allowances", { name: `${hidden} ${at}`, amount: "1.00", expires_at: tomorrow() })
    const runs = [verify(`${hidden}-row`, `${known}.example`), verify(`${known}-row`, `${hidden}.example`)]
    await call("POST", "batches", { runs, metadata: labels })
  }
  await call("POST", "opt-outs", { values: [`${known}-out@example.com`, `${hidden}-out.example`], reason: hidden })
  await call("POST", "wallet/auto-topup", { enabled: false, threshold: "5.00", amount: "10.00" })
  await call("GET", "referrals")
  const ran = async (input: object, metadata: object, at: number) => {
    const body = { capability: "email.verify", input, metadata, async: true }
    const headers = { "idempotency-key": at === 0 ? `${known}-key` : `${hidden}-key-${at}` }
    const reply = await answered(() => tenant.run(body, headers))
    expect(reply.body.run_id).toStartWith("run_")
    return String(reply.body.run_id)
  }
  for (let at = 0; at < 2; at++) {
    await ran({ email: `${hidden}-${at}@sandbox.test` }, labels, at)
    await ran({ email: `${known}@example.com` }, { campaign: `${hidden} ${at}` }, at + 10)
  }
  const bounced = await ran({ email: "bounce@sandbox.test" }, labels, 20)
  await until(
    "the runs end",
    () =>
      app.sql(
        `SELECT run_id FROM runs WHERE org_id = $1 AND finished_at IS NULL AND run_id NOT IN (SELECT run_id FROM approvals)
         UNION ALL SELECT batch_id FROM batches WHERE org_id = $1 AND finished_at IS NULL`,
        [tenant.org_id]
      ),
    (open) => open.length === 0
  )
  await call("POST", `runs/${bounced}/dispute`, { reason: "bounced", evidence: `${hidden} mail server` })
  await call("PUT", "provider-accounts/hunter", { api_key: `${hidden}-account-key`, fallback: true })
  await indexedAndCounted(app)
  await until(
    "its webhooks are delivered",
    () =>
      app.sql(
        `SELECT 1 FROM webhook_endpoints w WHERE org_id = $1 AND (position < (SELECT h.position FROM event_heads h WHERE h.org_id = w.org_id)
           OR EXISTS (SELECT FROM webhook_deliveries d WHERE d.endpoint_id = w.endpoint_id AND d.status = 'pending'))`,
        [tenant.org_id]
      ),
    (late) => late.length === 0
  )
  const cursors: Array<string> = []
  for (const list of lists) {
    const { next_cursor } = await call("GET", `${list}?limit=1`)
    if (next_cursor !== null) cursors.push(String(next_cursor))
  }
  const texts = [`${known}-owner@example.com`, `${known}@example.com`, `${known}-out@example.com`, `${known}.example`]
  return { tenant, hidden, secrets, cursors, hooks, known: [...texts, `${known}-key`] }
}

const ids = /\b([a-z]{2,4})_[0-9a-z]{26}\b/g
/** All ids in the texts. */
export const idsIn = (texts: ReadonlyArray<string>): ReadonlySet<string> =>
  new Set(texts.flatMap((text) => Array.from(text.matchAll(ids), ([one]) => one)))

/** What says whose a row is, in tables without the organization. */
const owners = ["run_id", "batch_id", "user_id", "key_id", "endpoint_id"]

/**
 * Every row of every table that belongs to the organization. When a key was last used may change, and whoever knows an address may ask for
 * a mail to it.
 */
export const rowsOf = async (app: App, org_id: string): Promise<ReadonlyArray<string>> => {
  const tables = await app.sql(
    `SELECT table_name, array_agg(column_name::text) AS columns FROM information_schema.columns
     WHERE table_schema = current_schema() AND table_name <> 'mail_tokens' AND column_name = ANY($1) GROUP BY table_name ORDER BY table_name`,
    [["org_id", ...owners]]
  )
  const read = async (table: unknown, column: string, whose: ReadonlyArray<string>) => {
    const text = `SELECT (to_jsonb(stored) - 'last_used_at')::text AS row FROM ${String(table)} AS stored WHERE ${column} = ANY($1)`
    return (await app.sql(text, [whose])).map(({ row }) => `${String(table)} ${String(row)}`)
  }
  const own = tables.filter(({ columns }) => Array.isArray(columns) && columns.includes("org_id"))
  const rows = (await Promise.all(own.map(({ table_name }) => read(table_name, "org_id", [org_id])))).flat()
  const theirs = [...idsIn(rows)]
  const others = tables
    .filter((one) => !own.includes(one))
    .map(({ table_name, columns }) =>
      read(table_name, owners.find((one) => Array.isArray(columns) && columns.includes(one)) ?? "", theirs)
    )
  return [...rows, ...(await Promise.all(others)).flat()].toSorted()
}

/** What requests may name of an organization: all that its rows have, or the half that others know. */
export const namesOf = (one: Organization, ids: ReadonlySet<string>, all: boolean): Names => {
  const named = new Map<string, Array<string>>()
  for (const id of [...ids].toSorted()) {
    const prefix = id.split("_", 1)[0] ?? ""
    named.set(prefix, [...(named.get(prefix) ?? []), id])
  }
  const known = Array.from(
    named,
    ([prefix, list]) => [prefix, all ? list : list.filter((_, at) => at % 2 === 0)] as const
  )
  return {
    ids: new Map(known),
    cursors: one.cursors,
    hooks: [one.hooks],
    texts: all ? [...one.known, `${one.hidden}@example.com`] : one.known
  }
}
