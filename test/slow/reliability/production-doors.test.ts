/**
 * T10: every way that leads to a provider passes the wallet, the guard and the key. In production, with a stand-in that
 * counts what arrives: the same doors that reach it with money in the wallet reach it never without, and never with a cap
 * that is below what the call costs. With TEST_INPUTS=all each door is tried with everything that closes it; otherwise each with an empty
 * wallet, and a sample of the doors with the rest.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { dollars, usd } from "../../../src/schema/money/Money.ts"
import { type App, figures, type Reply, startApp, type Tenant, until, verify } from "../../kit/app.ts"
import { compiledCommand } from "../../kit/compiled-command.ts"
import { acme } from "../../kit/provider-documents.ts"
import { sampled } from "../../kit/input-samples.ts"
import { answer } from "../../layers/providers/stage.ts"
import { standIn } from "../../layers/providers/standin.ts"

let app: App
let other: App
let org: Tenant
const there = standIn({ slug: "acme", auth: { kind: "bearer" } })
beforeAll(async () => {
  app = await startApp({ settings: there.settings })
  // It reports what a call cost.
  await app.catalog({ ...acme, provider: "crustdata" })
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
  const { status, body } = await org.post("/mcp", message)
  // A revoked key reaches no tool.
  if (status === 401) expect(body.error.code).toBe("unauthorized")
  else expect(body.result.content).toHaveLength(1)
}
/** The request with this cap, or as it is. */
const under = (request: Readonly<Record<string, unknown>>, cap: string | null) =>
  cap === null ? request : { ...request, routing: { ...Object(request["routing"]), max_cost: cap } }
const flags = (cap: string | null) => (cap === null ? [] : ["--max-cost", cap])
const ended = async ({ body }: Reply) => {
  if (typeof body.run_id !== "string") return
  await until(
    "the run ends",
    () => org.get(`/v1/runs/${body.run_id}?wait=10`),
    (one) => one.body.done === true
  )
}

/** Each door, with a cap or none, and how many requests leave when it is open. */
const doors: ReadonlyArray<readonly [string, (cap: string | null) => Promise<unknown>, number]> = [
  [
    "a capability, on to its second provider",
    (cap) => org.run(under({ ...verify(), routing: { strategy: "cheapest" } }, cap)),
    2
  ],
  ["a pinned provider", (cap) => org.run(under(pinned, cap)), 1],
  ["a raw endpoint", (cap) => org.run(under(raw, cap)), 1],
  ["an asynchronous run", async (cap) => ended(await org.run({ ...under(pinned, cap), async: true })), 1],
  ["an asynchronous raw run", async (cap) => ended(await org.run({ ...under(raw, cap), async: true })), 1],
  ["a run that nobody waits for", async (cap) => ended(await org.run({ ...under(pinned, cap), wait_seconds: 0 })), 1],
  ["another process", (cap) => org.over(other).run(under(pinned, cap)), 1],
  ["another process, raw", (cap) => org.over(other).run(under(raw, cap)), 1],
  [
    "a request and its repeat",
    async (cap) => {
      for (let at = 0; at < 3; at++) await org.run(under(pinned, cap), { "idempotency-key": "one" })
    },
    1
  ],
  [
    "two at once with one key",
    (cap) => Promise.all([1, 2].map(() => org.run(under(raw, cap), { "idempotency-key": "two" }))),
    1
  ],
  [
    "the client's run",
    (cap) =>
      commandLine(["run", "email.verify", "-i", '{"email":"a@b.co"}', "--provider", "millionverifier", ...flags(cap)]),
    1
  ],
  [
    "the client's call",
    (cap) => commandLine(["call", raw.provider, raw.endpoint, "-i", JSON.stringify(raw.input), ...flags(cap)]),
    1
  ],
  ["a tool, of a capability", (cap) => toolOverHttp("run", { ...pinned, max_cost: cap ?? "1.00" }), 1],
  ["a tool, of a raw endpoint", (cap) => toolOverHttp("run", { ...raw, max_cost: cap ?? "1.00" }), 1],
  ["a tool that spends nothing", () => toolOverHttp("inspect", { capability: "email.verify" }), 0],
  // Looking around asks nobody.
  ["inspect", () => org.post("/v1/inspect", { capability: "email.verify" }), 0],
  ["discover", () => org.post("/v1/discover", { query: "verify an e-mail address" }), 0]
]

/** Caps that pay for nothing; a profile costs $0.001193. */
const caps = ["0", "0.00", "0.000001", "0.001192"]

