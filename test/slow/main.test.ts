/**
 * The process's first words: whatever stops the start is exit code 1 and one sentence that says what to do, with no secret
 * and no stack in it.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { createServer, type Server } from "node:net"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Pool } from "pg"
import { providers } from "../../src/layers/providers/index.ts"
import { capabilities } from "../../src/schema/capabilities/index.ts"
import { runMain, startService } from "../chaos/processes.ts"
import { freshDatabase } from "../kit/postgres.ts"
import { dueToday } from "../kit/input-samples.ts"

const startMillisMax = 20_000

const outcome = async (args: ReadonlyArray<string>, env: Readonly<Record<string, string>>) => {
  const { child, errors, output, ended } = runMain(args, env)
  const timer = setTimeout(() => child.kill("SIGKILL"), startMillisMax)
  const { code, signal } = await ended
  clearTimeout(timer)
  return { code, signal, errors: errors(), output: output() }
}

const pooled = async (connectionString: string, query: string) => {
  const pool = new Pool({ connectionString, max: 1 })
  try {
    return (await pool.query(query)).rows
  } finally {
    await pool.end()
  }
}

const portOf = (server: Server) => {
  const address = server.address()
  return typeof address === "object" && address !== null ? address.port : 0
}

describe("main", () => {
  let database: string
  let taken: Server
  /** A port on which nobody listens. */
  let silent: number
  beforeAll(async () => {
    database = await freshDatabase()
    const open = () => new Promise<Server>((resolve) => resolve(createServer().listen(0, "127.0.0.1")))
    taken = await open()
    const closing = await open()
    await Promise.all(
      [taken, closing].map((server) => server.listening || new Promise((resolve) => server.once("listening", resolve)))
    )
    silent = portOf(closing)
    closing.close()
  })
  afterAll(() => taken?.close())

  const cases: ReadonlyArray<readonly [string, () => Readonly<Record<string, string>>, RegExp]> = [
    [
      "a database server that is not there",
      () => ({ DATABASE_URL: `postgres://someone:hidden@127.0.0.1:${silent}/rungate` }),
      /^rungate: Can't use the database at 127\.0\.0\.1:\d+\/rungate \(.+\); is DATABASE_URL right and the server up\?$/
    ],
    [
      "a database that does not exist",
      () => ({ DATABASE_URL: database.replace(/\/[^/]*$/, "/nowhere") }),
      /^rungate: Can't use the database at 127\.0\.0\.1:\d+\/nowhere \(.*"nowhere" does not exist.*\); is DATABASE_URL right and the server up\?$/
    ],
    [
      "a wrong password",
      () => ({ DATABASE_URL: database.replace(/:[^:@/]+@/, ":hidden@") }),
      /^rungate: Can't use the database at .+ \(.*password authentication failed.*\); is DATABASE_URL right and the server up\?$/
    ],
    [
      "a port that is taken",
      () => ({ DATABASE_URL: database, PORT: String(portOf(taken)) }),
      /^rungate: Can't listen on 127\.0\.0\.1:\d+; is another process there\? Set PORT or HOST\.$/
    ],
    [
      "settings that are wrong, all at once",
      () => ({
        DATABASE_URL: "mysql://hidden@host",
        PORT: "eighty",
        RUNGATE_MODE: "hidden",
        RUNGATE_CRASH_AT: "hidden"
      }),
      /^rungate: Bad settings: PORT must be .+; RUNGATE_MODE must be .+; DATABASE_URL must be .+; RUNGATE_CRASH_AT must be .+\.$/
    ]
  ]
  test.each(cases)(
    "%s: exit code 1 and one sentence",
    async (_name, env, sentence) => {
      const { code, errors } = await outcome(["serve"], { PORT: "0", ...env() })
      expect(errors.trim()).toMatch(sentence)
      expect(errors).not.toContain("hidden")
      expect(code).toBe(1)
    },
    startMillisMax + 5_000
  )

  test(
    "a port that is taken is found before the embedded database is created",
    async () => {
      const folder = mkdtempSync(join(tmpdir(), "rungate-port-"))
      try {
        const data = join(folder, "data")
        const { code, errors, output } = await outcome(["serve"], {
          PORT: String(portOf(taken)),
          RUNGATE_DATA_DIR: data
        })
        expect([code, output, existsSync(data)]).toEqual([1, "", false])
        expect(errors.trim().split("\n")).toHaveLength(1)
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    },
    startMillisMax + 5_000
  )

  test.if(dueToday(2))(
    "a start says what is simulated, names misspelled settings, and later how to get another key",
    async () => {
      const misspelled = { RUNGATE_CONCURENCY: "5", RUNGATE_PROVIDER_LEEDMAGIC_API_KEY: "hidden" }
      const env = { DATABASE_URL: await freshDatabase(), RUNGATE_PROFILE: "mine" }
      const first = await startService("http", { ...env, ...misspelled })
      await first.kill()
      expect(first.output()).toContain("Sandbox (default): providers and payments are simulated")
      expect(first.output()).toContain(
        "RUNGATE_CONCURENCY is not a setting and is ignored. Did you mean RUNGATE_CONCURRENCY?"
      )
      expect(first.output()).toContain("Did you mean RUNGATE_PROVIDER_LEADMAGIC_API_KEY?")
      expect(first.output()).not.toContain("hidden")
      const second = await startService("http", env)
      await second.kill()
      expect(second.output()).toMatch(/rungate admin keys create org_\w+/)
      expect(second.output()).not.toContain("is not a setting")
    },
    90_000
  )

  test("the first start of a sandbox prints a link that opens the demo organization in a browser, once", async () => {
    const env = { DATABASE_URL: await freshDatabase() }
    const service = await startService("http", env)
    const post = (path: string, body: object, headers: Readonly<Record<string, string>> = {}) =>
      fetch(`${service.url}${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(body)
      })
    try {
      const link = new URL(/^ {2}(http\S+\/reset-password\?token=\S+)$/m.exec(service.output())?.[1] ?? "")
      expect((await fetch(link, { headers: { accept: "text/html" } })).status).toBe(200)
      const token = link.searchParams.get("token") ?? ""
      const rows = await pooled(
        env.DATABASE_URL,
        "SELECT *, expires_at - now() <= interval '1 hour' AS soon FROM mail_tokens"
      )
      expect(rows).toEqual([expect.objectContaining({ purpose: "reset_password", soon: true })])
      expect(JSON.stringify(rows)).not.toContain(token)
      expect(await pooled(env.DATABASE_URL, "SELECT user_id FROM sessions WHERE ended_at IS NULL")).toEqual([])

      const password = "a password of my own"
      const account = { email: "demo@example.com", password }
      expect((await post("/v1/auth/sign-in", account)).status).toBe(401)
      const set = () => post("/v1/auth/password-reset/confirm", { token, new_password: password })
      expect([(await set()).status, (await set()).status]).toEqual([200, 400])
      const signedIn: { session_token: string; organization: { name: string } } = await (
        await post("/v1/auth/sign-in", account)
      ).json()
      expect(signedIn.organization.name).toBe("Demo")
      const key = { authorization: `Bearer ${/rg_test_\w+/.exec(service.output())?.[0]}` }
      const mine = { authorization: `Bearer ${signedIn.session_token}` }
      const wallets = [key, mine].map(async (headers) => (await fetch(`${service.url}/v1/wallet`, { headers })).json())
      const [first, second] = await Promise.all(wallets)
      expect(second).toEqual(first)
      expect((await post("/v1/api-keys", { name: "second", environment: "test" }, mine)).status).toBe(200)
    } finally {
      await service.kill()
    }
    const again = await startService("http", env)
    await again.kill()
    expect(again.output()).not.toContain("/reset-password")
  })

  test("an empty production start prints the command that makes the first organization and its key", async () => {
    const env = { DATABASE_URL: await freshDatabase(), RUNGATE_MODE: "production" }
    const service = await startService("http", env)
    try {
      const printed = /^ {2}rungate (admin orgs create \w+)$/m.exec(service.output())?.[1] ?? ""
      const { code, output, errors } = await outcome(printed.split(" "), env)
      expect([code, output, errors]).toEqual([
        0,
        expect.stringMatching(/^rg_live_\w+\n$/),
        expect.stringMatching(/^Created org_\w+ \(Acme\)/)
      ])
      const wallet = await fetch(`${service.url}/v1/wallet`, { headers: { authorization: `Bearer ${output.trim()}` } })
      expect([wallet.status, await wallet.json()]).toEqual([200, expect.objectContaining({ balance: "0.00" })])
    } finally {
      await service.kill()
    }
    const second = await startService("http", env)
    await second.kill()
    expect(second.output()).toMatch(/rungate admin keys create org_\w+/)
  })

  test("a production start says how many providers are configured and whether payments are on", async () => {
    const service = await startService("worker", {
      DATABASE_URL: await freshDatabase(),
      RUNGATE_MODE: "production",
      RUNGATE_PROVIDER_HUNTER_API_KEY: "some-key"
    })
    await service.kill()
    const counts = `of ${providers.length} providers configured, \\d+ of ${capabilities.length} capabilities can run`
    expect(service.output()).toMatch(new RegExp(`Production: \\d+ ${counts}, payments off`))
  })

  test(
    "a server that answers, and not as Redis does: exit code 1 and one sentence",
    async () => {
      const other = createServer((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n").on("error", () => {}))
      await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve))
      const { code, errors } = await outcome(["serve"], {
        PORT: "0",
        DATABASE_URL: database,
        REDIS_URL: `redis://127.0.0.1:${portOf(other)}`
      })
      other.close()
      expect(errors.trim()).toMatch(/^rungate: Can't reach Redis at 127\.0\.0\.1:\d+ \(.+\)\. Check REDIS_URL/)
      expect(errors.trim().split("\n")).toHaveLength(1)
      expect(code).toBe(1)
    },
    startMillisMax + 5_000
  )
})
