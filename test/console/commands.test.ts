/** Commands to paste: what a shell, a JavaScript engine and a JSON parser read in them is the request. */
import { describe, expect, test } from "bun:test"
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
    // No flag keeps the provider's own answer.
    expect(second?.slice(0, 3)).toEqual(["api", "POST", "/v1/run"])
    expect(JSON.parse(after(second ?? [], "-i"))).toEqual(bodies[1])
    expect(third?.slice(0, 3)).toEqual(["call", "sec_edgar", "/x/{cik}"])
    expect([after(third ?? [], "--method"), after(third ?? [], "--path")]).toEqual(["GET", `{"cik":"1'2"}`])
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
