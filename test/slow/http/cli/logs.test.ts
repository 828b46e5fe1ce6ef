/** `rungate logs tail` as a person and a program have it: over lost connections, refusals and a service that is restarted. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { rehearse, type Tenant, until, verify, withApp } from "../../../kit/app.ts"
import { heldProvider, rehearseHeld } from "../../../kit/held-provider.ts"
import { doorway, lines, reading } from "../../../http/cli/doorway.ts"
import { type Home, newHome } from "../../../http/cli/shell.ts"
import { dueToday } from "../../../kit/input-samples.ts"

const held = heldProvider()
let home: Home
const app = withApp({ held })
beforeAll(async () => {
  home = newHome({ RUNGATE_URL: app.url })
})
afterAll(async () => {
  home.remove()
})

/** An organization of one test's own, for they run side by side. */
const newcomer = async () => {
  const org: Tenant = await app.tenant("25.00")
  const quick = async (local: string): Promise<string> => (await org.run(verify(local))).body.run_id
  const slow = async (): Promise<string> => (await org.run({ ...rehearseHeld(), async: true })).body.run_id
  const fails = async (): Promise<string> => (await org.run(rehearse("error"))).body.run_id
  return { org, mine: { RUNGATE_API_KEY: org.key }, quick, slow, fails }
}

test.concurrent.if(dueToday(0))(
  "in a pipe: the past, then every run as the API lists it, once when it is seen and once when it ends",
  async () => {
    const { mine, quick, slow, fails } = await newcomer()
    const old = await slow()
    const [first, second] = [await quick("first"), await quick("second")]
    const door = doorway(app)
    const child = home.start("exec rungate logs tail -n 2", { ...mine, RUNGATE_URL: door.url })
    const [out, err] = [reading(child.stdout), reading(child.stderr)]
    const told = () => lines(out.text()).map((line) => JSON.parse(line))
    const tells = (run_id: string, status: string) =>
      until(`${run_id} ${status}`, told, (all) => all.some((run) => run.run_id === run_id && run.status === status))

    await until("it follows", err.text, (text) => text.includes("Following the runs"))
    expect(told().map((run) => run.run_id)).toEqual([first, second])

    const running = await slow()
    await tells(running, "running")
    await held.holds(2)
    held.release()
    // A rate limit is waited out, without a word.
    door.refuse(429, { "retry-after": "1" })
    const third = await quick("third")
    await tells(third, "succeeded")
    await tells(running, "succeeded")
    expect(err.text()).not.toContain("again")

    await door.close()
    await until("it says that the service is away", err.text, (text) => text.includes("Retrying until"))
    const [fourth, broken] = [await quick("fourth"), await fails()]
    const before = door.asked()
    door.refuse(503, {})
    door.reopen()
    await until("it is back", err.text, (text) => text.includes("Reconnected"))
    expect(door.asked() - before).toBeGreaterThanOrEqual(2)
    await tells(broken, "failed")
    await tells(old, "succeeded")

    child.kill("SIGINT")
    expect(await child.exited).toBe(2)
    await Promise.all([out.ended, err.ended])
    await door.close()
    expect(err.text().match(/Retrying until it answers/g)).toHaveLength(1)
    expect(err.text().match(/Reconnected/g)).toHaveLength(1)
    const seen = told().map((run) => `${run.run_id} ${run.status}`)
    expect(seen.toSorted()).toEqual(
      [
        ...[first, second, third, running, old, fourth].map((run_id) => `${run_id} succeeded`),
        `${running} running`,
        `${broken} failed`
      ].toSorted()
    )
    // The list has two fields more than a single run: the key and the subject, at its end.
    const exact = lines((await home.shell("rungate runs list --jsonl --limit 200", mine)).out)
    for (const line of lines(out.text()).filter((one) => JSON.parse(one).done)) {
      expect(Object.keys(JSON.parse(line))).not.toContain("subject")
      expect(exact.filter((one) => one.startsWith(line.slice(0, -1)))).toHaveLength(1)
    }
  },
  60_000
)

test.concurrent("at a terminal: a line each, in columns and colors; filters hold for past and future", async () => {
  const { mine, quick, fails } = await newcomer()
  const failed = await fails()
  const screen = home.terminal("rungate logs tail --status failed --since 1h", mine, 120)
  await screen.shows("Following the runs")
  const other = await quick("other")
  const next = await fails()
  await screen.shows(next)
  screen.type("\u0003")
  expect(await screen.ended).toBe(2)
  const plain = Bun.stripANSI(screen.seen())
  const line = (run_id: string) => plain.split(/[\r\n]+/).find((one) => one.includes(run_id)) ?? ""
  const shape = /^\d\d:\d\d:\d\d {2}run_\w{26} {2}failed {5}email\.verify +\S+ +\S+ +[\d.]+ m?s {2}provider_error$/
  expect([line(failed), line(next)]).toEqual([expect.stringMatching(shape), expect.stringMatching(shape)])
  expect(line(failed).indexOf("email.verify")).toBe(line(next).indexOf("email.verify"))
  expect(plain).not.toContain(other)
  expect(screen.seen()).toContain("\u001b[31mfailed")
})

test.concurrent("a wrong key, a service that was never there, a time that is none, a reader that has seen enough", async () => {
  const { mine, quick } = await newcomer()
  const [wrong, nobody, odd, many, enough] = await Promise.all([
    home.shell("rungate logs tail", { RUNGATE_API_KEY: "rg_test_wrong" }),
    home.shell("rungate logs tail", { ...mine, RUNGATE_URL: "http://127.0.0.1:1" }),
    home.shell("rungate logs tail --since tomorrow", mine),
    home.shell("rungate logs tail -n 10001", mine),
    (async () => {
      const child = home.start("rungate logs tail -n 1 --capability email.verify | head -2; echo ended", mine)
      const [said, err] = [reading(child.stdout), reading(child.stderr)]
      await until("it follows", err.text, (text) => text.includes("Following"))
      // What nobody reads any more is what ends it.
      const look = async () => {
        await quick("more")
        return said.text()
      }
      await until("it ends", look, (text) => text.includes("ended"))
      return said.text()
    })()
  ])
  expect([wrong.code, wrong.out, wrong.err]).toEqual([4, "", expect.stringContaining("RUNGATE_API_KEY")])
  expect([nobody.code, nobody.err]).toEqual([1, expect.stringContaining("Can't reach the service")])
  expect([odd.code, odd.err]).toEqual([5, expect.stringContaining("Invalid --since")])
  expect([many.code, many.err]).toEqual([5, expect.stringContaining("0 to 10000")])
  expect(lines(enough)).toHaveLength(3)
})
