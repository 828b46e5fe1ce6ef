/** What was sent and not seen to end is never paid twice: killed, interrupted, cut off, and asked for again. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type App, startApp, until } from "../kit/app.ts"
import { type Home, newHome } from "../http/cli/shell.ts"
import { cutLine } from "../http/cli/wire.ts"

let app: App
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app.stop())

interface Broken {
  readonly run_id: string
  readonly code: number
  readonly err: string
}

interface World {
  readonly home: Home
  readonly key: string
  /** Files of runs whose end was not seen. */
  readonly kept: () => ReadonlyArray<string>
  /** What stands in the first of them. */
  readonly entry: () => { readonly run_id: string | null }
  readonly runCount: () => Promise<number>
  /** Starts a run, and ends the command by a signal when it knows the run's id. */
  readonly brokenOff: (line: string, signal: NodeJS.Signals) => Promise<Broken>
}

const worldOf = async (): Promise<World> => {
  const org = await app.tenant("25.00")
  const home = newHome({ RUNGATE_URL: app.url, RUNGATE_API_KEY: org.key })
  const kept = () =>
    existsSync(home.runsFolder) ? readdirSync(home.runsFolder).filter((name) => name.endsWith(".json")) : []
  const entry = () => JSON.parse(readFileSync(join(home.runsFolder, kept()[0] ?? ""), "utf8"))
  return {
    home,
    key: org.key,
    kept,
    entry,
    runCount: async () => (await org.list("?limit=200")).body.items.length,
    brokenOff: async (line, signal) => {
      const child = home.start(`exec ${line}`)
      await until("a run that is kept", kept, (names) => names.length > 0)
      const { run_id } = await until("the run's id", entry, (found) => found.run_id !== null)
      child.kill(signal)
      const code = await child.exited
      return { run_id: String(run_id), code, err: await new Response(child.stderr).text() }
    }
  }
}

/** Each test has a home and an organization of its own, so that they wait side by side. Nothing may be left in it. */
const alone = (name: string, body: (world: World) => Promise<void>) =>
  test.concurrent(name, async () => {
    const world = await worldOf()
    await body(world)
    expect(world.kept()).toEqual([])
    world.home.remove()
  })

const verify = (word: string) => `rungate run email.verify -i '{"email":"${word}@sandbox.test"}'`
const isPost = (request: string) => request.startsWith("POST /v1/run ")

alone("what is kept is private, holds no key, and is joined by resume", async ({ home, key, kept, brokenOff }) => {
  const { run_id } = await brokenOff(verify("slow_2"), "SIGKILL")
  const file = join(home.runsFolder, kept()[0] ?? "")
  expect(statSync(home.runsFolder).mode & 0o777).toBe(0o700)
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readFileSync(file, "utf8")).not.toContain(key)
  const resumed = await home.shell("rungate runs resume")
  expect([resumed.code, resumed.body.run_id, resumed.body.status]).toEqual([0, run_id, "succeeded"])
})

alone("killed while it waits: the same command joins the run, and it is paid once", async (world) => {
  const { home, runCount, brokenOff } = world
  const { run_id } = await brokenOff(verify("slow_3"), "SIGKILL")
  const again = await home.shell(verify("slow_3"))
  expect([again.code, again.body.run_id]).toEqual([0, run_id])
  expect(again.err).toContain("Joining the run")
  expect(await runCount()).toBe(1)
  // Now that its end was seen, the same command is another run.
  const fresh = await home.shell(`${verify("slow_3")} --async`)
  expect(fresh.body.run_id).not.toBe(run_id)
})

alone("--again, another input and another key do not join it", async ({ home, kept, brokenOff }) => {
  const { run_id } = await brokenOff(verify("slow_4"), "SIGKILL")
  const { key } = await app.tenant("25.00")
  const others = await Promise.all([
    home.shell(`${verify("slow_4")} --again --wait 0`),
    home.shell(`${verify("slow_5")} --wait 0`),
    home.shell(`${verify("slow_4")} --wait 0`, { RUNGATE_API_KEY: key })
  ])
  for (const other of others) {
    expect(other.body.run_id).not.toBe(run_id)
    expect(other.err).not.toContain("Joining")
  }
  // The others gave up waiting: theirs are kept as well.
  expect(kept()).toHaveLength(4)
  await home.shell("rungate runs resume --forget")
  // What belongs to another key is not touched.
  expect(kept()).toHaveLength(1)
  await home.shell("rungate runs resume --forget", { RUNGATE_API_KEY: key })
})

alone("a service that is away is no reason to forget what was sent to it", async ({ home, kept, runCount }) => {
  const wire = cutLine(app.url, 1_000, isPost)
  const child = home.start(`exec ${verify("away")}`, { RUNGATE_URL: wire.url })
  await until("an answer that was swallowed", wire.cut, (count) => count > 0)
  child.kill("SIGKILL")
  await child.exited
  await wire.stop()
  for (const line of ["rungate runs resume", verify("away")]) {
    const said = await home.shell(line, { RUNGATE_URL: wire.url })
    expect([said.code, said.err]).toEqual([1, expect.stringContaining("Can't reach")])
    expect(kept()).toHaveLength(1)
  }
  await home.shell(`sed -i 's#${wire.url}#${app.url}#' ${home.runsFolder}/*.json`)
  expect((await home.shell("rungate runs resume")).body.status).toBe("succeeded")
  expect(await runCount()).toBe(1)
})

