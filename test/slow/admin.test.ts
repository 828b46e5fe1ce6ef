/** The operator's commands, as real processes of the compiled file, beside a running service, before it and without it. */
import { beforeAll, describe, expect, test } from "bun:test"
import { backends, startApp, type Tenant, until, verify, withApp } from "../kit/app.ts"
import { heldProvider, rehearseHeld } from "../kit/held-provider.ts"
import { type Command, runMain } from "../chaos/processes.ts"
import { compiledCommand } from "../kit/compiled-command.ts"
import { newHome } from "../http/cli/shell.ts"
import { freshDatabase } from "../kit/postgres.ts"
import { dueToday } from "../kit/input-samples.ts"
import { schemaVersion } from "../../src/layers/postgres/DatabaseSchema.ts"

const command: Command = [await compiledCommand()]
const held = heldProvider()
let org: Tenant
const app = withApp({ held })
beforeAll(async () => {
  org = await app.tenant("5.00")
})

const admin = async (databaseUrl: string, ...args: ReadonlyArray<string>) => {
  const { errors, output, ended } = runMain(["admin", ...args], { DATABASE_URL: databaseUrl }, command)
  const { code } = await ended
  const out = output()
  return { code, out, err: errors(), body: out.startsWith("{") ? JSON.parse(out) : null }
}
const beside = (...args: ReadonlyArray<string>) => admin(app.databaseUrl, ...args)
const nobody = `org_${"0".repeat(26)}`

