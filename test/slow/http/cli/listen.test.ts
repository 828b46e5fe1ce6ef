/** `rungate webhooks listen` as a person and a program have it: signed requests, answers, failures and lost connections. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { type Tenant, until, verify, withApp } from "../../../kit/app.ts"
import { receiver, verified } from "../../../kit/webhook-receiver.ts"
import { doorway, lines, reading } from "../../../http/cli/doorway.ts"
import { type Home, newHome } from "../../../http/cli/shell.ts"

let home: Home
const app = withApp()
beforeAll(async () => {
  home = newHome({ RUNGATE_URL: app.url })
})
afterAll(async () => {
  home.remove()
})

/** An organization of one test's own, for they run side by side. */
const newcomer = async () => {
  const org: Tenant = await app.tenant("25.00")
  return { org, mine: { RUNGATE_API_KEY: org.key } }
}

interface Line {
  readonly id: string
  readonly type: string
  readonly timestamp: string
  readonly status: number | null
  readonly duration_ms: number
  readonly error: string | null
}

/** The command in a pipe, once it forwards. */
const listening = async (flags: string, environment: Readonly<Record<string, string>>) => {
  const child = home.start(`exec rungate webhooks listen ${flags}`, environment)
  const [out, err] = [reading(child.stdout), reading(child.stderr)]
  await until("it forwards", err.text, (text) => text.includes("signed with the secret"))
  const said = (): ReadonlyArray<Line> => lines(out.text()).map((line) => JSON.parse(line))
  const says = (count: number) => until(`${count} lines`, said, (all) => all.length >= count)
  const end = async () => {
    child.kill("SIGINT")
    const code = await child.exited
    await Promise.all([out.ended, err.ended])
    return code
  }
  return { err: err.text, said, says, end }
}

test.concurrent("each event is posted once, signed like a webhook, and its answer is printed", async () => {
  const { org, mine } = await newcomer()
  const hooks = receiver()
  const told = await home.shell("rungate webhooks listen --print-secret", mine)
  const secret = told.out.trim()
  expect([told.code, secret]).toEqual([0, expect.stringMatching(/^whsec_[\w+/]{43}=$/)])
  const command = await listening(`--forward ${hooks.url} --events run.created,run.finished`, mine)
  expect(command.err()).toContain(secret)
  expect(secret).not.toContain(org.key)

  const { body: run } = await org.run(verify())
  await command.says(2)
  expect(hooks.got.map(({ event }) => event.type).toSorted()).toEqual(["run.created", "run.finished"])
  for (const one of hooks.got) {
    expect(verified(one, secret)).toEqual(one.event)
    expect(Object.keys(one.event)).toEqual(["type", "timestamp", "data"])
    expect(one.event.data.run_id).toBe(run.run_id)
    expect(one.headers["content-type"]).toStartWith("application/json")
    const line = command.said().find(({ id }) => id === one.id)
    expect(line).toEqual({
      id: one.id,
      type: one.event.type,
      timestamp: one.event.timestamp,
      status: 200,
      duration_ms: expect.any(Number),
      error: null
    })
  }

  // A failure is printed, and the stream goes on. A redirect is an answer and not followed.
  hooks.state.status = 500
  await org.run(verify())
  await command.says(4)
  hooks.state.status = 302
  hooks.state.headers = { location: "http://127.0.0.1:1/" }
  await org.run(verify())
  await command.says(6)
  await hooks.stop()
  await org.run(verify())
  await command.says(8)
  expect(
    command
      .said()
      .slice(2)
      .map(({ status }) => status)
  ).toEqual([500, 500, 302, 302, null, null])
  expect(command.said().at(-1)?.error).toContain("could not connect")
  expect(await command.end()).toBe(2)
  expect(new Set(command.said().map(({ id }) => id)).size).toBe(8)
})

test.concurrent("events of a lost connection follow when the service is back, each once", async () => {
  const { org, mine } = await newcomer()
  const hooks = receiver()
  const door = doorway(app)
  const command = await listening(`--forward ${hooks.url} --events run.finished`, { ...mine, RUNGATE_URL: door.url })
  const before = await org.run(verify())
  await command.says(1)
  await door.close()
  const missed = [await org.run(verify()), await org.run(verify())]
  await until("it says that the service is away", command.err, (text) => text.includes("Retrying until"))
  door.refuse(503, {})
  door.reopen()
  await command.says(3)
  const after = await org.run(verify())
  await command.says(4)
  expect(await command.end()).toBe(2)
  await door.close()
  expect(hooks.got.map(({ event }) => event.data.run_id).toSorted()).toEqual(
    [before, ...missed, after].map(({ body }) => body.run_id).toSorted()
  )
  expect(command.err().match(/Retrying until it answers/g)).toHaveLength(1)
  expect(command.err().match(/Reconnected/g)).toHaveLength(1)
  await hooks.stop()
})

test.concurrent("at a terminal: a line with time, kind, id, status and latency; Ctrl-C ends it", async () => {
  const { org, mine } = await newcomer()
  const hooks = receiver()
  hooks.state.status = 404
  const screen = home.terminal(`rungate webhooks listen --forward ${hooks.url} --events run.finished`, mine, 120)
  await screen.shows("signed with the secret whsec_")
  await org.run(verify())
  // A port may contain 404.
  await screen.shows("evt_")
  await screen.shows(" ms")
  screen.type("\u0003")
  expect(await screen.ended).toBe(2)
  const plain = Bun.stripANSI(screen.seen())
  expect(plain).toMatch(/\d\d:\d\d:\d\d {2}run\.finished +evt_\w{26} {2}404 +\d+ ms/)
  expect(screen.seen()).toContain("\u001b[31m404")
  await hooks.stop()
})

test.concurrent("what is missing or wrong is said before anything is forwarded", async () => {
  const { mine } = await newcomer()
  const forward = "--forward http://127.0.0.1:1/hooks"
  const said = (flags: string, environment: Readonly<Record<string, string>> = mine) =>
    home.shell(`rungate webhooks listen ${flags}`, environment)
  const cases: ReadonlyArray<readonly [ReturnType<typeof said>, number, string]> = [
    [said(""), 5, "--forward"],
    [said("--forward localhost:3000/hooks"), 5, "http://localhost:3000/hooks"],
    [said("--forward ftp://localhost/"), 5, "Invalid --forward"],
    [said("--forward http://user:pass@localhost/"), 5, "user name or password"],
    [said(`${forward} --events run.finish`), 5, "run.finished"],
    [said(`${forward} --events ''`), 5, "Unknown kind"],
    [said(forward, { RUNGATE_API_KEY: "" }), 4, "RUNGATE_API_KEY"],
    [said("--print-secret", { RUNGATE_API_KEY: "" }), 4, "RUNGATE_API_KEY"],
    [said(forward, { RUNGATE_API_KEY: "rg_test_wrong" }), 4, "RUNGATE_API_KEY"],
    [said(forward, { ...mine, RUNGATE_URL: "http://127.0.0.1:1" }), 1, "Can't reach the service"]
  ]
  for (const [answer, code, text] of cases) {
    const { out, err, code: ended } = await answer
    expect([ended, out, err]).toEqual([code, "", expect.stringContaining(text)])
  }
})
