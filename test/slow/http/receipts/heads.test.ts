/**
 * Signed ledger heads: made once a day by one of many processes, also after days without any. A customer who kept one finds out when the
 * owner of the database rewrites the ledger, even if the new chain is consistent and the service's own heads are signed again.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Layer } from "effect"
import { compactVerify, createLocalJWKSet, importJWK, CompactSign, decodeProtectedHeader } from "jose"
import { Client } from "pg"
import { HeadSeconds } from "../../../../src/actors/receipts/HeadWorker.ts"
import { LookSeconds } from "../../../../src/actors/runs/OutcomeLookups.ts"
import { usageLock } from "../../../../src/layers/usage/UsageRollups.ts"
import { type App, startApp, type Tenant, until, verify } from "../../../kit/app.ts"
import { type Home, newHome } from "../../../http/cli/shell.ts"

const quick = Layer.mergeAll(Layer.succeed(HeadSeconds, 0.2), Layer.succeed(LookSeconds, 3_600))

let app: App
let org: Tenant
let home: Home
/** Keeps usage from being counted: the tests move entries to days on which the runs did not end. */
let uncounted: Client
beforeAll(async () => {
  app = await startApp({ limits: quick })
  uncounted = new Client(app.databaseUrl)
  await uncounted.connect()
  await uncounted.query("SELECT pg_advisory_lock(hashtext(current_schema()), $1)", [usageLock])
  org = await app.tenant("25.00")
  home = newHome({ RUNGATE_URL: app.url, RUNGATE_API_KEY: org.key })
})
afterAll(async () => {
  await uncounted.end()
  await app.stop()
  home.remove()
})

/** As the owner, who may switch triggers off. */
const asOwner = async (statements: ReadonlyArray<string>) => {
  const client = new Client(app.databaseUrl)
  await client.connect()
  await client.query("SET session_replication_role = replica")
  for (const statement of statements) await client.query(statement)
  await client.end()
}
/** Chains all entries of an organization anew. */
const rechained = ({ org_id }: Tenant) => `DO $$
  DECLARE e ledger; previous bytea;
  BEGIN
    FOR e IN SELECT * FROM ledger WHERE org_id = '${org_id}' ORDER BY seq LOOP
      previous := ledger_hash(previous, e);
      UPDATE ledger SET hash = previous WHERE org_id = e.org_id AND seq = e.seq;
    END LOOP;
    UPDATE wallets SET head = previous, version = version + 1 WHERE org_id = '${org_id}';
  END $$`
/** Makes everything so far happen some days earlier, and has the worker look at those days. */
const daysPass = async (tenant: Tenant, days: number) => {
  await asOwner([
    `UPDATE ledger SET created_at = created_at - interval '${days} days' WHERE org_id = '${tenant.org_id}'`,
    rechained(tenant)
  ])
  await app.sql("UPDATE wallet_head_days SET day = (now() AT TIME ZONE 'UTC')::date - $1::int - 1", [days])
}
const headsOf = async (tenant: Tenant) => (await tenant.get("/v1/wallet/heads")).body.items
const madeFor = (tenant: Tenant, count: number) =>
  until(
    `${count} heads`,
    () => headsOf(tenant),
    (items) => items.length === count
  )

