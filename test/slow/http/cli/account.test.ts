/** Who one is: signing up and in, keys, limits, and what `doctor` finds; by pipe and at a terminal, and never a secret on it. */
import { beforeAll, describe, expect, test } from "bun:test"
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { startApp, type Tenant, withApp } from "../../../kit/app.ts"
import { type Home, newHome } from "../../../http/cli/shell.ts"

let org: Tenant
const app = withApp()
beforeAll(async () => {
  org = await app.tenant("25.00")
})

const password = "correct horse battery"
const withHome = async (use: (home: Home) => Promise<void>) => {
  const home = newHome({ RUNGATE_URL: app.url })
  try {
    await use(home)
  } finally {
    home.remove()
  }
}
const signUp = (email: string) => `rungate login --sign-up --email ${email} --organization 'Ada & Co' --password-stdin`
const saved = (home: Home, name: string) => {
  const path = join(home.folder, "config", "rungate", name)
  return existsSync(path) ? readFileSync(path, "utf8") : ""
}

test(
  "sign up, make a key, use it, sign out: from nothing to nothing",
  () =>
    withHome(async (home) => {
      const nobody = await home.shell("rungate whoami")
      expect([nobody.code, nobody.err]).toEqual([4, expect.stringContaining("rungate login")])
      const up = await home.shell(signUp("ada@example.com"), {}, `${password}\n`)
      expect([up.code, up.out, up.err]).toEqual([0, "", expect.stringContaining("Signed in to Ada & Co")])
      expect(statSync(join(home.folder, "config", "rungate", "sessions.json")).mode & 0o777).toBe(0o600)
      expect(saved(home, "sessions.json")).not.toContain(password)

      const kept = await home.shell("rungate keys create laptop --save")
      expect([kept.code, kept.out]).toEqual([0, ""])
      const key = /rg_test_\w+/.exec(saved(home, "credentials.json"))?.[0] ?? expect.unreachable("no key is saved")
      expect(kept.err).not.toContain(key)
      const shown = await home.shell("rungate keys create ci --quiet")
      expect([shown.err, shown.out]).toEqual(["", expect.stringMatching(/^rg_test_\w+\n$/)])
      const other = await home.shell("rungate wallet", { RUNGATE_API_KEY: shown.out.trim() })
      expect(other.body).toMatchObject({ balance: "0.00" })

      const who = await home.shell("rungate whoami")
      expect(who.body).toMatchObject({
        source: "profile",
        environment: "test",
        api_key: { name: "laptop" },
        session: { email: "ada@example.com", organization: { name: "Ada & Co" } }
      })
      expect(who.out).not.toContain(key)

      const { body: list } = await home.shell("rungate keys list")
      const ci = list.items.find((one: { name: string }) => one.name === "ci")
      const unsure = await home.shell(`rungate keys revoke ${ci.id}`)
      expect([unsure.code, unsure.err]).toEqual([5, expect.stringContaining("--yes")])
      const gone = await home.shell(`rungate keys revoke ${ci.id} --yes`)
      expect([gone.code, gone.body.revoked]).toEqual([0, true])
      expect((await home.shell("rungate wallet", { RUNGATE_API_KEY: shown.out.trim() })).code).toBe(4)

      const token = /rg_sess_\w+/.exec(saved(home, "sessions.json"))?.[0] ?? expect.unreachable("no session is saved")
      const out = await home.shell("rungate logout")
      expect([out.code, out.err]).toEqual([0, expect.stringContaining("stays valid")])
      expect(saved(home, "credentials.json") + saved(home, "sessions.json")).not.toMatch(/rg_/)
      expect((await app.call(token, "GET", "/v1/wallet")).status).toBe(401)
    }),
  30_000
)

test(
  "at a terminal the password is typed twice, unseen; a wrong one says so; Ctrl-C leaves nothing behind",
  () =>
    withHome(async (home) => {
      const up = home.terminal("rungate login --sign-up")
      await up.shows("E-mail:")
      up.type("eve@example.com\r")
      await up.shows("Organization:")
      up.type("Eve\r")
      await up.shows("Password:")
      up.type(`wrong\u0015${password}x\u007f\r`)
      await up.shows("Repeat the password:")
      up.type(`${password}\r`)
      expect(await up.ended).toBe(0)
      expect(up.seen()).toContain("Signed in to Eve")
      expect(up.seen()).not.toContain("horse")

      const wrong = await home.shell("rungate login --email eve@example.com --password-stdin", {}, "no such password\n")
      expect([wrong.code, wrong.err]).toEqual([4, "rungate: The e-mail or the password is wrong.\n"])

      const before = saved(home, "sessions.json")
      const left = home.terminal("rungate login --email eve@example.com")
      await left.shows("Password:")
      left.type("half\u0003")
      expect(await left.ended).toBe(2)
      expect(saved(home, "sessions.json")).toBe(before)

      const keys = home.terminal("rungate keys create desk")
      expect(await keys.ended).toBe(0)
      expect(keys.seen()).toMatch(/rg_test_\w+/)
      expect(keys.seen()).toContain("shown only this once")
      const { body } = await home.shell("rungate keys list")
      const no = home.terminal(`rungate keys revoke ${body.items[0].id}`)
      await no.shows("[y/N]")
      no.type("\r")
      expect(await no.ended).toBe(2)
      expect((await home.shell("rungate keys list")).body.items[0].revoked).toBe(false)
    }),
  30_000
)

