/** The package's `client` export: what docs/client.md shows works as it stands, and errors say what a program needs to know. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect, Redacted } from "effect"
import { HttpClientError } from "effect/http"
import { connect, dollars, RequestPolicy, Rungate, RungateError } from "rungate/client"
import { isLost, requestPolicyDefault } from "../../../../src/http/client/Transport.ts"
import { type Tenant, withApp } from "../../../kit/app.ts"
import { cutLine } from "../../../http/cli/wire.ts"

const root = join(import.meta.dir, "..", "..", "..", "..")
let org: Tenant
// Inside the package, where its own name resolves.
mkdirSync(join(root, ".scratch"), { recursive: true })
const folder = mkdtempSync(join(root, ".scratch", "client-"))
const app = withApp()
beforeAll(async () => {
  org = await app.tenant("25.00")
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
})

const examples = [...readFileSync(join(root, "docs", "client.md"), "utf8").matchAll(/```ts\n([\s\S]*?)```/g)].map(
  ([, code = ""]) => code
)

const runExample = async (code: string, key = org.key) => {
  const file = join(folder, "example.ts")
  writeFileSync(file, code)
  const child = Bun.spawn([process.execPath, file], {
    stdout: "pipe",
    stderr: "pipe",
    env: { PATH: process.env["PATH"] ?? "", RUNGATE_URL: app.url, RUNGATE_API_KEY: key }
  })
  const [out, err, exit] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited
  ])
  return { out, err, exit }
}

describe("docs/client.md", () => {
  test("with promises", async () => {
    const { out, err, exit } = await runExample(examples[0] ?? "")
    expect([exit, err]).toEqual([0, ""])
    expect(out).toContain("rungate inspect email.find")
    expect(out).toContain("ada.lovelace@example.com")
    expect(out).toContain("0.012")
  })

  test("with Effect", async () => {
    const { out, err, exit } = await runExample(examples[2] ?? "")
    expect([exit, err]).toEqual([0, ""])
    expect(out.trim()).toBe(`${(await org.wallet()).available} 1`)
  })

  test("events", async () => {
    const other = await app.tenant("1.00")
    const { out, err, exit } = await runExample(examples[1] ?? "", other.key)
    expect([exit, err]).toEqual([0, ""])
    expect(out.match(/^run\.\w+/gm)).toEqual(["run.created", "run.started", "run.attempt", "run.finished"])
  })
})

const rejected = async (promise: Promise<unknown>): Promise<RungateError> => {
  const error: unknown = await promise.then(
    () => null,
    (one) => one
  )
  expect(error).toBeInstanceOf(RungateError)
  return error as RungateError
}

const node = Bun.which("node")
test.if(node !== null)("what is packed runs under Node as well", async () => {
  const outdir = join(folder, "dist")
  await Bun.build({
    entrypoints: [join(root, "src", "http", "client", "Rungate.ts")],
    outdir,
    target: "node",
    packages: "external"
  })
  const file = join(folder, "example.mjs")
  writeFileSync(
    file,
    `import { connect } from "./dist/Rungate.js"
console.log((await connect({ url: process.env.RUNGATE_URL, key: process.env.RUNGATE_API_KEY }).wallet.get({})).currency)
await connect({ url: process.env.NOBODY }).wallet.get({}).catch((error) => console.log(error.code))`
  )
  // Node refuses ports such as 1 by itself, so this one was somebody's a moment ago.
  const gone = Bun.serve({ port: 0, fetch: () => new Response() })
  const nobody = gone.url.href
  await gone.stop(true)
  const child = Bun.spawn([node ?? "", file], {
    stdout: "pipe",
    stderr: "inherit",
    env: { PATH: process.env["PATH"] ?? "", RUNGATE_URL: app.url, RUNGATE_API_KEY: org.key, NOBODY: nobody }
  })
  expect([await new Response(child.stdout).text(), await child.exited]).toEqual(["USD\nunreachable\n", 0])
})

describe("connect", () => {
  test("an error has the public code, the run it belongs to, and no key", async () => {
    const rungate = connect({ url: app.url, key: org.key })
    const input = { email: "error@sandbox.test" }
    const failed = await rejected(
      rungate.runs.run({ headers: {}, payload: { capability: "email.verify", input, routing: { provider: "hunter" } } })
    )
    expect(failed.code).toBe("provider_error")
    const run = await rungate.runs.get({ params: { run_id: failed.run_id ?? "" }, query: {} })
    expect(run.status).toBe("failed")
    const refused = await rejected(connect({ url: app.url, key: "rg_test_wrong" }).wallet.get({}))
    expect([refused.code, refused.message.includes("rg_test_wrong")]).toEqual(["unauthorized", false])
    const malformed = await rejected(
      rungate.runs.run({ headers: {}, payload: { capability: "email.find", input: {} } })
    )
    expect([malformed.code, malformed.details.length > 0]).toEqual(["invalid_request", true])
  })

  test("quotes a run, with the same amounts and errors as the run", async () => {
    const rungate = connect({ url: app.url, key: org.key })
    const routing = { max_total: dollars("0.01") }
    const payload = { capability: "email.verify", input: { email: "quoted@example.com" }, routing }
    const quote = await rungate.quotes.quote({ payload })
    expect([quote.would, quote.minimum, quote.maximum]).toEqual(["run", "0.00", quote.hold])
    const run = await rungate.runs.run({ headers: {}, payload })
    expect([run.billing.quoted, run.provider]).toEqual([
      quote.hold,
      quote.offers.find(({ chosen }) => chosen)?.provider ?? null
    ])
    const refused = await rejected(rungate.quotes.quote({ payload: { ...payload, input: {} } }))
    expect([refused.code, refused.run_id]).toEqual(["invalid_request", null])
  })

  test("says when nobody is there, or somebody else", async () => {
    expect((await rejected(connect({ url: "http://127.0.0.1:1" }).wallet.get({}))).code).toBe("unreachable")
    const other = Bun.serve({ port: 0, fetch: () => new Response("<h1>hello</h1>", { status: 404 }) })
    expect((await rejected(connect({ url: other.url.href }).wallet.get({}))).code).toBe("unexpected_answer")
    await other.stop(true)
  })

  test("asks again over a cut connection, and pays once", async () => {
    const before = (await org.wallet()).balance
    const wire = cutLine(app.url, 1)
    const rungate = connect({ url: wire.url, key: org.key })
    const run = await rungate.runs.run({
      headers: { "idempotency-key": crypto.randomUUID() },
      payload: {
        capability: "email.verify",
        input: { email: "cut@example.com" },
        routing: { max_cost: dollars("0.10") }
      }
    })
    await wire.stop()
    expect([run.status, wire.cut()]).toEqual(["succeeded", 1])
    const paid = dollars(before) - dollars((await org.wallet()).balance)
    expect(paid).toBe(dollars(run.billing.charged ?? "0.00"))
  })

  test("a request that may have arrived stays lost, though nobody listens by now", async () => {
    const wire = cutLine(app.url, 1)
    const asked = Effect.gen(function* () {
      const rungate = yield* Rungate
      const payload = { capability: "email.verify", input: { email: "gone@example.com" } }
      return yield* rungate.runs.run({ headers: { "idempotency-key": crypto.randomUUID() }, payload })
    }).pipe(
      Effect.provide(Rungate.layer({ url: wire.url, token: Redacted.make(org.key) })),
      Effect.provideService(RequestPolicy, {
        ...requestPolicyDefault,
        retry_seconds: 1,
        onRetry: () => Effect.promise(wire.stop)
      }),
      Effect.flip
    )
    const error = await Effect.runPromise(asked)
    expect(HttpClientError.isHttpClientError(error) && isLost(error)).toBe(true)
  })

  test("does not send twice what could be done twice", async () => {
    const wire = cutLine(app.url, 1)
    const rungate = connect({ url: wire.url, key: org.key })
    const input = { email: "once@example.com" }
    const before = (await org.list("?limit=200")).body.items.length
    const lost = await rejected(rungate.runs.run({ headers: {}, payload: { capability: "email.verify", input } }))
    expect(lost.code).toBe("connection_lost")
    expect((await org.list("?limit=200")).body.items.length).toBe(before + 1)
    await wire.stop()
  })
})