describe("beside a running service", () => {
  test("orgs lists the newest first, finds by name, member and id, and says when there are more", async () => {
    // A name of the time before names had to be printable.
    await app.sql("ALTER TABLE orgs DISABLE TRIGGER name_is_printable")
    await app.sql("UPDATE orgs SET name = E'Ada & \\x1b[2JCo' WHERE org_id = $1", [org.org_id])
    await app.sql("ALTER TABLE orgs ENABLE TRIGGER name_is_printable")
    await app.sql(
      "INSERT INTO users (user_id, org_id, email, password_hash) VALUES ('usr_ada', $1, 'Ada@Example.com', 'none')",
      [org.org_id]
    )
    await org.run(verify())
    const other = await app.tenant()
    const text = await beside("orgs")
    expect([text.code, text.err]).toEqual([0, ""])
    const [head, ...lines] = text.out.trim().split("\n")
    expect(head).toMatch(/^ID +ORGANIZATION +BALANCE +AVAILABLE +HELD +RUNS TODAY +CHARGED TODAY +CREATED$/)
    expect(lines.map((line) => line.split(" ")[0])).toEqual([other.org_id, org.org_id])
    expect(lines[1]).toContain("Ada & \ufffd[2JCo")
    const { balance } = await org.wallet()
    for (const search of ["ada & ", "ada@example", org.org_id]) {
      const { body } = await beside("orgs", "--search", search, "--json")
      expect(body).toEqual({
        items: [
          {
            org_id: org.org_id,
            name: "Ada & \x1b[2JCo",
            created_at: expect.any(String),
            balance,
            reserved: "0.00",
            available: balance,
            runs_today: 1,
            charged_today: expect.stringMatching(/^0\.0\d+$/),
            suspension: null
          }
        ],
        next_cursor: null
      })
    }
    const first = await beside("orgs", "--limit", "1")
    expect([first.out.trim().split("\n").length, first.err]).toEqual([2, expect.stringContaining("or --all")])
    const second = await beside("orgs", "--limit", "1", "--cursor", /--cursor (\S+),/.exec(first.err)?.[1] ?? "")
    expect(second.out).toContain(org.org_id)
    const none = await beside("orgs", "--search", "100%", "--json")
    expect(none.body.items).toEqual([])
    const wrong = await beside("orgs", "--limit", "0")
    expect([wrong.code, wrong.err]).toEqual([5, expect.stringContaining("--limit")])
  })

  test("credit: one reference is one entry, however often and under whatever note", async () => {
    const to = await app.tenant("1.00")
    const args = ["credit", to.org_id, "2.50", "--note", "sorry for the wait", "--reference", "ticket-17"]
    const first = await beside(...args)
    expect([first.code, first.err]).toEqual([0, ""])
    expect(first.out).toMatch(
      /^credited: 2\.50 USD to org_\w+ \(Test\), reference ticket-17, entry txn_\w+\nbalance 3\.50/
    )
    const again = await beside(...args, "--json")
    const [entry, ...older] = await to.ledger()
    expect(entry).toMatchObject({ type: "bonus", amount: "2.50", balance_after: "3.50", note: "sorry for the wait" })
    expect(older).toHaveLength(1)
    expect([again.code, again.body]).toEqual([
      0,
      {
        org_id: to.org_id,
        type: "bonus",
        amount: "2.50",
        reference: "ticket-17",
        transaction_id: entry?.id,
        already: true,
        balance: "3.50",
        available: "3.50"
      }
    ])
    const more = await beside("credit", to.org_id, "3", "--note", "n", "--reference", "ticket-17")
    expect([more.code, more.err]).toEqual([
      5,
      expect.stringContaining("already used for 2.50 USD; nothing was changed")
    ])
    // The reference is this organization's and this kind's only.
    const refund = await beside("refund", to.org_id, "0.000001", "--note", "n", "--reference", "ticket-17", "--json")
    expect([refund.body.type, refund.body.already, refund.body.balance]).toEqual(["refund", false, "3.500001"])
    const another = await beside("credit", org.org_id, "2.50", "--note", "n", "--reference", "ticket-17", "--json")
    expect([another.body.already, another.body.transaction_id === entry?.id]).toEqual([false, false])
    expect((await to.wallet()).balance).toBe("3.500001")
    await app.books()
  })

  test("credits at the same time with one reference book once; without one each books", async () => {
    const to = await app.tenant()
    const same = ["credit", to.org_id, "1.00", "--note", "n", "--reference", "race", "--json"]
    const fresh = ["credit", to.org_id, "10.00", "--note", "n", "--json"]
    const all = await Promise.all([same, same, same, fresh, fresh].map((args) => beside(...args)))
    expect(all.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0])
    expect(new Set(all.map(({ body }) => body.transaction_id)).size).toBe(3)
    expect((await to.wallet()).balance).toBe("21.00")
    await app.books()
  })

  test("a credit asks at a terminal, and only there: no, yes, -y, and --no-input", async () => {
    const to = await app.tenant()
    const home = newHome({ DATABASE_URL: app.databaseUrl })
    const line = `rungate admin credit ${to.org_id} 1.00 --note n`
    const refused = home.terminal(line)
    await refused.shows("[y/N]")
    refused.type("\r")
    expect([await refused.ended, refused.seen()]).toEqual([2, expect.stringContaining("Nothing was changed")])
    const agreed = home.terminal(line)
    await agreed.shows("[y/N]")
    agreed.type("y\r")
    expect([await agreed.ended, agreed.seen()]).toEqual([0, expect.stringContaining("credited: 1.00 USD")])
    const given = home.terminal(`${line} -y`)
    expect([await given.ended, given.seen().includes("[y/N]")]).toEqual([0, false])
    const silent = home.terminal(`${line} --no-input`)
    expect([await silent.ended, silent.seen()]).toEqual([5, expect.stringContaining("Pass --yes")])
    expect((await to.wallet()).balance).toBe("2.00")
    home.remove()
  })

  test("show: wallet, guard, keys, entries, open runs, and books that add up", async () => {
    const to = await app.tenant("1.00")
    await to.run(verify())
    await to.run({ ...rehearseHeld(), wait_seconds: 0 })
    const { balance, reserved } = await until(
      "the slow run is held for",
      () => to.wallet(),
      (wallet) => wallet.reserved !== "0.00"
    )
    const { code, body } = await beside("show", to.org_id, "--json")
    expect([code, body.org_id, body.balance, body.reserved]).toEqual([0, to.org_id, balance, reserved])
    expect(body.guard).toMatchObject({ per_run_limit: null, daily_limit: null, spent_today: body.charged_today })
    expect(body.keys).toMatchObject([{ id: to.key_id, name: "test key", environment: "test", revoked_at: null }])
    expect(body.entries.map(({ type }: { type: string }) => type)).toEqual([
      "reserve",
      "release",
      "settle",
      "reserve",
      "bonus"
    ])
    expect(body.open_runs).toMatchObject([{ capability: "email.verify", status: "running", hold: reserved }])
    expect(body.books).toEqual({ add_up: true, violations: [] })
    const text = await beside("show", to.org_id)
    expect(text.out).toContain(`wallet: balance ${balance}, reserved ${reserved}`)
    expect(text.out).toContain("\nguard: per run no limit")
    for (const part of ["\nkeys, newest", "\nlast 20 ledger", "\nopen runs"]) expect(text.out).toContain(part)
    expect(text.out.trim().split("\n").at(-1)).toBe("books: add up")
    held.release()
  })

  test("keys create: prints a key that works, once, and refuses a bad name and an unknown organization", async () => {
    const to = await app.tenant("1.00")
    const made = await beside("keys", "create", to.org_id, "--name", "second")
    expect([made.code, made.out, made.err]).toEqual([
      0,
      expect.stringMatching(/^rg_test_\w+\n$/),
      expect.stringMatching(new RegExp(`^Created key_\\w+ for ${to.org_id} \\(Test\\)\\. Store the key now`))
    ])
    const wallet = await fetch(`${app.url}/v1/wallet`, { headers: { authorization: `Bearer ${made.out.trim()}` } })
    expect(wallet.status).toBe(200)
    const { body } = await beside("keys", "create", to.org_id, "--json")
    expect(body).toMatchObject({ org_id: to.org_id, environment: "test", api_key: expect.stringMatching(/^rg_test_/) })
    expect((await beside("keys", "create", to.org_id, "--name", " ")).code).toBe(5)
    const absent = await beside("keys", "create", nobody)
    expect([absent.code, absent.err]).toEqual([250, expect.stringContaining("There is no organization")])
  })

  test("keys revoke: the next call with the key is refused", async () => {
    const to = await app.tenant()
    expect((await to.get("/v1/wallet")).status).toBe(200)
    const { code, out } = await beside("keys", "revoke", to.key_id)
    expect((await to.get("/v1/wallet")).status).toBe(401)
    expect([code, out]).toEqual([
      0,
      expect.stringMatching(new RegExp(`^revoked: ${to.key_id} test key .+ ${to.org_id}`))
    ])
    const again = await beside("keys", "revoke", to.key_id, "--json")
    expect([again.code, again.body.id, again.body.org_id]).toEqual([0, to.key_id, to.org_id])
    const shown = await beside("show", to.org_id, "--json")
    expect(shown.body.keys[0].revoked_at).toBe(again.body.revoked_at)
    expect(out).toContain(again.body.revoked_at.slice(0, 19))
  })

  test.each([
    [["credit", "ORG", "0", "--note", "n"], 5, "amount must be above 0 and at most 1000000.00"],
    [["credit", "ORG", "1e3", "--note", "n"], 5, "amount"],
    [["credit", "ORG", "1000000.01", "--note", "n"], 5, "at most 1000000.00"],
    [["refund", "ORG", "-1.00", "--note", "n"], 5, ""],
    [["credit", "ORG", "1.00"], 5, "note"],
    [["credit", "ORG", "1.00", "--note", " "], 5, "note must say why"],
    [["credit", "ORG", "1.00", "--note", "n", "--reference", "a,b"], 5, "reference must be 1 to 100 characters"],
    [["credit", nobody, "1.00", "--note", "n"], 250, "There is no organization"],
    [["refund", "acme", "1.00", "--note", "n"], 250, "There is no organization"],
    [["show", nobody], 250, "There is no organization"],
    [["keys", "revoke", `key_${"0".repeat(26)}`], 250, "There is no API key"]
  ])("%p is refused", async (args, code, words) => {
    const to = await app.tenant()
    const found = await beside(...args.map((arg) => (arg === "ORG" ? to.org_id : arg)))
    expect([found.code, found.err]).toEqual([code, expect.stringContaining(words)])
    if (words.startsWith("There") || words.startsWith("amount must"))
      expect(found.err.trim().split("\n")).toHaveLength(1)
    expect(await to.ledger()).toEqual([])
  })
})