alone("several that were broken off are joined one after the other, each on a line", async ({ home, runCount }) => {
  const words = ["slow_2", "no_match"]
  for (const word of words) {
    const wire = cutLine(app.url, 1_000, isPost)
    const child = home.start(`exec ${verify(word)}`, { RUNGATE_URL: wire.url })
    await until("an answer that was swallowed", wire.cut, (count) => count > 0)
    child.kill("SIGKILL")
    await child.exited
    await wire.stop()
    // As if it had been sent to the service itself.
    await home.shell(`sed -i 's#${wire.url}#${app.url}#' ${home.runsFolder}/*.json`)
  }
  const resumed = await home.shell("rungate runs resume")
  const ended = resumed.out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line).status)
  expect([resumed.code, ended]).toEqual([3, ["succeeded", "no_match"]])
  expect(await runCount()).toBe(2)
})

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  alone(`${signal}: exit code 2, and how to come back`, async ({ home, brokenOff }) => {
    const { run_id, code, err } = await brokenOff(verify("slow_3"), signal)
    expect(code).toBe(2)
    expect(err).toContain(`rungate runs wait ${run_id}`)
    expect(err.trim().split("\n")).toHaveLength(1)
    const waited = await home.shell(`rungate runs wait ${run_id}`)
    expect([waited.code, waited.body.status]).toEqual([0, "succeeded"])
  })
}

alone("a cut connection is asked again under the same key: one run", async ({ home, runCount }) => {
  const wire = cutLine(app.url, 2, isPost)
  const ran = await home.shell(verify("cut"), { RUNGATE_URL: wire.url })
  expect([ran.code, wire.cut(), ran.body.status]).toEqual([0, 2, "succeeded"])
  expect(ran.err).toContain("The connection was lost")
  expect(await runCount()).toBe(1)
  await wire.stop()
})

alone("a connection cut for good, killed before the id is known: resume finds the run", async (world) => {
  const { home, entry, runCount } = world
  const wire = cutLine(app.url, 1_000, isPost)
  const child = home.start(`exec ${verify("lost")}`, { RUNGATE_URL: wire.url })
  await until("an answer that was swallowed", wire.cut, (count) => count > 0)
  child.kill("SIGKILL")
  await child.exited
  expect(entry().run_id).toBe(null)
  wire.mend()
  const resumed = await home.shell("rungate runs resume", { RUNGATE_URL: wire.url })
  expect([resumed.code, resumed.body.status]).toEqual([0, "succeeded"])
  expect(await runCount()).toBe(1)
  await wire.stop()
})

alone("--async keeps nothing: the same command is another run", async ({ home, kept }) => {
  const first = await home.shell(`${verify("slow_2")} --async`)
  const second = await home.shell(`${verify("slow_2")} --async`)
  expect([first.code, first.body.done, second.code]).toEqual([0, false, 0])
  expect(second.body.run_id).not.toBe(first.body.run_id)
  // Their ids were printed, so nobody needs what was sent.
  expect(kept()).toEqual([])
  for (const { body } of [first, second]) {
    const waited = await home.shell(`rungate runs wait ${body.run_id}`)
    expect([waited.code, waited.body.status]).toEqual([0, "succeeded"])
  }
})

alone("a run that was waited for to its end leaves nothing", async ({ home, kept }) => {
  const ran = await home.shell(verify("slow_2"))
  expect([ran.code, ran.body.status, kept()]).toEqual([0, "succeeded", []])
})

alone("how a run that was waited for ended is the exit code of wait", async ({ home }) => {
  const { body } = await home.shell(`${verify("no_match")} --async`)
  const waited = await home.shell(`rungate runs wait ${body.run_id}`)
  expect([waited.code, waited.body.status]).toEqual([3, "no_match"])
})

alone("a run is shown although its id could not be kept", async ({ home }) => {
  const run = { run_id: "run_01m81nzk95mq351g8pvrxgm8m4", hints: [] }
  const service = Bun.serve({
    port: 0,
    fetch: ({ method }) => {
      if (method === "GET") return Response.json({ ...run, status: "succeeded", done: true })
      // As on a full disk, nothing can be written any more.
      renameSync(home.runsFolder, `${home.runsFolder}.away`)
      writeFileSync(home.runsFolder, "")
      return Response.json({ ...run, status: "running", done: false }, { status: 202 })
    }
  })
  const ran = await home.shell(verify("kept"), { RUNGATE_URL: service.url.origin })
  await service.stop(true)
  rmSync(home.runsFolder)
  expect([ran.code, ran.body?.status, ran.err]).toEqual([0, "succeeded", ""])
})

alone("a folder that others can read is closed first", async ({ home }) => {
  await home.shell(`mkdir -p ${home.runsFolder}`)
  chmodSync(home.runsFolder, 0o755)
  expect((await home.shell(verify("mode"))).code).toBe(0)
  expect(statSync(home.runsFolder).mode & 0o777).toBe(0o700)
})
