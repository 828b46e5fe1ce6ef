/** The audit log: each change that a person, a key or an operator makes has one entry, and nobody can change an entry. */
import { beforeAll, describe, expect, test } from "bun:test"
import { type Reply, withApp } from "../kit/app.ts"
import { compiledCommand } from "../kit/compiled-command.ts"
import { type Command, runCommand } from "../kit/run-command.ts"

const password = "correct horse battery"
const another = "a password of another day"

const app = withApp({ settings: { RUNGATE_TRUSTED_PROXIES: "1" } })

const call = (token: string | null, method: string, path: string, body?: unknown) =>
  app.call(token, method, path, {
    ...(body === undefined ? {} : { body }),
    headers: { "x-forwarded-for": "203.0.113.7" }
  })

interface Owner {
  readonly token: string
  readonly id: string
  readonly email: string
  readonly org_id: string
}
let count = 0
const organization = async (): Promise<Owner> => {
  const email = `owner.${(count += 1)}@log.example`
  const { body } = await call(null, "POST", "/v1/auth/sign-up", { email, password, organization: "Acme" })
  return { token: body.session_token, id: body.user.id, email, org_id: body.organization.id }
}
const join = async (owner: Owner, role: string): Promise<Owner> => {
  const email = `${role}.${(count += 1)}@log.example`
  const invited = await call(owner.token, "POST", "/v1/invitations", { email, role })
  const token = new URL(invited.body.link).searchParams.get("token")
  const { body } = await call(null, "POST", "/v1/invitations/accept", { token, password })
  return { token: body.session_token, id: body.user.id, email, org_id: owner.org_id }
}

interface Entry {
  readonly id: string
  readonly actor: { readonly kind: string; readonly id: string | null; readonly name: string | null }
  readonly action: string
  readonly object: string
  readonly before: Record<string, unknown> | null
  readonly after: Record<string, unknown> | null
  readonly address: string | null
  readonly created_at: string
}
const log = async (owner: Owner, query = ""): Promise<ReadonlyArray<Entry>> =>
  (await call(owner.token, "GET", `/v1/audit-log${query}`)).body.items
/** The entries that a change makes, oldest first. */
const entriesOf = async (owner: Owner, change: () => Promise<unknown>) => {
  const known = new Set((await log(owner, "?limit=200")).map(({ id }) => id))
  await change()
  return (await log(owner, "?limit=200")).filter(({ id }) => !known.has(id)).reverse()
}
/** Entries of one transaction may come in either order. */
const brief = (entries: ReadonlyArray<Entry>) =>
  entries
    .map(({ actor, action, object, before, after, address }) => ({
      who: [actor.kind, actor.id, address],
      action,
      object,
      before,
      after
    }))
    .sort((a, b) => a.action.localeCompare(b.action))