describe("ledger heads", () => {
  test("are made for each day with entries, also for days on which no process ran", async () => {
    expect(await headsOf(org)).toEqual([])
    await org.run(verify())
    await daysPass(org, 3)
    await madeFor(org, 1)
    await org.run(verify())
    await asOwner([
      `UPDATE ledger SET created_at = created_at - interval '1 day' WHERE org_id = '${org.org_id}' AND created_at > now() - interval '1 hour'`,
      rechained(org)
    ])
    // The days between have no entries, so they have no heads.
    await app.sql("UPDATE wallet_head_days SET day = (now() AT TIME ZONE 'UTC')::date - 3")
    const [newest, oldest] = await madeFor(org, 2)
    const [today] = await app.sql(
      "SELECT ((now() AT TIME ZONE 'UTC')::date - 1)::text AS yesterday, ((now() AT TIME ZONE 'UTC')::date - 3)::text AS first"
    )
    expect([newest.day, oldest.day]).toEqual([String(today?.["yesterday"]), String(today?.["first"])])
    const rows = await app.sql(
      "SELECT seq, encode(hash, 'hex') AS hash FROM ledger WHERE org_id = $1 AND seq = ANY($2)",
      [org.org_id, [newest.seq, oldest.seq]]
    )
    expect(rows).toHaveLength(2)
    const { body: jwks } = await app.call(null, "GET", "/.well-known/jwks.json")
    for (const item of [newest, oldest]) {
      expect(decodeProtectedHeader(item.head).typ).toBe("rungate-ledger-head+jws")
      const { payload } = await compactVerify(item.head, createLocalJWKSet(jwks))
      const { day, seq, hash } = item
      expect(JSON.parse(new TextDecoder().decode(payload))).toMatchObject({ org_id: org.org_id, day, seq, hash })
      expect(rows).toContainEqual({ seq: String(seq), hash })
    }
    await app.books()
  })

  test("are made once by many processes, and belong to their organization", async () => {
    const tenants = await Promise.all(Array.from({ length: 12 }, () => app.tenant("1.00")))
    const second = await startApp({ beside: app, limits: quick })
    const third = await startApp({ beside: app, role: "worker", limits: quick })
    for (const one of tenants)
      await asOwner([
        `UPDATE ledger SET created_at = created_at - interval '1 day' WHERE org_id = '${one.org_id}'`,
        rechained(one)
      ])
    await app.sql("UPDATE wallet_head_days SET day = (now() AT TIME ZONE 'UTC')::date - 2")
    for (const one of tenants) {
      const [head] = await madeFor(one, 1)
      expect(head.seq).toBe(1)
    }
    expect(JSON.stringify(await headsOf(tenants[0]!))).not.toContain((await headsOf(tenants[1]!))[0].hash)
    expect((await app.sql("SELECT 1 FROM wallet_heads")).length).toBe(2 + tenants.length)
    await expect(app.sql("DELETE FROM wallet_heads")).rejects.toThrow("append-only")
    await second.stop()
    await third.stop()
  })

  test("are listed in pages, and cursors are checked", async () => {
    const first = await org.get("/v1/wallet/heads?limit=1")
    const second = await org.get(`/v1/wallet/heads?limit=1&cursor=${first.body.next_cursor}`)
    expect([first.body.items.length, second.body.items.length, second.body.next_cursor]).toEqual([1, 1, null])
    expect(second.body.items[0].day < first.body.items[0].day).toBe(true)
    for (const path of [
      "heads?cursor=2026-02-30",
      "heads?cursor=%00",
      "heads?limit=0",
      "chain?cursor=-1",
      "chain?cursor=x",
      "chain?limit=1e3"
    ])
      expect([path, (await org.get(`/v1/wallet/${path}`)).body.error.code]).toEqual([path, "invalid_request"])
    const { body: all } = await org.get("/v1/wallet/chain?limit=200")
    const { body: page } = await org.get("/v1/wallet/chain?limit=2&cursor=1")
    expect(page.items).toEqual(all.items.slice(1, 3))
    expect(page.next_cursor).toBe("3")
    expect(all.items[0].previous).toBe("0".repeat(64))
  })
})

