/**
 * Accounts and secrets are replaced in running processes of both roles: a run under way ends, the next one takes the new key, and a bad
 * configuration changes nothing. The provider is a stand-in over real HTTP, and the processes are real ones.
 */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type App, startApp, type Tenant } from "../../../kit/app.ts"
import { runMain, type Service, startService, until } from "../../../chaos/processes.ts"

const folder = mkdtempSync(join(tmpdir(), "rungate-reload-"))
const secretFile = join(folder, "hunter")
const keys: Array<string | null> = []
const entered = Promise.withResolvers<void>()
const release = Promise.withResolvers<void>()
const provider = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: async (request) => {
    keys.push(new URL(request.url).searchParams.get("api_key") ?? request.headers.get("x-api-key"))
    entered.resolve()
    await release.promise
    return Response.json({ data: { status: "valid", email: "support@stripe.com", score: 100 } })
  }
})
let app: App
let org: Tenant
let worker: Service
let environment: Record<string, string>
beforeAll(async () => {
  writeFileSync(secretFile, "first-key\n", { mode: 0o600 })
  environment = {
    RUNGATE_MODE: "production",
    REDIS_URL: "",
    RUNGATE_PROVIDER_HUNTER_API_KEY_FILE: secretFile,
    RUNGATE_PROVIDER_HUNTER_BASE_URL: `http://127.0.0.1:${provider.port}`
  }
  app = await startApp({ role: "http", backend: "postgres", settings: environment })
  environment = { ...app.settings, ...environment }
  worker = await startService("worker", environment)
  org = await app.tenant("5.00")
})
afterAll(async () => {
  release.resolve()
  await worker?.kill()
  await app?.stop()
  await provider.stop(true)
  rmSync(folder, { recursive: true })
})

const verify = (email: string) =>
  org.run({ capability: "email.verify", input: { email }, routing: { provider: "hunter" }, wait_seconds: 20 })
/** An operator's command on another machine: it has the service's database and not the files of its secrets. */
const admin = async (...args: ReadonlyArray<string>) => {
  const { RUNGATE_PROVIDER_HUNTER_API_KEY_FILE: _, ...elsewhere } = environment
  const { ended, errors, output } = runMain(["admin", ...args], elsewhere)
  const { code } = await ended
  return { code, out: output(), err: errors() }
}

test("a run under way ends with its key, and the next run takes the new one", async () => {
  const under_way = verify("support@stripe.com")
  // An answer before the call fails the test at once.
  expect(await Promise.race([entered.promise, under_way])).toBeUndefined()
  writeFileSync(secretFile, "second-key\n")
  worker.signal("SIGHUP")
  await until("the worker took over the key", 20_000, () =>
    worker.output().includes("took over RUNGATE_PROVIDER_HUNTER_API_KEY")
  )
  release.resolve()
  expect((await under_way).body).toMatchObject({ status: "succeeded" })
  expect((await verify("sales@stripe.com")).body).toMatchObject({ status: "succeeded" })
  expect(keys).toEqual(["first-key", "second-key"])
  expect(worker.output()).not.toMatch(/first-key|second-key/)
})

test("rungate admin reload: every process answers; a mistake changes nothing", async () => {
  writeFileSync(secretFile, "third-key\n")
  const good = await admin("reload", "--json")
  expect(good).toMatchObject({ code: 0, err: "" })
  expect(JSON.parse(good.out).processes).toMatchObject([
    { pid: worker.pid, role: "worker", changed: ["RUNGATE_PROVIDER_HUNTER_API_KEY"], restart: [], problem: null }
  ])
  writeFileSync(secretFile, "\n")
  const bad = await admin("reload")
  expect(bad.code).toBe(1)
  expect(bad.out).toContain("kept its settings. Bad settings: RUNGATE_PROVIDER_HUNTER_API_KEY_FILE")
  expect(bad.err).toContain("1 of 1 processes kept their settings")
  expect((await verify("hello@stripe.com")).body).toMatchObject({ status: "succeeded" })
  expect(keys.at(-1)).toBe("third-key")
  expect(`${good.out}${bad.out}${worker.output()}`).not.toContain("third-key")
})

test("without a service, reload says so", async () => {
  await worker.kill()
  expect(await admin("reload")).toMatchObject({ code: 1, err: expect.stringContaining("No process of the service") })
})