test.concurrent.if(dueToday(1))(
  "without a worker credits are stored, and the next worker applies each reference once",
  async () => {
    const front = await startApp({ role: "http" })
    const to = await front.tenant()
    const args = ["credit", to.org_id, "4.00", "--note", "n", "--reference", "early"]
    const asked = await Promise.all([
      admin(front.databaseUrl, ...args),
      admin(front.databaseUrl, ...args, "--json"),
      admin(front.databaseUrl, "refund", to.org_id, "0.50", "--note", "n")
    ])
    expect(asked.map(({ code }) => code)).toEqual([8, 8, 8])
    expect(asked.map(({ out }) => out)).toEqual(["", "", ""])
    expect(asked[0]?.err).toContain("The next worker applies it once (rungate serve). Repeat it with reference early")
    const worker = await startApp({ role: "worker", beside: front })
    await until("the credits", to.wallet, ({ balance }) => balance === "4.50")
    const later = await admin(front.databaseUrl, ...args, "--json")
    expect([later.code, later.body]).toEqual([0, expect.objectContaining({ already: true, balance: "4.50" })])
    expect(await to.ledger()).toHaveLength(2)
    await front.books()
    await worker.stop()
    await front.stop()
  },
  60_000
)

test.concurrent("show names what does not add up, and exits with 1; another wallet is none of its business", async () => {
  const broken = await startApp({ role: "all" })
  const [bad, good] = [await broken.tenant("1.00"), await broken.tenant("1.00")]
  await bad.run(verify())
  const wrecks = [
    ["UPDATE wallets SET balance = balance + 1 WHERE org_id = $1", "E1"],
    ["UPDATE wallets SET reserved = reserved + 1 WHERE org_id = $1", "E2"],
    ["UPDATE runs SET finished_at = NULL, status = 'created', charged = NULL WHERE org_id = $1", "E5"]
  ] as const
  await broken.sql("ALTER TABLE runs DISABLE TRIGGER USER")
  for (const [wreck, equation] of wrecks) {
    await broken.sql(wreck, [bad.org_id])
    const { code, out, err } = await admin(broken.databaseUrl, "show", bad.org_id)
    expect([code, err]).toEqual([1, `rungate: The books of ${bad.org_id} do not add up. See the violations above.\n`])
    expect(out).toContain(`VIOLATION ${equation}`)
  }
  await broken.sql("ALTER TABLE ledger DISABLE TRIGGER USER")
  await broken.sql("UPDATE ledger SET balance_after = balance_after + 1 WHERE org_id = $1 AND seq = 2", [bad.org_id])
  await broken.sql("DELETE FROM ledger WHERE org_id = $1 AND type = 'release'", [bad.org_id])
  await broken.sql("UPDATE runs SET finished_at = now(), status = 'failed' WHERE org_id = $1", [bad.org_id])
  const { body } = await admin(broken.databaseUrl, "show", bad.org_id, "--json")
  const equations = new Set(body.books.violations.map((one: { equation: string }) => one.equation.slice(0, 2)))
  expect([...equations].sort()).toEqual(["E1", "E2", "E4", "E5", "E7", "E9"])
  const { code } = await admin(broken.databaseUrl, "show", good.org_id)
  expect(code).toBe(0)
  await broken.stop()
})

