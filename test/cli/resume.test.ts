/** What was sent and not seen to end is never paid twice: killed, interrupted, cut off, and asked for again. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test"
import { chmodSync, existsSync, readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { type App, startApp, type Tenant, until } from "../app.ts"
import { type Home, newHome } from "./shell.ts"
import { cutLine } from "./wire.ts"

let app: App
let org: Tenant
let home: Home
beforeAll(async () => {
  app = await startApp()
  org = await app.tenant("25.00")
  home = newHome({ RUNGATE_URL: app.url, RUNGATE_API_KEY: org.key })
})
afterAll(async () => {
  await app.stop()
  home.remove()
})
const kept = () =>
  existsSync(home.runsFolder) ? readdirSync(home.runsFolder).filter((one) => one.endsWith(".json")) : []
const entry = () => JSON.parse(readFileSync(join(home.runsFolder, kept()[0] ?? ""), "utf8"))
afterEach(() => expect(kept()).toEqual([]))

const verify = (word: string) => `rungate run email.verify -i '{"email":"${word}@sandbox.test"}'`
const runs = async () => (await org.list("?limit=200")).body.items
const isPost = (request: string) => request.startsWith("POST /v1/run ")

/** Starts a run, and kills or interrupts the command when it knows the run's id. */
const brokenOff = async (line: string, signal: "SIGKILL" | "SIGINT" | "SIGTERM") => {
  const child = home.start(`exec ${line}`)
  await until("a run with a name", kept, (names) => names.length > 0)
  const { run_id } = await until("the run's id", entry, (found) => found.run_id !== null)
  child.kill(signal)
  const code = await child.exited
  return { run_id: String(run_id), code, err: await new Response(child.stderr).text() }
}

test("what is kept is private", async () => {
  const { run_id } = await brokenOff(verify("slow_2"), "SIGKILL")
  expect(statSync(home.runsFolder).mode & 0o777).toBe(0o700)
  expect(statSync(join(home.runsFolder, kept()[0] ?? "")).mode & 0o777).toBe(0o600)
  expect(readFileSync(join(home.runsFolder, kept()[0] ?? ""), "utf8")).not.toContain(org.key)
  const resumed = await home.shell("rungate runs resume")
  expect([resumed.code, resumed.body.run_id, resumed.body.status]).toEqual([0, run_id, "succeeded"])
})

describe("killed while it waits", () => {
  test("the same command joins the run, and it is paid once", async () => {
    const before = await runs()
    const { run_id } = await brokenOff(verify("slow_3"), "SIGKILL")
    const again = await home.shell(verify("slow_3"))
    expect([again.code, again.body.run_id]).toEqual([0, run_id])
    expect(again.err).toContain("Joining the run")
    expect((await runs()).length).toBe(before.length + 1)
    // Now that its end was seen, the same command is another run.
    const fresh = await home.shell(verify("slow_3"))
    expect(fresh.body.run_id).not.toBe(run_id)
  })

  test("--again, another input and another key do not join it", async () => {
    const { run_id } = await brokenOff(verify("slow_4"), "SIGKILL")
    const others = await Promise.all([
      home.shell(`${verify("slow_4")} --again --wait 0`),
      home.shell(`${verify("slow_5")} --wait 0`),
      app.tenant("25.00").then(({ key }) => home.shell(`${verify("slow_4")} --wait 0`, { RUNGATE_API_KEY: key }))
    ])
    for (const other of others) {
      expect(other.body.run_id).not.toBe(run_id)
      expect(other.err).not.toContain("Joining")
    }
    // The others gave up waiting: theirs are kept as well.
    expect(kept()).toHaveLength(4)
    expect((await home.shell("rungate runs resume --forget")).code).toBe(0)
    // What belongs to another key is not touched, and not shown.
    expect(kept()).toHaveLength(1)
    await home.shell(`rm ${home.runsFolder}/*.json`)
  })
})

test.each(["SIGINT", "SIGTERM"] as const)("%s: exit code 2, and how to come back", async (signal) => {
  const { run_id, code, err } = await brokenOff(verify("slow_2"), signal)
  expect(code).toBe(2)
  expect(err).toContain(`rungate runs wait ${run_id}`)
  expect(err.trim().split("\n")).toHaveLength(1)
  const waited = await home.shell(`rungate runs wait ${run_id}`)
  expect([waited.code, waited.body.status]).toEqual([0, "succeeded"])
})

describe("a cut connection", () => {
  test("is asked again under the same key: one run", async () => {
    const before = await runs()
    const wire = cutLine(app.url, 2, isPost)
    const ran = await home.shell(verify("cut"), { RUNGATE_URL: wire.url })
    expect([ran.code, wire.cut(), ran.body.status]).toEqual([0, 2, "succeeded"])
    expect(ran.err).toContain("The connection was lost")
    expect((await runs()).length).toBe(before.length + 1)
    await wire.stop()
  })

  test("and a command killed before it knew the id: resume finds the run", async () => {
    const before = await runs()
    const wire = cutLine(app.url, 1_000, isPost)
    const child = home.start(`exec ${verify("lost")}`, { RUNGATE_URL: wire.url })
    await until("an answer that was swallowed", wire.cut, (count) => count > 0)
    child.kill("SIGKILL")
    await child.exited
    expect(entry().run_id).toBe(null)
    wire.mend()
    const resumed = await home.shell("rungate runs resume", { RUNGATE_URL: wire.url })
    expect([resumed.code, resumed.body.status]).toEqual([0, "succeeded"])
    expect((await runs()).length).toBe(before.length + 1)
    await wire.stop()
  })
})

test("--async hands the run over: the same command is another run, and wait shows the first", async () => {
  const first = await home.shell(`${verify("slow_1")} --async`)
  const second = await home.shell(`${verify("slow_1")} --async`)
  expect([first.code, first.body.done, second.code]).toEqual([0, false, 0])
  expect(second.body.run_id).not.toBe(first.body.run_id)
  for (const { body } of [first, second]) {
    const waited = await home.shell(`rungate runs wait ${body.run_id}`)
    expect([waited.code, waited.body.status]).toEqual([0, "succeeded"])
  }
})

test("how a run that was waited for ended is the exit code of wait", async () => {
  const { body } = await home.shell(`${verify("no_match")} --async`)
  const waited = await home.shell(`rungate runs wait ${body.run_id}`)
  expect([waited.code, waited.body.status]).toEqual([3, "no_match"])
})

test("a folder that others can read is closed first", async () => {
  chmodSync(home.runsFolder, 0o755)
  expect((await home.shell(verify("mode"))).code).toBe(0)
  expect(statSync(home.runsFolder).mode & 0o777).toBe(0o700)
})