test("where addresses are verified, sign-up says what to do; an invitation needs nothing more", async () => {
  const strict = await startApp({ settings: { RUNGATE_EMAIL_VERIFICATION: "on" } })
  const home = newHome({ RUNGATE_URL: strict.url })
  try {
    const up = await home.shell(signUp("ada@example.com"), {}, `${password}\n`)
    expect([up.code, up.err]).toEqual([
      0,
      expect.stringContaining("Verify ada@example.com with the link in the e-mail")
    ])
    const unverified = await home.shell("rungate keys create laptop")
    expect([unverified.code, unverified.err]).toEqual([
      4,
      expect.stringContaining("`rungate api POST /v1/auth/verify-email/resend`")
    ])
    const again = await home.shell("rungate api POST /v1/auth/verify-email/resend")
    expect([again.code, again.body]).toEqual([0, { verification: "sent" }])
    const alone = await home.shell("rungate login --invitation x --email ada@example.com --password-stdin", {}, "x\n")
    expect([alone.code, alone.err]).toEqual([5, expect.stringContaining("--invitation need --sign-up")])
    // A code belongs to a password: it isn't dropped without a word.
    const key = await home.shell("rungate login --with-token --code 123456", {}, "rg_test_x\n")
    expect([key.code, key.err]).toEqual([5, expect.stringContaining("can't be combined with the sign-in flags")])
    const fresh = await home.shell(`${signUp("eve@example.com")} --code 123456`, {}, `${password}\n`)
    expect([fresh.code, fresh.err]).toEqual([5, expect.stringContaining("a new account has no second factor")])
    const bad = await home.shell(`${signUp("bob@example.com")} --invitation x --profile bob`, {}, `${password}\n`)
    expect([bad.code, bad.err]).toEqual([5, expect.stringContaining("invitation is not valid for this address")])
  } finally {
    home.remove()
    await strict.stop()
  }
})

test("a key with rules: create, list, update, rotate", () =>
  withHome(async (home) => {
    await home.shell(signUp("kay@example.com"), {}, `${password}\n`)
    const flags = "--budget 5/day --allow-capability email.find --allow-capability email.verify --max-cost 0.05"
    const made = await home.shell(`rungate keys create agent ${flags} --json`)
    expect([made.code, made.err, made.body]).toMatchObject([0, "", { api_key: expect.stringMatching(/^rg_test_/) }])
    const { body: list } = await home.shell("rungate keys list")
    expect(list.items.find((one: { id: string }) => one.id === made.body.id)).toMatchObject({
      budget: { limit: "5.00", period: "day", spent: "0.00" },
      allow: { capabilities: ["email.find", "email.verify"], max_cost: "0.05" }
    })
    const changed = await home.shell(`rungate keys update ${made.body.id} --no-budget --read-only --name reader`)
    expect([changed.code, changed.body]).toMatchObject([
      0,
      { name: "reader", budget: null, allow: { read_only: true } }
    ])
    const next = await home.shell(`rungate keys rotate ${made.body.id} --grace 60`)
    expect([next.code, next.out]).toEqual([0, expect.stringMatching(/^rg_test_\w+\n$/)])
    expect(next.err).toContain("works until")
    const wrong = await home.shell("rungate keys create agent --budget 5")
    expect([wrong.code, wrong.err]).toEqual([5, expect.stringContaining("such as 5/day")])
    const both = await home.shell(`rungate keys update ${made.body.id} --no-budget --budget 1/week`)
    expect([both.code, both.err]).toEqual([5, expect.stringContaining("not both")])
  }))

