/**
 * T10: every way that leads to a provider passes the wallet, the guard and the key. In production, with a stand-in that
 * counts what arrives: the same doors that reach it with money in the wallet reach it never without.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { type App, figures, type Reply, startApp, type Tenant, until, verify } from "../app.ts"
import { compiledCommand } from "../command.ts"
import { answer } from "../providers/stage.ts"
import { standIn } from "../providers/standin.ts"

let app: App
let other: App
let org: Tenant
const there = standIn()
beforeAll(async () => {
  app = await startApp({ settings: there.settings })
  other = await startApp({ beside: app, settings: there.settings })
})
afterAll(async () => {
  await other.stop()
  await app.stop()
  await there.stop()
})
beforeEach(async () => {
  there.forget()
  there.play("leadmagic", answer(500, {}), answer(500, {}))
  there.play("millionverifier", verified, verified, verified)
  there.play("scrapecreators", answer(200, { success: true, credits_charged: 1 }))
  org = await app.tenant("5.00")
})
afterEach(async () => {
  await app.books()
})

const verified = answer(200, { result: "ok" })
const raw = { provider: "scrapecreators", endpoint: "/v1/tiktok/profile", input: { handle: "nasa" } }
const pinned = { ...verify(), routing: { provider: "millionverifier" } }

const commandLine = async (args: ReadonlyArray<string>) => {
  const child = Bun.spawn([await compiledCommand(), ...args], {
    env: { ...process.env, RUNGATE_URL: app.url, RUNGATE_API_KEY: org.key },
    stdio: ["ignore", "pipe", "pipe"]
  })
  await child.exited
}
const toolOverHttp = async (name: string, given: unknown) => {
  const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: given } }
  expect((await org.post("/mcp", message)).body.result.content).toHaveLength(1)
}
const ended = async ({ body }: Reply) => {
  if (typeof body.run_id !== "string") return
  await until(
    "the run ends",
    () => org.get(`/v1/runs/${body.run_id}?wait=10`),
    (one) => one.body.done === true
  )
}

/** Each door, and how many requests leave when it is open. */
const doors: ReadonlyArray<readonly [string, () => Promise<unknown>, number]> = [
  ["a capability, on to its second provider", () => org.run({ ...verify(), routing: { strategy: "cheapest" } }), 2],
  ["a pinned provider", () => org.run(pinned), 1],
  ["a raw endpoint", () => org.run(raw), 1],
  ["an asynchronous run", async () => ended(await org.run({ ...pinned, async: true })), 1],
  ["a run that nobody waits for", async () => ended(await org.run({ ...pinned, wait_seconds: 0 })), 1],
  ["another process", () => org.over(other).run(pinned), 1],
  [
    "a request and its repeat",
    async () => {
      for (let at = 0; at < 3; at++) await org.run(pinned, { "idempotency-key": "one" })
    },
    1
  ],
  ["two at once with one key", () => Promise.all([1, 2].map(() => org.run(pinned, { "idempotency-key": "two" }))), 1],
  [
    "the client's run",
    () => commandLine(["run", "email.verify", "-i", '{"email":"a@b.co"}', "--provider", "millionverifier"]),
    1
  ],
  ["the client's call", () => commandLine(["call", raw.provider, raw.endpoint, "-i", JSON.stringify(raw.input)]), 1],
  ["a tool, of a capability", () => toolOverHttp("run", { ...pinned, max_cost: "1.00" }), 1],
  ["a tool, of a raw endpoint", () => toolOverHttp("run", { ...raw, max_cost: "1.00" }), 1],
  ["a tool that spends nothing", () => toolOverHttp("inspect", { capability: "email.verify" }), 0],
  // Looking around asks nobody.
  ["inspect", () => org.post("/v1/inspect", { capability: "email.verify" }), 0],
  ["discover", () => org.post("/v1/discover", { query: "verify an e-mail address" }), 0]
]

/** What closes them. */
const closed: ReadonlyArray<readonly [string, () => Promise<unknown>]> = [
  [
    "an empty wallet",
    async () => {
      org = await app.tenant()
    }
  ],
  [
    "a wallet with a microdollar",
    async () => {
      org = await app.tenant("0.000001")
    }
  ],
  ["a limit per run", () => org.post("/v1/spend-guard", { per_run_limit: "0.000001" })],
  ["a limit per day", () => org.post("/v1/spend-guard", { daily_limit: "0.000001" })],
  [
    "a revoked key",
    async () => expect((await app.call(org.key, "DELETE", `/v1/api-keys/${org.key_id}`)).status).toBe(200)
  ]
]

describe("T10 admission.all_doors", () => {
  test.each(doors)("with money, %s", async (_name, enter, requests) => {
    await enter()
    expect(there.heard()).toHaveLength(requests)
    const runs = (await org.list()).body.items
    expect(runs.filter((one: { status: string }) => one.status !== "succeeded")).toEqual([])
    // As many reserves as runs: nothing left without one.
    expect((await org.ledger()).filter((entry) => entry.type === "reserve")).toHaveLength(runs.length)
  })

  let tried = 0
  describe.each(closed)("with %s", (_why, close) => {
    test.each(doors)("%s reaches nobody", async (_name, enter) => {
      await close()
      await enter()
      expect(there.heard()).toEqual([])
      const held = "SELECT 1 FROM ledger WHERE org_id = $1 AND run_id IS NOT NULL"
      expect(await app.sql(held, [org.org_id])).toEqual([])
      tried += 1
    })
  })

  test("figures, and nothing went anywhere else", () => {
    expect(there.astray(app.url).filter((url) => !url.startsWith(other.url))).toEqual([])
    figures("T10 admission.all_doors", { doors: doors.length, closed: closed.length, tried })
  })
})

describe("in the sources", () => {
  const source = join(import.meta.dir, "..", "..", "src")
  const files = Array.from(new Bun.Glob("**/*.ts").scanSync(source))
  const saying = (words: RegExp) => files.filter((file) => words.test(readFileSync(join(source, file), "utf8"))).sort()

  test("one file asks providers, one executes runs, one admits them, and three read the network", () => {
    expect(saying(/\bproviders\.(call|callRaw)\(/)).toEqual(["actors/RunActor.ts"])
    expect(saying(/\byield\* Providers\b/)).toEqual(["actors/RunActor.ts"])
    expect(saying(/\brunActor\.execute\(/)).toEqual(["actors/Workers.ts"])
    expect(saying(/\bstore\.admit\(/)).toEqual(["actors/Admission.ts"])
    // One reads documents for the catalog, one asks the payment processor.
    expect(saying(/\bfetch\(/)).toEqual(["layers/Downloads.ts", "layers/HttpProviders.ts", "layers/payments/Stripe.ts"])
  })
})