describe("each change has its entry", () => {
  test("keys", async () => {
    const owner = await organization()
    let key: Reply
    const made = await entriesOf(owner, async () => {
      key = await call(owner.token, "POST", "/v1/api-keys", { name: "ci", environment: "test" })
    })
    const person = ["person", owner.id, "203.0.113.7"]
    expect(brief(made)).toEqual([
      {
        who: person,
        action: "key.created",
        object: key!.body.id,
        before: null,
        after: expect.objectContaining({ name: "ci", environment: "test" })
      }
    ])
    expect(made[0]?.actor.name).toBe(owner.email)
    expect(JSON.stringify(made)).not.toContain(key!.body.api_key)
    expect(JSON.stringify(made)).not.toContain("key_hash")
    // The key revokes itself.
    const revoked = await entriesOf(owner, () => call(key!.body.api_key, "DELETE", `/v1/api-keys/${key!.body.id}`))
    expect(brief(revoked)).toEqual([
      {
        who: ["key", key!.body.id, "203.0.113.7"],
        action: "key.revoked",
        object: key!.body.id,
        before: { revoked_at: null },
        after: { revoked_at: expect.any(String) }
      }
    ])
    expect(revoked[0]?.actor.name).toBe("ci")
    // Amounts of a budget are dollars, as everywhere else.
    const budget = { limit: "0.50", period: "day" }
    const budgeted = await entriesOf(owner, () =>
      call(owner.token, "POST", "/v1/api-keys", { name: "b", environment: "test", budget })
    )
    expect(budgeted.find(({ action }) => action === "key_budget.created")?.after).toMatchObject({
      amount: "0.50",
      held: "0.00",
      period: "day"
    })
    // Nothing changes: no entry.
    const again = () => call(owner.token, "DELETE", `/v1/api-keys/${key!.body.id}`)
    expect(await entriesOf(owner, again)).toEqual([])
  })

  test("members and invitations", async () => {
    const owner = await organization()
    let ada: Owner
    const joined = await entriesOf(owner, async () => {
      ada = await join(owner, "member")
    })
    expect(brief(joined)).toMatchObject([
      { who: ["person", ada!.id, "203.0.113.7"], action: "invitation.accepted" },
      {
        who: ["person", owner.id, "203.0.113.7"],
        action: "invitation.created",
        after: { email: ada!.email, role: "member" }
      },
      { who: ["person", ada!.id, "203.0.113.7"], action: "member.created", object: ada!.id, after: { role: "member" } }
    ])
    expect(JSON.stringify(joined)).not.toContain("token")
    const changed = await entriesOf(owner, () =>
      call(owner.token, "PATCH", `/v1/members/${ada!.id}`, { role: "admin" })
    )
    expect(brief(changed)).toMatchObject([
      { action: "member.changed", object: ada!.id, before: { role: "member" }, after: { role: "admin" } }
    ])
    const key = await call(ada!.token, "POST", "/v1/api-keys", { name: "x", environment: "test" })
    const removed = await entriesOf(owner, () => call(owner.token, "DELETE", `/v1/members/${ada!.id}`))
    expect(brief(removed)).toMatchObject([
      { action: "key.revoked", object: key.body.id },
      { action: "member.removed", object: ada!.id, before: { role: "admin" }, after: null },
      { action: "sessions.ended", object: ada!.id, after: { sessions: 1 } }
    ])
    expect(removed.every(({ actor }) => actor.id === owner.id)).toBe(true)
    const sent = await call(owner.token, "POST", "/v1/invitations", { email: "w@log.example", role: "viewer" })
    const withdrawn = await entriesOf(owner, () => call(owner.token, "DELETE", `/v1/invitations/${sent.body.id}`))
    expect(brief(withdrawn)).toMatchObject([{ action: "invitation.withdrawn", object: sent.body.id }])
  })

  test("the spend guard and the automatic top-up, which wallets' turns change", async () => {
    const owner = await organization()
    const set = (body: unknown) => entriesOf(owner, () => call(owner.token, "POST", "/v1/spend-guard", body))
    const person = ["person", owner.id, "203.0.113.7"]
    expect(brief(await set({ daily_limit: "90.00", per_run_limit: "0.0123" }))).toEqual([
      {
        who: person,
        action: "spend_guard.changed",
        object: owner.org_id,
        before: { daily_limit: null, per_run_limit: null },
        after: { daily_limit: "90.00", per_run_limit: "0.0123" }
      }
    ])
    expect(brief(await set({ daily_limit: null }))).toMatchObject([
      { before: { daily_limit: "90.00" }, after: { daily_limit: null } }
    ])
    expect(await set({ daily_limit: null })).toEqual([])
    const { body: key } = await call(owner.token, "POST", "/v1/api-keys", { name: "x", environment: "test" })
    const lowered = await entriesOf(owner, () => call(key.api_key, "POST", "/v1/spend-guard", { daily_limit: "5.00" }))
    expect(brief(lowered)).toMatchObject([{ who: ["key", key.id, "203.0.113.7"], after: { daily_limit: "5.00" } }])
    const refused = () => call(key.api_key, "POST", "/v1/spend-guard", { daily_limit: "6.00" })
    expect(await entriesOf(owner, refused)).toEqual([])

    await call(owner.token, "POST", "/v1/wallet/topups/checkout", { amount: "20.00" })
    const topup = { enabled: true, threshold: "5.00", amount: "10.00" }
    const first = await entriesOf(owner, () => call(owner.token, "POST", "/v1/wallet/auto-topup", topup))
    expect(brief(first)).toEqual([
      { who: person, action: "auto_topup.changed", object: owner.org_id, before: null, after: topup }
    ])
    const off = () => call(owner.token, "POST", "/v1/wallet/auto-topup", { ...topup, enabled: false })
    expect(brief(await entriesOf(owner, off))).toMatchObject([{ before: { enabled: true }, after: { enabled: false } }])
  })

  test("senders, passwords and sessions, without secrets", async () => {
    const owner = await organization()
    const whole = await entriesOf(owner, async () => {
      const { body } = await call(owner.token, "POST", "/v1/senders", { domain: "log.example" })
      await call(owner.token, "POST", `/v1/senders/${body.id}/verify`)
      await call(owner.token, "DELETE", `/v1/senders/${body.id}`)
    })
    expect(whole.map(({ action }) => action)).toEqual(["sender.created", "sender.verified", "sender.removed"])
    await call(null, "POST", "/v1/auth/sign-in", { email: owner.email, password })
    const changed = await entriesOf(owner, () =>
      call(owner.token, "POST", "/v1/auth/password", { current_password: password, new_password: another })
    )
    expect(brief(changed)).toMatchObject([
      { who: ["person", owner.id, "203.0.113.7"], action: "password.changed", before: null, after: null },
      { action: "sessions.ended", object: owner.id, after: { sessions: 1 } }
    ])
    const text = JSON.stringify([...whole, ...changed])
    for (const secret of [password, another, "argon2", "rungate-verification"]) expect(text).not.toContain(secret)
    const wrong = () =>
      call(owner.token, "POST", "/v1/auth/password", { current_password: "no", new_password: another })
    expect(await entriesOf(owner, wrong)).toEqual([])
    await call(owner.token, "DELETE", "/v1/auth/sessions")
    const { body } = await call(null, "POST", "/v1/auth/sign-in", { email: owner.email, password: another })
    const last = await log({ ...owner, token: body.session_token }, "?limit=1")
    expect(last).toMatchObject([{ action: "sessions.ended", after: { sessions: 1 } }])
  })

  test("a password that is set with a mailed link is its user's own change", async () => {
    const owner = await organization()
    const token = `rg_reset_${"a".repeat(43)}`
    await app.sql(
      "INSERT INTO mail_tokens (token_hash, purpose, user_id, expires_at) VALUES (sha256($1::bytea), 'reset_password', $2, now() + interval '1 hour')",
      [Buffer.from(token), owner.id]
    )
    await call(null, "POST", "/v1/auth/password-reset/confirm", { token, new_password: another })
    const { body } = await call(null, "POST", "/v1/auth/sign-in", { email: owner.email, password: another })
    const found = await log({ ...owner, token: body.session_token }, "?action=password")
    expect(brief(found)).toMatchObject([{ who: ["person", owner.id, "203.0.113.7"], action: "password.changed" }])
  })

  test("a change that fails leaves no entry, and none is made without its entry", async () => {
    const owner = await organization()
    const demote = () => call(owner.token, "PATCH", `/v1/members/${owner.id}`, { role: "viewer" })
    expect(await entriesOf(owner, demote)).toEqual([])
    // Somebody who writes into the table is logged too, as an unknown actor.
    const direct = await entriesOf(owner, () =>
      app.sql(
        "INSERT INTO senders (sender_id, org_id, domain, token) VALUES ('snd_direct', $1, 'direct.example', 'x')",
        [owner.org_id]
      )
    )
    expect(brief(direct)).toMatchObject([{ who: ["system", null, null], action: "sender.created" }])
  })
})