describe("login", () => {
  test("keeps a key that works, and no other", () =>
    withHome(async (home) => {
      const bad = await home.shell("rungate login --with-token", {}, "rg_test_nobody\n")
      expect([bad.code, bad.err]).toEqual([4, expect.stringContaining("Nothing was saved")])
      const none = await home.shell("rungate login --with-token", {}, "hunter2\n")
      expect([none.code, none.err]).toEqual([5, expect.not.stringContaining("hunter2")])
      expect(saved(home, "credentials.json")).toBe("")
      const file = join(home.folder, "key.txt")
      const missing = await home.shell(`rungate login --key-file ${file}`)
      expect([missing.code, missing.err]).toEqual([5, expect.stringContaining(file)])
      writeFileSync(file, "\n")
      const empty = await home.shell(`rungate login --key-file ${file}`)
      expect([empty.code, empty.err]).toEqual([5, expect.stringContaining("must be the API key")])
      writeFileSync(file, `${org.key}\n`)
      const kept = await home.shell(`rungate login --key-file ${file} --profile file && rungate whoami --profile file`)
      expect([kept.code, kept.out + kept.err]).toEqual([0, expect.not.stringContaining(org.key)])
      const good = await home.shell("rungate login --with-token", {}, `${org.key}\n`)
      expect([good.code, good.out, good.err]).toEqual([0, "", expect.not.stringContaining(org.key)])
      expect((await home.shell("rungate wallet")).body.balance).toBe("25.00")
      const elsewhere = await home.shell(
        "rungate login --with-token",
        { RUNGATE_URL: "http://127.0.0.1:1" },
        "rg_test_x\n"
      )
      expect([elsewhere.code, elsewhere.err]).toEqual([5, expect.stringContaining("--profile")])
      const rules = { name: "own runs", environment: "test", allow: { read: "own" } }
      const { body: made } = await app.call(await org.session(), "POST", "/v1/api-keys", { body: rules })
      // It has no budget, so it may not read what is left of one.
      const own = await home.shell("rungate login --with-token --profile own", {}, `${made.api_key}\n`)
      expect([own.code, own.err]).toEqual([0, expect.stringContaining('profile "own"')])
      const silent = await home.shell("rungate login")
      expect([silent.code, silent.err]).toEqual([5, expect.stringContaining("--with-token")])
    }))

  test("what needs a session says so to a key", () =>
    withHome(async (home) => {
      for (const line of ["keys create x", "wallet auto-topup off", "senders add example.com"]) {
        const said = await home.shell(`rungate ${line}`, { RUNGATE_API_KEY: org.key })
        expect([said.code, said.err]).toEqual([4, expect.stringContaining("rungate login")])
        expect(said.err).toContain("For the demo organization, sign in as demo@example.com")
      }
    }))
})

test("senders are added, verified, listed and removed, and a person is told which record to create", () =>
  withHome(async (home) => {
    expect((await home.shell(signUp("senders@example.com"), {}, `${password}\n`)).code).toBe(0)
    const none = home.terminal("rungate senders list")
    await none.ended
    expect(none.seen()).toContain("rungate senders add example.com")
    const added = await home.shell("rungate senders add shop.com")
    expect([added.code, added.body]).toEqual([0, expect.objectContaining({ domain: "shop.com", status: "pending" })])
    const told = home.terminal("rungate senders add shop.com")
    await told.ended
    for (const words of [added.body.record.name, added.body.record.value, `rungate senders verify ${added.body.id}`])
      expect(told.seen()).toContain(words)
    const wrong = await home.shell("rungate senders add co.uk")
    expect([wrong.code, wrong.err]).toEqual([5, expect.stringContaining("one organization registered")])
    const verified = home.terminal(`rungate senders verify ${added.body.id}`)
    await verified.ended
    expect(verified.seen()).toContain("shop.com is verified")
    const table = home.terminal("rungate senders list")
    await table.ended
    expect(Bun.stripANSI(table.seen())).toMatch(/ID +DOMAIN +STATUS +ADDED/)
    expect(Bun.stripANSI(table.seen())).toMatch(/snd_\w+ +shop\.com +verified/)
    const unsure = await home.shell(`rungate senders remove ${added.body.id}`)
    expect([unsure.code, unsure.err]).toEqual([5, expect.stringContaining("--yes")])
    const gone = await home.shell(`rungate senders remove ${added.body.id} --yes`)
    expect([gone.code, gone.body]).toEqual([0, { id: added.body.id, deleted: true }])
    expect((await home.shell("rungate senders list")).body.items).toEqual([])
  }))