describe("a customer who kept a head", () => {
  const check = async () => {
    const said = await home.shell("rungate receipt verify --head ledger-heads.json --jwks jwks.json --json")
    return { code: said.code, texts: said.body.checks.map((one: { text: string }) => one.text).join("\n") as string }
  }

  test("sees that it is still in the chain", async () => {
    const saved = await home.shell("rungate wallet heads")
    expect([saved.code, saved.err]).toEqual([
      0,
      expect.stringContaining("Saved 2 signed ledger heads in ledger-heads.json")
    ])
    await home.shell("rungate receipt keys")
    await org.run(verify())
    const { code, texts } = await check()
    expect([code, texts]).toEqual([
      0,
      expect.stringMatching(/The head of \S+ is in today's chain: entries 1 to \d+ are those that were signed\./)
    ])
    // Again: it keeps what it has.
    expect((await home.shell("rungate wallet heads")).code).toBe(0)
  })

  test("finds out when the owner rewrites the ledger, whatever else is rewritten", async () => {
    const kept = readFileSync(join(home.folder, "ledger-heads.json"), "utf8")
    const { rows } = await (async () => {
      const client = new Client(app.databaseUrl)
      await client.connect()
      const found = await client.query("SELECT secret FROM receipt_secrets")
      await client.end()
      return found
    })()
    await asOwner([
      `UPDATE ledger SET note = 'never happened' WHERE org_id = '${org.org_id}' AND seq = 1`,
      rechained(org),
      `UPDATE wallet_heads h SET hash = l.hash FROM ledger l WHERE l.org_id = h.org_id AND l.seq = h.seq AND h.org_id = '${org.org_id}'`
    ])
    // The service's operator has the key, so its own heads are signed again too.
    const secret = JSON.parse(String(rows[0].secret))
    const key = await importJWK(secret, "EdDSA")
    for (const item of await headsOf(org)) {
      const { kid } = decodeProtectedHeader(item.head)
      const payload = { iss: app.url, iat: 0, org_id: org.org_id, day: item.day, seq: item.seq, hash: item.hash }
      const forged = await new CompactSign(new TextEncoder().encode(JSON.stringify(payload)))
        .setProtectedHeader({ alg: "EdDSA", kid: String(kid), typ: "rungate-ledger-head+jws" })
        .sign(key)
      await asOwner([
        `UPDATE wallet_heads SET head = '${forged}' WHERE org_id = '${org.org_id}' AND day = '${item.day}'`
      ])
    }
    // Nobody inside can see it: all equations hold.
    await app.books()
    expect((await org.get("/v1/wallet/audit")).body).toMatchObject({ adds_up: true, chain_verified: true })
    const { code, texts } = await check()
    expect([code, texts]).toEqual([1, expect.stringContaining("The ledger was rewritten: on ")])
    const again = await home.shell("rungate wallet heads")
    expect([again.code, again.err]).toEqual([1, expect.stringContaining("the ledger was rewritten")])
    expect(readFileSync(join(home.folder, "ledger-heads.json"), "utf8")).toBe(kept)
  })

  test("finds out about entries that are gone, and about a chain that is broken", async () => {
    const other = await app.tenant("5.00")
    const theirs = newHome({ RUNGATE_URL: app.url, RUNGATE_API_KEY: other.key })
    await other.run(verify())
    await daysPass(other, 1)
    await madeFor(other, 1)
    for (const line of ["rungate wallet heads", "rungate receipt keys"]) expect((await theirs.shell(line)).code).toBe(0)
    const checked = () => theirs.shell("rungate receipt verify --head ledger-heads.json --jwks jwks.json")
    expect((await checked()).code).toBe(0)
    await asOwner([`UPDATE ledger SET note = 'x' WHERE org_id = '${other.org_id}' AND seq = 2`])
    const broken = await checked()
    expect([broken.code, broken.out]).toEqual([1, expect.stringContaining("hash of entry 2 is not computed")])
    await asOwner([`UPDATE ledger SET note = NULL WHERE org_id = '${other.org_id}' AND seq = 2`])
    await asOwner([`DELETE FROM ledger WHERE org_id = '${other.org_id}' AND seq > 1`])
    const lost = await checked()
    expect([lost.code, lost.out]).toEqual([1, expect.stringContaining("The ledger lost entries")])
    // The operator's audit says so too.
    const operator = newHome({ DATABASE_URL: app.databaseUrl })
    const audited = await operator.shell("rungate audit")
    expect([audited.code, audited.out]).toEqual([
      1,
      expect.stringContaining("E17 each signed head is an entry of the chain")
    ])
    operator.remove()
    theirs.remove()
  })

  test("is told what can't be compared where months were dropped", async () => {
    const old = await app.tenant("5.00")
    const theirs = newHome({ RUNGATE_URL: app.url, RUNGATE_API_KEY: old.key })
    await old.run(verify())
    await daysPass(old, 1)
    await madeFor(old, 1)
    for (const line of ["rungate wallet heads", "rungate receipt keys"]) expect((await theirs.shell(line)).code).toBe(0)
    await old.run(verify())
    // As drop_months leaves it: the run's entries are gone, their newest one is the checkpoint.
    const dropped = (until_seq: number) => [
      `INSERT INTO ledger_checkpoints (org_id, seq, balance_after, reserved_after, hash, entries, reserve, settle, release, net_revenue)
       SELECT org_id, seq, balance_after, reserved_after, hash, 1, 0, 0, 0, 0 FROM ledger WHERE org_id = '${old.org_id}' AND seq = ${until_seq}`,
      `DELETE FROM ledger WHERE org_id = '${old.org_id}' AND seq > 1 AND seq <= ${until_seq}`
    ]
    const checked = () => theirs.shell("rungate receipt verify --head ledger-heads.json --jwks jwks.json")
    await asOwner(dropped(4))
    const continued = await checked()
    expect([continued.code, continued.out]).toEqual([
      0,
      expect.stringContaining("is what today's chain continues from")
    ])
    await asOwner(dropped(5))
    const unknown = await checked()
    expect([unknown.code, unknown.out]).toEqual([
      1,
      expect.stringContaining("can't be compared: entry 4 was dropped with its month")
    ])
    expect(unknown.err).toContain("None of the ledger heads could be compared")
    theirs.remove()
  })

  test("is told about files that hold no heads", async () => {
    writeFileSync(join(home.folder, "empty.json"), '{"items":[]}')
    writeFileSync(join(home.folder, "text"), "no head")
    for (const [file, code] of [
      ["empty.json", 1],
      ["text", 1],
      ["missing", 5]
    ] as const)
      expect([file, (await home.shell(`rungate receipt verify --head ${file} --jwks jwks.json`)).code]).toEqual([
        file,
        code
      ])
    expect((await home.shell("rungate wallet heads -o text")).code).toBe(5)
  })
})