describe("operators", () => {
  let command: Command
  let owner: Owner
  beforeAll(async () => {
    command = [await compiledCommand()]
    owner = await organization()
  })
  const admin = async (...args: ReadonlyArray<string>) => {
    const { DATABASE_URL = "", REDIS_URL = "" } = app.settings
    const ran = runCommand(command, ["admin", ...args], { DATABASE_URL, REDIS_URL, PORT: "0" })
    expect([args, (await ran.ended).code, ran.errors()]).toEqual([args, 0, expect.anything()])
    return ran.output()
  }

  test("what they change is in the organization's log", async () => {
    const entries = await entriesOf(owner, async () => {
      await admin("credit", owner.org_id, "5.00", "--note", "welcome")
      await admin("refund", owner.org_id, "1.50", "--note", "sorry")
      const { id } = JSON.parse(await admin("keys", "create", owner.org_id, "--json"))
      await admin("keys", "revoke", id)
      await admin("resources", "assign", owner.org_id, "sender", "ada@example.com")
      await admin("resources", "revoke", owner.org_id, "sender", "ada@example.com")
    })
    expect(entries.map(({ actor, action, after }) => [actor.kind, action, after?.["amount"] ?? null])).toEqual([
      ["operator", "wallet.credited", "5.00"],
      ["operator", "wallet.refunded", "1.50"],
      ["operator", "key.created", null],
      ["operator", "key.revoked", null],
      ["operator", "resource.created", null],
      ["operator", "resource.removed", null]
    ])
    const user = process.env["USER"] ?? Bun.spawnSync(["id", "-un"]).stdout.toString().trim()
    expect(new Set(entries.map(({ actor }) => actor.name))).toEqual(new Set([user]))
    expect(entries[0]?.after).toEqual({ amount: "5.00", note: "welcome" })
  })

  test("a long list is read over several pages of the API, each entry once", async () => {
    await app.sql(
      `INSERT INTO audit_log (entry_id, org_id, actor, action, object)
       SELECT 'aud_' || lpad(n::text, 26, '0'), $1, 'system', 'page.made', n::text FROM generate_series(1, 450) n`,
      [owner.org_id]
    )
    const shown = async (limit: number) =>
      JSON.parse(await admin("audit-log", "--action", "page.made", "--limit", String(limit), "--json"))
    const all = await shown(1_000)
    const objects = all.items.map(({ object }: { object: string }) => Number(object))
    expect([objects, all.next_cursor]).toEqual([Array.from({ length: 450 }, (_, n) => 450 - n), null])
    const some = await shown(430)
    expect(some.items).toEqual(all.items.slice(0, 430))
    const rest = ["--cursor", some.next_cursor, "--all", "--json"]
    const last = JSON.parse(await admin("audit-log", "--action", "page.made", ...rest))
    expect(last).toEqual({ items: all.items.slice(430), next_cursor: null })
  })

  test("what concerns no organization is in the service's log only", async () => {
    await admin("invite", "nobody@log.example")
    const [row] = await app.sql(
      "SELECT org_id, actor, object FROM audit_log WHERE action = 'sign_up_invitation.created'"
    )
    expect(row).toEqual({ org_id: null, actor: "operator", object: "nobody@log.example" })
    expect(await log(owner, "?action=sign_up_invitation")).toEqual([])
    const { items } = JSON.parse(await admin("audit-log", "--action", "sign_up_invitation", "--json"))
    expect(items).toMatchObject([{ org_id: null, actor: { kind: "operator" }, object: "nobody@log.example" }])
    expect(await admin("audit-log", "--org", owner.org_id, "--actor", "person")).toContain("member.created")
  })
})