test("the spend guard is shown, set in part, switched off in part, and keeps runs from starting", () =>
  withHome(async (home) => {
    const mine = { RUNGATE_API_KEY: org.key }
    const set = await home.shell("rungate spend-guard set --per-run 0.001 --daily 20", mine)
    expect(set.body).toMatchObject({ per_run_limit: "0.001", daily_limit: "20.00" })
    const run = await home.shell(`rungate run email.verify -i '{"email":"a@example.com"}'`, mine)
    expect([run.code, run.err]).toEqual([6, expect.stringContaining("rungate spend-guard")])
    const refused = await home.shell("rungate spend-guard off per-run", mine)
    expect([refused.code, refused.err]).toEqual([4, expect.stringContaining("rungate login")])
    const person = { RUNGATE_API_KEY: await org.session() }
    const off = await home.shell("rungate spend-guard off per-run", person)
    expect(off.body).toMatchObject({ per_run_limit: null, daily_limit: "20.00" })
    const none = await home.shell("rungate spend-guard set", mine)
    expect([none.code, none.err]).toEqual([5, expect.stringContaining("--daily")])
    const screen = home.terminal("rungate spend-guard", mine)
    await screen.ended
    expect(Bun.stripANSI(screen.seen())).toMatch(/per run +no limit\s+per day +\$20\.00/)
    expect((await home.shell("rungate spend-guard off", person)).body.daily_limit).toBeNull()
  }))

describe("doctor", () => {
  const verdicts = (body: { checks: ReadonlyArray<{ name: string; verdict: string }> }) =>
    Object.fromEntries(body.checks.map(({ name, verdict }) => [name, verdict]))

  test("finds nothing, or says what: no money, no key, no service, another one's page, an open file", () =>
    withHome(async (home) => {
      const poor = await app.tenant()
      const stranger = Bun.serve({ port: 0, fetch: () => new Response("<html>") })
      const late = Bun.serve({
        port: 0,
        fetch: () => Response.json({}, { headers: { date: new Date(Date.UTC(2020, 0)).toUTCString() } })
      })
      const look = (environment: Record<string, string>) => home.shell("rungate doctor", environment)
      const [well, broke, keyless, nobody, page, slow] = await Promise.all([
        look({ RUNGATE_API_KEY: org.key }),
        look({ RUNGATE_API_KEY: poor.key }),
        look({}),
        look({ RUNGATE_URL: "http://127.0.0.1:1" }),
        look({ RUNGATE_URL: stranger.url.href }),
        look({ RUNGATE_URL: late.url.href })
      ])
      await Promise.all([stranger.stop(true), late.stop(true)])
      expect([well.code, well.err, well.body.ok]).toEqual([0, "", true])
      expect(new Set(Object.values(verdicts(well.body)))).toEqual(new Set(["pass"]))
      expect([broke.code, verdicts(broke.body)]).toEqual([0, expect.objectContaining({ balance: "warn" })])
      expect([keyless.code, verdicts(keyless.body)]).toEqual([1, expect.objectContaining({ key: "fail" })])
      expect([nobody.code, verdicts(nobody.body)]).toEqual([1, { settings: "pass", service: "fail", agents: "pass" }])
      expect([page.code, verdicts(page.body)]).toEqual([1, expect.objectContaining({ version: "fail" })])
      expect(verdicts(slow.body)).toMatchObject({ clock: "warn" })

      await home.shell("rungate login --with-token", {}, org.key)
      chmodSync(join(home.folder, "config", "rungate", "credentials.json"), 0o644)
      const screen = home.terminal("rungate doctor")
      expect(await screen.ended).toBe(1)
      expect(Bun.stripANSI(screen.seen())).toMatch(/FAIL +settings +[^]*chmod 600/)
    }))

  test("says which agent hosts use rungate, and when what they would start is gone", () =>
    withHome(async (home) => {
      const settings = join(home.folder, ".cursor", "mcp.json")
      const printed = (await home.shell("rungate mcp --print-config")).body.mcpServers.rungate
      const other = { command: "/usr/bin/other", args: ["mcp"], env: { SECRET: "canary" } }
      const agents = async (text: string) => {
        mkdirSync(join(home.folder, ".cursor"), { recursive: true })
        writeFileSync(settings, text)
        const { body, out } = await home.shell("rungate doctor", { RUNGATE_API_KEY: org.key, HOME: home.folder })
        expect(out).not.toContain("canary")
        const [found] = body.checks.filter(({ name }: { name: string }) => name === "agents")
        return [found.verdict, found.detail]
      }
      const config = (rungate?: unknown) => JSON.stringify({ mcpServers: { other, ...(rungate ? { rungate } : {}) } })
      expect(await agents(config(printed))).toEqual(["pass", "Cursor can use rungate"])
      expect(await agents(config())).toEqual(["pass", expect.stringMatching(/^No agent host .*--print-config/)])
      const gone = config({ ...printed, command: join(home.folder, "gone", "rungate") })
      expect(await agents(gone)).toEqual(["warn", expect.stringContaining(settings)])
      expect(await agents("{")).toEqual(["warn", expect.stringContaining(settings)])
    }))
})