/** A raw endpoint of each kind, with the smallest cap that would do. */
const kinds = [
  ["with a rate card", raw, "0.001193"],
  [
    "whose rates nobody publishes",
    { provider: "crustdata", endpoint: "/search", input: { filter: { field: "x" } } },
    "0.10"
  ],
  [
    "of tasks",
    {
      provider: "dataforseo",
      endpoint: "/v3/serp/google/organic/live/advanced",
      input: [1, 2].map((at) => ({ keyword: `k${at}`, location_code: 2840, language_code: "en" }))
    },
    "0.0048"
  ],
  [
    "that sends mail",
    {
      provider: "postmark",
      endpoint: "/email",
      input: { From: "a@example.com", To: "b@example.com", Subject: "x", TextBody: "x" }
    },
    "0.00216"
  ]
] as const

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
    await enter(null)
    expect(there.heard()).toHaveLength(requests)
    const runs = (await org.list()).body.items
    expect(runs.filter((one: { status: string }) => one.status !== "succeeded")).toEqual([])
    // As many reserves as runs: nothing left without one.
    expect((await org.ledger()).filter((entry) => entry.type === "reserve")).toHaveLength(runs.length)
  })

  let tried = 0
  let turn = 0
  describe.each(closed)("with %s", (why, close) => {
    const tries = why === "an empty wallet" ? doors : sampled(doors, 6, turn++)
    test.each(tries)("%s reaches nobody", async (_name, enter) => {
      await close()
      await enter(null)
      expect(there.heard()).toEqual([])
      const held = "SELECT 1 FROM ledger WHERE org_id = $1 AND run_id IS NOT NULL"
      expect(await app.sql(held, [org.org_id])).toEqual([])
      tried += 1
    })
  })

  describe.each(["an empty wallet", "a wallet with money"])("with %s and a cap of", (wallet) => {
    describe.each(caps)("%s", (cap) => {
      test.each(sampled(doors, 6, turn++))("%s reaches nobody", async (_name, enter) => {
        if (wallet === "an empty wallet") org = await app.tenant()
        await enter(cap)
        expect(there.heard()).toEqual([])
        const held = "SELECT 1 FROM ledger WHERE org_id = $1 AND run_id IS NOT NULL"
        expect(await app.sql(held, [org.org_id])).toEqual([])
        tried += 1
      })
    })
  })

  test.each(kinds)(
    "a raw endpoint %s names the smallest cap, and refuses every lower one",
    async (_name, request, least) => {
      org = await app.tenant()
      await app.sql("INSERT INTO owned_resources (kind, resource_id, org_id) VALUES ('sender', 'a@example.com', $1)", [
        org.org_id
      ])
      const lower = usd(dollars(least) - 1n)
      for (const cap of ["0", "0.000001", lower]) {
        const { status, body } = await org.run(under(request, cap))
        expect([cap, status, body.error.code, body.error.details[0].path]).toEqual([
          cap,
          400,
          "invalid_request",
          "routing.max_cost"
        ])
        expect(body.error.message).toContain(`routing.max_cost must be at least ${least}:`)
      }
      // At the smallest cap the wallet decides.
      expect((await org.run(under(request, least))).body.error).toMatchObject({ code: "insufficient_balance" })
      expect(there.heard()).toEqual([])
    }
  )

  test("figures, and nothing went anywhere else", () => {
    expect(there.astray(app.url).filter((url) => !url.startsWith(other.url))).toEqual([])
    figures("T10 admission.all_doors", { doors: doors.length, closed: closed.length, caps: caps.length, tried })
  })
})

describe("in the sources", () => {
  const source = join(import.meta.dir, "..", "..", "..", "src")
  const files = Array.from(new Bun.Glob("**/*.ts").scanSync(source))
  const saying = (words: RegExp) => files.filter((file) => words.test(readFileSync(join(source, file), "utf8"))).sort()

  test("one file asks providers, one executes runs, one admits them, and five read the network", () => {
    expect(saying(/\bproviders\.(call|callRaw)\(/)).toEqual(["actors/runs/Attempts.ts"])
    // The others only read what a provider says of calls that were made before, or of the operator's account.
    expect(saying(/\byield\* Providers\b/)).toEqual([
      "actors/operator/CreditsReader.ts",
      "actors/runs/Attempts.ts",
      "actors/runs/OutcomeLookups.ts",
      "actors/warranty/Warranties.ts"
    ])
    expect(saying(/\bproviders\.lookUp\(/)).toEqual(["actors/runs/OutcomeLookups.ts"])
    expect(saying(/\bproviders\.bounced\(/)).toEqual(["actors/warranty/Warranties.ts"])
    expect(saying(/\brunActor\.execute\(/)).toEqual(["actors/Workers.ts"])
    expect(saying(/\bstore\.admit\(/)).toEqual(["actors/runs/Admission.ts"])
    // Two are pages in a browser, one passes a sign-in on to another cell, one reads documents for the catalog, one asks the payment processor.
    expect(saying(/\bfetch\(/)).toEqual([
      "http/client/Browser.ts",
      "http/console/docs/docs.ts",
      "http/middleware/HomeCell.ts",
      "layers/catalog/import/kit/Downloads.ts",
      "layers/executor/Send.ts",
      "layers/payments/Stripe.ts"
    ])
  })
})
