/** What people and strangers send at once about one account: no session outlives its end, and no guess avoids a limit. */
import { expect, test } from "bun:test"
import { Client as Postgres } from "pg"
import { startApp, until, withApp } from "../../../kit/app.ts"

const password = "correct horse battery"
const another = "a password of another day"
const app = withApp()

let people = 0
const signUp = async () => {
  const email = `owner${(people += 1)}@example.com`
  const { body } = await app.call(null, "POST", "/v1/auth/sign-up", { body: { email, password, organization: "Org" } })
  return { email, token: String(body.session_token), user_id: String(body.user.id), org_id: body.organization.id }
}
const browser = (token: string) => ({
  cookie: `__Host-rungate_session=${token}`,
  "sec-fetch-site": "same-origin",
  "x-rungate-console": "1"
})

/** Statements that wait for the transaction of this connection, also behind one another. */
const waitingFor = (pid: number) => () =>
  app.sql(
    `WITH RECURSIVE blocked AS (
       SELECT pid FROM pg_stat_activity WHERE $1 = ANY(pg_blocking_pids(pid))
       UNION SELECT a.pid FROM pg_stat_activity a JOIN blocked b ON b.pid = ANY(pg_blocking_pids(a.pid)))
     SELECT pid FROM blocked`,
    [pid]
  )

test.each([
  ["a new password", "POST", "/v1/auth/password", { body: { current_password: password, new_password: another } }],
  ["ending all sessions", "DELETE", "/v1/auth/sessions", {}]
] as const)("%s ends a session that is being switched, too", async (_name, method, path, more) => {
  const { email, token, user_id, org_id } = await signUp()
  const stolen = (await app.call(null, "POST", "/v1/auth/sign-in", { body: { email, password } })).body.session_token
  // Statements of one process may share a connection, and would wait for each other there.
  const second = await startApp({ beside: app })
  const other = new Postgres({ connectionString: app.databaseUrl })
  await other.connect()
  try {
    // Whoever changes the member holds this lock, so the switch waits in its middle.
    const [{ pid }] = (await other.query("SELECT pg_backend_pid() AS pid")).rows
    const waiting = waitingFor(pid)
    await other.query("BEGIN")
    await other.query("SELECT 1 FROM members WHERE user_id = $1 FOR UPDATE", [user_id])
    const switching = app.call(null, "POST", "/v1/auth/browser/switch", {
      body: { organization_id: org_id },
      headers: browser(stolen)
    })
    await until("the switch waits", waiting, ({ length }) => length > 0)
    const ending = second.call(token, method, path, more)
    await until("the change waits for it", waiting, ({ length }) => length > 1)
    await other.query("COMMIT")
    // The new session may have been ended before the switch is answered.
    expect([200, 401]).toContain((await switching).status)
    expect((await ending).status).toBe(200)
    const left = "SELECT 1 FROM sessions WHERE user_id = $1 AND ended_at IS NULL AND token_hash <> sha256($2::bytea)"
    expect(await app.sql(left, [user_id, token])).toEqual([])
  } finally {
    await other.end()
    await second.stop()
  }
})

/** What a change of the member or of the organization does meanwhile, in the order in which the service locks rows. */
test.each([
  {
    name: "the preview of a configuration",
    first: "SELECT 1 FROM api_keys WHERE org_id = $1 FOR UPDATE",
    second: "SELECT 1 FROM members WHERE org_id = $1 FOR NO KEY UPDATE",
    ask: (token: string) => app.call(token, "POST", "/v1/configuration/preview", { body: { configuration: {} } })
  },
  {
    name: "a switch to the same organization",
    first: "SELECT 1 FROM members WHERE org_id = $1 FOR UPDATE",
    second: "SELECT 1 FROM sessions WHERE org_id = $1 FOR UPDATE",
    ask: (token: string, org_id: string) =>
      app.call(null, "POST", "/v1/auth/browser/switch", {
        body: { organization_id: org_id },
        headers: browser(token)
      })
  }
])("$name waits for a change of the member, and neither is a deadlock", async ({ first, second, ask }) => {
  const { token, org_id } = await signUp()
  await app.call(token, "POST", "/v1/api-keys", { body: { name: "Agent", environment: "test" } })
  const other = new Postgres({ connectionString: app.databaseUrl })
  await other.connect()
  try {
    const [{ pid }] = (await other.query("SELECT pg_backend_pid() AS pid")).rows
    const waiting = waitingFor(pid)
    await other.query("BEGIN")
    await other.query(first, [org_id])
    const asking = ask(token, org_id)
    await until("the request waits", waiting, ({ length }) => length > 0)
    await other.query(second, [org_id])
    await other.query("COMMIT")
    expect((await asking).status).toBe(200)
  } finally {
    await other.end()
  }
})

test("guesses of the current password are slowed over all addresses, and no sign-in is", async () => {
  const limited = await startApp({ settings: { RUNGATE_RATE_LIMIT: "50", RUNGATE_TRUSTED_PROXIES: "1" } })
  try {
    const ask = async (path: string, body: object, from: number, token: string | null = null) => {
      const headers = { "x-forwarded-for": `203.0.113.${from}` }
      return limited.call(token, "POST", `/v1/auth/${path}`, { body, headers })
    }
    const account = { email: "guessed@example.com", password }
    const { body } = await ask("sign-up", { ...account, organization: "Org" }, 1)
    const guess = async (from: number) => {
      const path = from % 2 === 0 ? "password" : "second-factor"
      const change = path === "password" ? { new_password: another } : {}
      return (await ask(path, { current_password: "not the password", ...change }, from, body.session_token)).status
    }
    const guesses = await Promise.all(Array.from({ length: 30 }, (_, n) => guess(10 + Math.floor(n / 8))))
    expect(new Set(guesses)).toEqual(new Set([400]))
    expect([await guess(20), await guess(20)]).toEqual([400, 429])
    expect((await ask("sign-in", account, 30)).status).toBe(200)
    expect((await ask("sign-in", account, 30)).status).toBe(200)
  } finally {
    await limited.stop()
  }
})
