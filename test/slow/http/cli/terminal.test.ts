/** `rungate` at a terminal: tables, the question before money is spent, what stands there while one waits, and Ctrl-C. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { type Tenant, withApp } from "../../../kit/app.ts"
import { heldProvider } from "../../../kit/held-provider.ts"
import { type Home, newHome } from "../../../http/cli/shell.ts"

const held = heldProvider()
let org: Tenant
let home: Home
const app = withApp({ held })
beforeAll(async () => {
  org = await app.tenant("25.00")
  home = newHome({ RUNGATE_URL: app.url, RUNGATE_API_KEY: org.key })
})
afterAll(async () => {
  home.remove()
})

const ctrlC = "\u0003"
const escape = "\u001b"
const color = `${escape}[`
const find = `rungate run email.find -i '{"full_name":"Ada Lovelace","company_domain":"example.com"}'`
const slow = (seconds: number) => `rungate run email.verify -y -i '{"email":"slow_${seconds}@sandbox.test"}'`
const runCount = async () => (await org.list("?limit=200")).body.items.length
const widest = (text: string) => Math.max(...text.split(/\r?\n/).map((line) => Bun.stringWidth(line)))

describe("tables", () => {
  test("fit the terminal, and hints are whole", async () => {
    const screen = home.terminal("rungate discover find a work email --limit 5", {}, 60)
    expect(await screen.ended).toBe(0)
    const [rows = "", hints = ""] = Bun.stripANSI(screen.seen()).split("Inspect:")
    expect(widest(rows)).toBeLessThanOrEqual(60)
    expect(rows).toMatch(/WHAT +PRICE +HEALTH/)
    expect(rows).toMatch(/email\.find +.+ from \$0\.\d+ /)
    expect(hints).toContain("rungate inspect email.find")
    expect(screen.seen()).toContain(color)
  })

  test.each([
    ["--no-color", {}],
    ["", { NO_COLOR: "1" }],
    ["", { TERM: "dumb" }]
  ] as const)("without colors: %s %j", async (flag, environment) => {
    const screen = home.terminal(`rungate discover work email ${flag}`, environment)
    expect(await screen.ended).toBe(0)
    expect(screen.seen()).toContain("email.find")
    expect(screen.seen()).not.toContain(escape)
  })

  test("colors where they are asked for, and for an empty NO_COLOR", async () => {
    const piped = await home.shell("rungate help exit-codes", { FORCE_COLOR: "1" })
    expect(piped.out).toContain(color)
    const screen = home.terminal("rungate help exit-codes", { NO_COLOR: "" })
    await screen.ended
    expect(screen.seen()).toContain(color)
  })

  test("inspect shows the fields of an input and which of them are needed together", async () => {
    const screen = home.terminal("rungate inspect email.find", { NO_COLOR: "1" })
    expect(await screen.ended).toBe(0)
    expect(screen.seen()).toMatch(/^full_name +text +- +The person's full name/m)
    expect(screen.seen().replaceAll(/\s+/g, " ")).toContain("At least one of these: full_name + company_domain, or")
    const acting = home.terminal("rungate inspect email.send", { NO_COLOR: "1" })
    expect(await acting.ended).toBe(0)
    expect(acting.seen()).toMatch(/^to +text or list of text +yes +One recipient/m)
  })

  test("--json prints the API's body there too", async () => {
    const screen = home.terminal("rungate inspect email.verify --json")
    expect(await screen.ended).toBe(0)
    expect(JSON.parse(screen.seen()).capability).toBe("email.verify")
  })
})

describe("before money is spent", () => {
  test("quote, hold, cap and wallet are shown, and yes runs it for what was shown at most", async () => {
    const sent: Array<string> = []
    const between = Bun.serve({
      port: 0,
      fetch: async (request) => {
        const { pathname, search } = new URL(request.url)
        const body = await request.text()
        if (pathname === "/v1/run") sent.push(body)
        const init = { method: request.method, headers: request.headers, decompress: false }
        return fetch(`${app.url}${pathname}${search}`, body === "" ? init : { ...init, body })
      }
    })
    const screen = home.terminal(find, { RUNGATE_URL: between.url.href })
    const shown = await screen.shows("[y/N]")
    expect(shown).toMatch(/email\.find: at most \$0\.\d+, from \$0\.\d+/)
    expect(shown).toContain(`Wallet: $${(await org.wallet()).available} available`)
    screen.type("y\r")
    expect(await screen.ended).toBe(0)
    expect(screen.seen()).toContain("ada.lovelace@example.com")
    expect(screen.seen()).toMatch(/succeeded by \w+ .* charged \$0\.\d+ of \$0\.\d+ held .* run_/)
    const quote = /at most \$([\d.]+)/.exec(shown)?.[1]
    expect((await org.list("?limit=1")).body.items[0].billing.quoted).toBe(quote)
    expect(sent.map((body) => JSON.parse(body).routing.max_cost)).toEqual([quote])
    await between.stop(true)
  })

  test.each([
    ["n\r", "no"],
    ["\r", "nothing"],
    ["\u0004", "the end of input"],
    [ctrlC, "Ctrl-C"]
  ])("%j (%s) runs nothing: exit code 2", async (answer) => {
    const before = await runCount()
    const screen = home.terminal(find)
    await screen.shows("[y/N]")
    screen.type(answer)
    expect(await screen.ended).toBe(2)
    expect(screen.seen()).toContain("Nothing was run")
    expect(await runCount()).toBe(before)
    expect(readdirSync(home.runsFolder)).toEqual([])
  })

  test("a raw call asks as well, and where nobody can be asked it needs a cap or --yes", async () => {
    const call = `rungate call leadmagic /v1/people/email-finder -i '{"first_name":"A","last_name":"B","domain":"example.com"}'`
    const asked = home.terminal(call)
    expect(await asked.shows("[y/N]")).toContain("leadmagic /v1/people/email-finder: at most $")
    asked.type("n\r")
    expect(await asked.ended).toBe(2)
    const before = await runCount()
    const refused = home.terminal(`${call} --no-input`)
    expect(await refused.ended).toBe(5)
    expect(refused.seen()).toContain("--max-cost")
    expect(await runCount()).toBe(before)
    const allowed = home.terminal(`${call} --no-input --max-cost 0.05`)
    expect(await allowed.ended).toBe(0)
  })

  test("who pipes the answer on is asked as well, and only the answer is in the pipe", async () => {
    const screen = home.terminal(`sh -c '${find.replaceAll("'", "'\\''")} > piped.json'`)
    await screen.shows("[y/N]")
    screen.type("y\r")
    expect(await screen.ended).toBe(0)
    expect(JSON.parse(readFileSync(join(home.folder, "piped.json"), "utf8")).status).toBe("succeeded")
  })

  test("--yes, --no-input and CI ask nothing", async () => {
    for (const [flag, environment] of [
      ["--yes", {}],
      ["--no-input", {}],
      ["", { CI: "true" }]
    ] as const) {
      const screen = home.terminal(`${find} ${flag}`, environment)
      expect(await screen.ended).toBe(0)
      expect(screen.seen()).not.toContain("[y/N]")
    }
  })
})

test("a run that found nothing tells a person what may help, in flags; to a program that stands in the body", async () => {
  const line = find.replace("example.com", "no-match.sandbox.test")
  const screen = home.terminal(`${line} -y --provider hunter`)
  expect(await screen.ended).toBe(3)
  expect(Bun.stripANSI(screen.seen())).toMatch(/rungate: No provider found a match[^]*\n {2}--provider is hunter/)
  const piped = await home.shell(`${line} --provider hunter`)
  expect([piped.body.hints[0], piped.err.trim().split("\n").length]).toEqual([
    expect.stringContaining("routing.provider is hunter"),
    1
  ])
})

describe("while one waits", () => {
  test("seconds and the run's id stand there; Ctrl-C leaves it running and says how to come back", async () => {
    const screen = home.terminal(slow(120))
    const shown = await screen.shows(/\d+ s {2}run_\w+/)
    const run_id = /run_\w+/.exec(shown)?.[0] ?? ""
    screen.type(ctrlC)
    expect(await screen.ended).toBe(2)
    expect(screen.seen()).toContain(`rungate runs wait ${run_id}`)
    const { body } = await org.get(`/v1/runs/${run_id}`)
    expect(body.done).toBe(false)
    // The same command, and resume, are the same run.
    const before = await runCount()
    const again = home.terminal(slow(120))
    expect(await again.shows("Start a new run with --again.")).toContain(run_id)
    again.type(ctrlC)
    expect(await again.ended).toBe(2)
    const resumed = await home.shell(`rungate runs resume ${run_id} --wait 0`)
    expect([resumed.code, resumed.body.run_id]).toEqual([8, run_id])
    expect(await runCount()).toBe(before)
    expect((await home.shell(`rungate runs resume ${run_id} --forget`)).code).toBe(0)
    expect((await home.shell(`rungate runs resume ${run_id}`)).code).toBe(250)
  })

  test("nothing moves where nobody looks", async () => {
    const { err, code } = await home.shell(`${slow(121)} --wait 2`)
    expect(code).toBe(8)
    expect(err).not.toContain(escape)
    expect(err.trim().split("\n")).toHaveLength(1)
    await home.shell("rungate runs resume --forget")
  })
})

test("what others wrote can't command the terminal", async () => {
  const evil = "\u001b]0;owned\u0007\u001b[2J\u009b31m\u202e"
  const item = {
    kind: "capability",
    score: 1,
    health: {
      status: "unknown",
      success_rate: null,
      latency_ms_p50: null,
      latency_ms_p95: null,
      sample_size: 0,
      source: "measured"
    },
    hint: `rungate inspect ${evil}`,
    capability: `x${evil}`,
    title: `会社を探す${evil}`,
    description: "",
    status: "live",
    providers: [],
    live_providers: [],
    platforms: [],
    starting_price: null
  }
  const fake = Bun.serve({ port: 0, fetch: () => Response.json({ items: [item], hints: [evil] }) })
  const screen = home.terminal("rungate discover x --no-color", { RUNGATE_URL: fake.url.href })
  expect(await screen.ended).toBe(0)
  await fake.stop(true)
  expect(screen.seen()).toContain("会社を探す")
  const refusing = Bun.serve({
    port: 0,
    fetch: () => Response.json({ error: { code: "invalid_request", message: `no ${evil}` } }, { status: 400 })
  })
  const refused = await home.shell("rungate runs list", { RUNGATE_URL: refusing.url.href })
  await refusing.stop(true)
  expect([refused.code, refused.err]).toEqual([5, expect.stringContaining("rungate: no ")])
  expect(refused.err).not.toContain(escape)
  for (const sign of [escape, "\u0007", "\u009b", "\u202e"]) expect(screen.seen()).not.toContain(sign)
})