describe("reading the log", () => {
  test("pages and filters", async () => {
    const owner = await organization()
    const eve = await join(owner, "admin")
    for (const by of [owner, eve, owner])
      await call(by.token, "POST", "/v1/api-keys", { name: "x", environment: "test" })
    const all = await log(owner)
    const pages: Array<Entry> = []
    let cursor = ""
    do {
      const { body } = await call(owner.token, "GET", `/v1/audit-log?limit=2${cursor}`)
      pages.push(...body.items)
      cursor = body.next_cursor === null ? "" : `&cursor=${body.next_cursor}`
    } while (cursor !== "")
    expect(pages).toEqual([...all])
    const counted = async (query: string) => (await log(owner, query)).length
    expect(await counted("?action=key.created")).toBe(3)
    expect(await counted("?action=key")).toBe(3)
    expect(await counted("?action=ke")).toBe(0)
    expect(await counted(`?action=key&actor=${eve.id}`)).toBe(1)
    expect(await counted(`?action=key&actor=${encodeURIComponent(owner.email.toUpperCase())}`)).toBe(2)
    expect(await counted("?actor=operator")).toBe(0)
    const moment = encodeURIComponent(all[0]?.created_at ?? "")
    expect(await counted(`?to=${moment}`)).toBe(all.length - 1)
    expect((await log(owner, `?from=${moment}`)).length).toBe(1)
    expect(await counted("?from=2020-01-01&to=2020-01-02")).toBe(0)
  })

  test.each(["from=yesterday", "to=2026-13-01", "cursor=x", "actor=", "action=%00", "from=2026-11-22T09:30:00"])(
    "refuses %s",
    async (query) => {
      const owner = await organization()
      const { status, body } = await call(owner.token, "GET", `/v1/audit-log?${query}`)
      expect([status, body.error.code]).toEqual([400, "invalid_request"])
    }
  )

  test("it is for admins, and shows no other organization", async () => {
    const [owner, other] = [await organization(), await organization()]
    await call(other.token, "POST", "/v1/senders", { domain: "secret.example" })
    const { text } = await call(owner.token, "GET", "/v1/audit-log")
    expect(text).not.toContain("secret.example")
    const ada = await join(owner, "member")
    expect((await call(ada.token, "GET", "/v1/audit-log")).status).toBe(403)
  })

  test("entries can't be changed; only an address is forgotten, after 180 days", async () => {
    const owner = await organization()
    await call(owner.token, "POST", "/v1/senders", { domain: "kept.example" })
    const mine = [owner.org_id]
    for (const statement of [
      "UPDATE audit_log SET action = 'x' WHERE org_id = $1",
      "UPDATE audit_log SET address = NULL WHERE org_id = $1",
      "DELETE FROM audit_log WHERE org_id = $1"
    ])
      expect(app.sql(statement, mine)).rejects.toThrow("append-only")
    expect(app.sql("TRUNCATE audit_log")).rejects.toThrow("append-only")
    await app.sql(
      `INSERT INTO audit_log (org_id, actor, address, action, object, created_at)
       VALUES ($1, 'person', '203.0.113.9', 'old.entry', 'x', now() - interval '181 days')`,
      mine
    )
    await app.sql("SELECT audit_log_forget_addresses()")
    const entries = await log(owner)
    expect(entries.map(({ action, address }) => [action, address]).sort()).toEqual([
      ["member.created", "203.0.113.7"],
      ["old.entry", null],
      ["sender.created", "203.0.113.7"]
    ])
  })
})
