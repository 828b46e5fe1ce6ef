/** Whose key is used, for which address, and from which file; and that no key is ever shown or sent elsewhere. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { ConfigProvider, Effect, Redacted } from "effect"
import { Credentials, savedKeys, savedSessions } from "../../../src/http/cli/state/Credentials.ts"
import { complaint } from "../../../src/http/cli/state/PrivateFile.ts"
import { Profile } from "../../../src/http/cli/terminal/globals.ts"
import { type Environment, type Home, newHome } from "./shell.ts"

/** Answers everything, and notes who asked. */
const service = () => {
  const asked: Array<string | null> = []
  const server = Bun.serve({
    port: 0,
    fetch: (request) => {
      asked.push(request.headers.get("authorization"))
      return Response.json({ items: [], next_cursor: null })
    }
  })
  return { url: server.url.href.replace(/\/$/, ""), asked, stop: () => server.stop(true) }
}

let one: ReturnType<typeof service>
let two: ReturnType<typeof service>
let home: Home
const folder = () => join(home.folder, "config", "rungate")
const keys = () => join(folder(), "credentials.json")

const write = (profiles: unknown, mode = 0o600) => {
  mkdirSync(folder(), { recursive: true, mode: 0o700 })
  writeFileSync(keys(), JSON.stringify({ version: 1, profiles }), { mode })
  chmodSync(keys(), mode)
}
const usual = () =>
  write({
    default: { url: one.url, api_key: "rg_test_one" },
    work: { url: `${two.url}/`, api_key: "rg_test_two" }
  })

beforeAll(() => {
  one = service()
  two = service()
  home = newHome({})
  usual()
})
afterAll(async () => {
  await Promise.all([one.stop(), two.stop()])
  home.remove()
})

const list = async (flags = "", environment: Environment = {}) => {
  one.asked.length = 0
  two.asked.length = 0
  const said = await home.shell(`rungate runs list ${flags}`, environment)
  expect(said.out + said.err).not.toMatch(/rg_test_(one|two|own)/)
  return { code: said.code, err: said.err, one: [...one.asked], two: [...two.asked] }
}
const bearer = (key: string) => [`Bearer ${key}`]

describe("which key goes where", () => {
  test("the profile's, to its own address", async () => {
    expect(await list()).toMatchObject({ code: 0, one: bearer("rg_test_one"), two: [] })
    expect(await list("--profile work")).toMatchObject({ code: 0, one: [], two: bearer("rg_test_two") })
    expect(await list("", { RUNGATE_PROFILE: "work" })).toMatchObject({ one: [], two: bearer("rg_test_two") })
  })

  test("the environment's comes first, and --profile before it", async () => {
    const own = { RUNGATE_API_KEY: "rg_test_own", RUNGATE_URL: one.url }
    expect(await list("", own)).toMatchObject({ one: bearer("rg_test_own"), two: [] })
    expect(await list("--profile work", own)).toMatchObject({ one: [], two: bearer("rg_test_two") })
  })

  test("a saved key is not sent to another address", async () => {
    const said = await list("", { RUNGATE_URL: two.url })
    expect([said.one, said.two]).toEqual([[], [null]])
    const refusing = Bun.serve({
      port: 0,
      fetch: () => Response.json({ error: { code: "unauthorized", message: "no key" } }, { status: 401 })
    })
    const refused = await list("", { RUNGATE_URL: refusing.url.href })
    await refusing.stop(true)
    expect([refused.code, refused.err]).toEqual([4, expect.stringContaining(`belongs to ${one.url}`)])
  })

  test("a profile takes a new key when its address was saved with a slash at the end", async () => {
    const { code, err } = await home.shell("printf rg_test_two | rungate login --profile work --with-token")
    usual()
    expect([code, err]).toEqual([0, `Saved the key for ${two.url} as profile "work".\n`])
  })
})