test.concurrent.if(backends.includes("redis"))("over Redis a credit is taken and answered, too", async () => {
  const redis = await startApp({ backend: "redis" })
  const to = await redis.tenant()
  const env = { DATABASE_URL: redis.databaseUrl, REDIS_URL: redis.settings["REDIS_URL"] ?? "" }
  const { ended, output } = runMain(["admin", "credit", to.org_id, "1.00", "--note", "n"], env, command)
  expect([(await ended).code, output()]).toEqual([0, expect.stringContaining("balance 1.00")])
  await redis.stop()
})

test("migrations shows the schema's version, and the background migrations of this release", async () => {
  const { code, body } = await beside("migrations", "--json")
  expect([code, body]).toEqual([
    0,
    {
      schema_version: schemaVersion,
      release_schema_version: schemaVersion,
      background: []
    }
  ])
  const text = await beside("migrations")
  expect(text.out).toBe(
    `schema: version ${schemaVersion} (this release has ${schemaVersion})\nThis release has no background migrations.\n`
  )
})

test.concurrent("an empty database has nobody", async () => {
  const { code, body } = await admin(await freshDatabase(), "orgs", "--json")
  expect([code, body]).toEqual([0, { items: [], next_cursor: null }])
})

describe("resources", () => {
  test("are assigned, listed and revoked, and a run sees it at once", async () => {
    const [to, other] = [await app.tenant(), await app.tenant()]
    const assigned = await beside("resources", "assign", to.org_id, "sender", "Ada@X.com")
    expect([assigned.code, assigned.err, assigned.out]).toEqual([
      0,
      "",
      `assigned: sender ada@x.com, to ${to.org_id} (Test)\n`
    ])
    const again = await beside("resources", "assign", to.org_id, "sender", "ada@x.com", "--json")
    const shared = { status: "assigned", org_id: to.org_id, kind: "sender", id: "ada@x.com", provider: null }
    expect([again.code, again.body]).toEqual([0, shared])
    // Several organizations may send from one address; everything else has one owner.
    expect((await beside("resources", "assign", other.org_id, "sender", "ada@x.com")).code).toBe(0)
    const account = ["account", "Acc-1", "--provider", "unipile"]
    expect((await beside("resources", "assign", to.org_id, ...account)).code).toBe(0)
    const taken = await beside("resources", "assign", other.org_id, ...account)
    expect([taken.code, taken.err]).toEqual([1, expect.stringContaining(`belongs to ${to.org_id}`)])
    expect(taken.err).toContain(`rungate admin resources revoke ${to.org_id} account Acc-1 --provider unipile`)
    const elsewhere = await beside("resources", "assign", other.org_id, "account", "Acc-1", "--provider", "edges")
    expect(elsewhere.code).toBe(0)

    const list = await beside("resources", "list", to.org_id)
    expect(list.out.split("\n")[0]).toMatch(/^kind +id +provider +source +since$/)
    expect(list.out).toMatch(/account +Acc-1 +unipile +assigned +\d{4}-/)
    const { body } = await beside("resources", "list", to.org_id, "sender", "--json")
    expect(body).toEqual({
      items: [{ kind: "sender", id: "ada@x.com", provider: null, source: "assigned", created_at: expect.any(String) }],
      more: false
    })
    await app.sql(
      "INSERT INTO senders (sender_id, org_id, domain, token, verified_at) VALUES ('snd_1', $1, 'proven.com', 'x', now())",
      [to.org_id]
    )
    const first = await beside("resources", "list", to.org_id, "--limit", "1")
    expect([first.out, first.err]).toEqual([
      expect.stringMatching(/sender +proven\.com +- +proven/),
      expect.stringContaining("--limit")
    ])

    for (const [kind, id, ...flags] of [account, ["sender", "ADA@x.com"], ["sender", "proven.com"]]) {
      const gone = await beside("resources", "revoke", to.org_id, kind ?? "", id ?? "", ...flags)
      expect([gone.code, gone.out]).toEqual([0, expect.stringMatching(/^revoked: /)])
    }
    const nothing = await beside("resources", "revoke", to.org_id, "sender", "ada@x.com")
    expect([nothing.code, nothing.err]).toEqual([5, expect.stringContaining("does not belong")])
    expect((await beside("resources", "list", to.org_id, "--json")).body.items).toEqual([])
  })

  test("are refused when nothing could have that id, and say what is wrong", async () => {
    const wrong: ReadonlyArray<readonly [ReadonlyArray<string>, string]> = [
      [["sender", "co.uk"], "one organization registered"],
      [["sender", "gmail.com"], "mailbox provider"],
      [["sender", "a@b@c.com"], "not an address"],
      [["sender", "ada@x.com", "--provider", "resend"], "--provider is only for accounts and jobs"],
      [["domain", "not a domain"], "domain name"],
      [["inbox", "a b"], "not an id"],
      [["account", "x"], "Give the provider of the account"],
      [["job", "x", "--provider", "nobody"], 'no provider "nobody"']
    ]
    for (const [args, words] of wrong) {
      const { code, err } = await beside("resources", "assign", org.org_id, ...args)
      expect([code, err]).toEqual([5, expect.stringContaining(words)])
    }
    const who = await beside("resources", "assign", nobody, "sender", "ada@x.com")
    expect([who.code, who.err]).toEqual([250, expect.stringContaining("There is no organization")])
    const what = await beside("resources", "assign", org.org_id, "planet", "x")
    expect(what.code).not.toBe(0)
  })
})
