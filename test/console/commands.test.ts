/** Commands to paste: what a shell, a JavaScript engine and a JSON parser read in them is the request. */
import { describe, expect, test } from "bun:test"
import { RunRequest } from "../../src/http/api/Runs.ts"
import { durationSeconds } from "../../src/http/cli/terminal/flags.ts"
import { commandsOf } from "../../src/http/console/running/commands.ts"
import { withCap } from "../../src/http/console/running/request.ts"

const place = { address: "http://127.0.0.1:8788", cap: "0.0468" }
const bodies = [
  { capability: "email.find", input: { full_name: 'Jane O\'Neil $(id) `id` "x"', company_domain: "example.com" } },
  {
    capability: "web.search",
    input: { query: "a\nb\\" },
    routing: { provider: "exa", strategy: "cheapest" as const, max_cost: "0.01", allow_fallback: false },
    metadata: { campaign: "it's $5" },
    response: { include_raw: true }
  },
  { provider: "sec_edgar", endpoint: "/x/{cik}", method: "GET" as const, path: { cik: "1'2" }, input: { a: [1] } }
]
const named = (body: (typeof bodies)[number]) => new Map(commandsOf(body, place))

/** The words that a shell makes of a command. */
const words = (command: string): ReadonlyArray<string> => {
  const script = `rungate() { printf '%s\\0' "$@"; }; curl() { printf '%s\\0' "$@"; }; RUNGATE_API_KEY=k; ${command}`
  const { stdout, exitCode } = Bun.spawnSync(["sh", "-c", script])
  expect(exitCode).toBe(0)
  return stdout.toString().split("\0").slice(0, -1)
}
const after = (all: ReadonlyArray<string>, flag: string) => all[all.indexOf(flag) + 1] ?? ""

describe("commands to paste", () => {
  test("curl sends the request under its cap", () => {
    for (const body of bodies) {
      const all = words(named(body).get("curl") ?? "")
      expect(JSON.parse(after(all, "-d"))).toEqual(withCap(body, place.cap))
      expect(all).toContain(`${place.address}/v1/run`)
    }
  })

  test("the command has every part of the request", () => {
    const [first, second, third] = bodies.map((body) => words(named(body).get("Command (CLI)") ?? ""))
    expect(first?.slice(0, 2)).toEqual(["run", "email.find"])
    expect(JSON.parse(after(first ?? [], "-i"))).toEqual(bodies[0]?.input)
    expect(after(first ?? [], "--max-cost")).toBe("0.0468")
    expect(second?.slice(0, 2)).toEqual(["run", "web.search"])
    expect(second).toContain("--include-raw")
    expect(third?.slice(0, 3)).toEqual(["call", "sec_edgar", "/x/{cik}"])
    expect([after(third ?? [], "--method"), after(third ?? [], "--path")]).toEqual(["GET", `{"cik":"1'2"}`])
  })

  describe("the command keeps what holds a run back", () => {
    const base = { capability: "email.send", input: { to: "jane@example.com" } }
    const typed = (body: Parameters<typeof commandsOf>[0]) =>
      words(new Map(commandsOf(body, place)).get("Command (CLI)") ?? "")

    test("the contact guard and the reuse of a result", () => {
      const reuse = { mode: "only" as const, max_age_seconds: 86_400 }
      const all = typed({ ...base, unless_contacted_within_seconds: 2_592_000, reuse })
      expect(all.slice(0, 2)).toEqual(["run", "email.send"])
      expect(after(all, "--unless-contacted")).toBe("2592000s")
      expect(after(all, "--reuse")).toBe("86400s")
      expect(all).toContain("--reuse-only")
      expect(typed({ ...base, reuse: { mode: "prefer", max_age_seconds: 60 } })).not.toContain("--reuse-only")
      expect(typed(base).join(" ")).not.toMatch(/reuse|unless/)
      for (const flag of ["--unless-contacted", "--reuse"]) expect(durationSeconds(after(all, flag))).toBeGreaterThan(0)
    })

    test("what counts as a match", () => {
      const accept = { fields: ["email", "phone"], phone_type: "mobile" as const, max_age_days: 30, agree: 2 as const }
      const all = typed({ capability: "people.enrich", input: {}, accept })
      expect(after(all, "--accept")).toBe("email,phone")
      expect([after(all, "--phone-type"), after(all, "--max-age")]).toEqual(["mobile", "30d"])
      expect(all).toContain("--agree")
    })

    test("what it has no flag for goes through rungate api", () => {
      const raw = { provider: "exa", endpoint: "/search", input: {} }
      const requests = [
        { ...base, reuse: { mode: "prefer" as const } },
        { ...base, reuse: { mode: "never" as const, max_age_seconds: 60 } },
        { ...raw, unless_contacted_within_seconds: 60 },
        { ...raw, response: { include_raw: true } }
      ]
      for (const body of requests) {
        const all = typed(body)
        expect(all.slice(0, 3)).toEqual(["api", "POST", "/v1/run"])
        expect(JSON.parse(after(all, "-i"))).toEqual(withCap(body, place.cap))
      }
    })

    test("every member of a request changes it", () => {
      const values: Readonly<Record<string, unknown>> = {
        ...{ capability: "web.search", provider: "exa", endpoint: "/search", method: "POST", input: { a: 1 } },
        ...{ path: { a: "1" }, query: { b: "2" }, routing: { max_total: "0.02" }, metadata: { c: "3" } },
        ...{ reuse: { mode: "only" }, unless_contacted_within_seconds: 60, response: { include_raw: true } },
        accept: { agree: 2 }
      }
      // How long a client waits is no part of what is run.
      const members = Object.keys(RunRequest.fields).filter((name) => name !== "wait_seconds" && name !== "async")
      expect(members.toSorted()).toEqual(Object.keys(values).toSorted())
      const rawOnly = ["provider", "endpoint", "method", "path", "query"]
      for (const name of members) {
        const from = rawOnly.includes(name) ? { provider: "tavily", endpoint: "/extract", input: {} } : base
        expect([name, typed({ ...from, [name]: values[name] })]).not.toEqual([name, typed(from)])
      }
    })
  })

  test("TypeScript is valid, and makes amounts with dollars", () => {
    for (const body of bodies) {
      const code = named(body).get("TypeScript") ?? ""
      expect(() => new Bun.Transpiler({ loader: "ts" }).transformSync(code)).not.toThrow()
      expect(code).toMatch(/max_cost: dollars\("0\.0(468|1)"\)/)
    }
  })

  test("the MCP call has the arguments of the tool run", () => {
    const calls = bodies.map((body) => JSON.parse(named(body).get("MCP tool call") ?? ""))
    expect(calls[0]).toEqual({ name: "run", arguments: { ...bodies[0], max_cost: "0.0468" } })
    expect(calls[1].arguments).toEqual({
      capability: "web.search",
      input: { query: "a\nb\\" },
      metadata: { campaign: "it's $5" },
      max_cost: "0.01",
      routing: { provider: "exa", strategy: "cheapest", allow_fallback: false },
      include_raw: true
    })
  })
})