describe("files", () => {
  test.each([0o644, 0o640, 0o660, 0o604])("%o is refused, and says what to do", async (mode) => {
    chmodSync(keys(), mode)
    const said = await list()
    chmodSync(keys(), 0o600)
    expect([said.code, said.one]).toEqual([4, []])
    expect(said.err).toContain("chmod 600")
    expect(said.err.trim().split("\n")).toHaveLength(1)
  })

  test("nor is a link, or what is no JSON", async () => {
    const aside = newHome({})
    mkdirSync(join(aside.folder, "config", "rungate"), { recursive: true })
    const path = join(aside.folder, "config", "rungate", "credentials.json")
    symlinkSync(keys(), path)
    const linked = await aside.shell("rungate runs list")
    expect([linked.code, linked.err]).toEqual([4, expect.stringContaining("regular file")])
    writeFileSync(`${path}.x`, "{", { mode: 0o600 })
    await aside.shell(`mv ${path}.x ${path}`)
    const broken = await aside.shell("rungate runs list")
    expect([broken.code, broken.err]).toEqual([4, expect.stringContaining(path)])
    aside.remove()
  })

  test("are not needed where the environment says it all", async () => {
    chmodSync(keys(), 0o644)
    const own = { RUNGATE_API_KEY: "rg_test_own", RUNGATE_URL: one.url, HOME: "", XDG_CONFIG_HOME: "" }
    const said = await list("", own)
    chmodSync(keys(), 0o600)
    expect(said).toMatchObject({ code: 0, one: bearer("rg_test_own") })
  })

  test("are written private, one for keys and one for sessions, and a profile leaves the others alone", async () => {
    const inside = <A, E>(effect: Effect.Effect<A, E>) =>
      Effect.runPromise(
        effect.pipe(
          Effect.provideService(
            ConfigProvider.ConfigProvider,
            ConfigProvider.fromUnknown({ ...home.environment, RUNGATE_PROFILE: "third" })
          )
        )
      )
    await inside(savedKeys.save("third", { url: one.url, api_key: "rg_test_third" }))
    await inside(
      savedSessions.save("third", {
        url: one.url,
        session_token: "rg_sess_x",
        expires_at: "2030-01-01",
        email: "a@b.co"
      })
    )
    expect([...(await inside(savedKeys.all)).keys()].sort()).toEqual(["default", "third", "work"])
    const sessions = join(folder(), "sessions.json")
    for (const path of [keys(), sessions]) expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(statSync(folder()).mode & 0o777).toBe(0o700)
    expect(readFileSync(keys(), "utf8")).not.toContain("rg_sess_")
    expect(readFileSync(sessions, "utf8")).not.toContain("rg_test_")
    const found = await inside(
      Effect.gen(function* () {
        const credentials = yield* Credentials
        return { ...credentials, session: Redacted.value(yield* credentials.session) }
      }).pipe(Effect.provide(Credentials.layer), Effect.provideService(Profile, null))
    )
    expect([found.url, found.source, found.session]).toEqual([one.url, "profile", "rg_sess_x"])
    expect(JSON.stringify(found)).not.toContain("rg_test_third")
    await inside(savedKeys.save("third", null))
    await inside(savedSessions.save("third", null))
    expect([(await inside(savedKeys.all)).size, (await inside(savedSessions.all)).size]).toEqual([2, 0])
  })
})

test("a profile that was never saved has no credentials, whatever its name", async () => {
  for (const name of ["constructor", "toString"]) {
    const { code, err } = await home.shell(`rungate logout --profile ${name}`)
    expect([code, err]).toEqual([0, `Profile "${name}" has no saved credentials.\n`])
  }
})

test("a file that another process removes meanwhile is missing, and no failure", () => {
  const path = join(home.folder, "fleeting.json")
  const script = `const { rmSync, writeFileSync } = require("node:fs")
    for (;;) { writeFileSync(process.argv[1], "", { mode: 0o600 }); rmSync(process.argv[1]) }`
  const other = Bun.spawn([process.execPath, "-e", script, path])
  try {
    while (!existsSync(path)) expect(other.exitCode).toBeNull()
    const said = new Set<string | null>()
    for (let n = 0; n < 100_000; n++) said.add(complaint(path))
    expect([...said]).toEqual([null])
  } finally {
    other.kill()
  }
})
