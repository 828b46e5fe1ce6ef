/** @rungate/client as a program gets it: packed, installed into an empty folder, compiled against its types, and run by Node and Bun. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import packageJson from "../../../package.json" with { type: "json" }
import { buildClient } from "../../../scripts/packages/client.ts"
import { type App, rehearse, startApp, type Tenant, verify } from "../../kit/app.ts"
import { cutLine } from "../../http/cli/wire.ts"

type Json = ReturnType<typeof JSON.parse>

const root = join(import.meta.dir, "..", "..", "..")
const folder = mkdtempSync(join(tmpdir(), "rungate-client-"))
const installed = join(folder, "node_modules", "@rungate", "client")
const bytesMax = 135_000
let app: App
let org: Tenant
/** Its types are generated with it, and tested by compiling a program. */
let client: Json

const command = async (words: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}, cwd = folder) => {
  const child = Bun.spawn([...words], {
    cwd,
    env: { PATH: process.env["PATH"] ?? "", HOME: folder, ...env },
    stdout: "pipe",
    stderr: "pipe"
  })
  const [out, err, exit] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited
  ])
  return { out, err, exit }
}

let packedBytes = 0
beforeAll(async () => {
  const built = buildClient(join(folder, "build"))
  const packed = await command(["npm", "pack", "--json", "--pack-destination", folder], {}, built)
  expect([packed.exit, packed.err.includes("npm error")]).toEqual([0, false])
  const [{ filename, size }] = JSON.parse(packed.out)
  packedBytes = size
  writeFileSync(join(folder, "package.json"), '{"name":"program","private":true,"type":"module"}')
  // Nothing may be asked of a registry: it has no dependencies.
  const install = await command(["npm", "install", "--offline", "--no-audit", "--no-fund", join(folder, filename)])
  expect([install.exit, install.err]).toEqual([0, ""])
  client = await import(join(installed, "dist", "index.js"))
  app = await startApp()
  org = await app.tenant("25.00")
})
afterAll(async () => {
  await app?.stop()
  rmSync(folder, { recursive: true, force: true })
})

const connected = (url = app.url, more: object = {}) => client.connect({ url, key: org.key, ...more })
const rejected = async (promise: PromiseLike<unknown>): Promise<Json> => {
  const error: unknown = await promise.then(
    () => null,
    (one: unknown) => one
  )
  expect(error).toBeInstanceOf(client.RungateError)
  return error
}

describe("the package", () => {
  test("is small, depends on nothing and holds no sources", () => {
    const files = readdirSync(installed, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
    const texts = files.map(({ parentPath, name }) => ({ name, text: readFileSync(join(parentPath, name), "utf8") }))
    const bytes = texts.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0)
    expect(bytes).toBeLessThan(bytesMax)
    expect(packedBytes).toBeLessThan(bytesMax / 3)
    const manifest = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"))
    expect([manifest.name, manifest.version]).toEqual(["@rungate/client", packageJson.version])
    expect(Object.keys(manifest).filter((key) => /dependencies|scripts/i.test(key))).toEqual([])
    expect(files.map(({ name }) => name.replace(/^[^.]+/, "")).filter((end) => end === ".ts")).toEqual([])
    expect(readdirSync(installed).sort()).toEqual(["LICENSE", "README.md", "dist", "package.json"])
  })

  test("runs in a browser: it imports only its own files and names nothing of Node or Bun", () => {
    const scripts = readdirSync(join(installed, "dist")).filter((name) => name.endsWith(".js"))
    for (const name of scripts) {
      const text = readFileSync(join(installed, "dist", name), "utf8")
      for (const { path } of new Bun.Transpiler({ loader: "js" }).scanImports(text)) expect(path).toStartWith("./")
      expect(text.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, "")).not.toMatch(/\b(process|Buffer|require|Bun|__dirname)\b/)
    }
  })

  const program = `
import { connect, type ErrorCode, type ListedRun, type Page, type ReceivedEvent, type Run, RungateError } from "@rungate/client"
const rungate = connect({ url: "http://127.0.0.1:8787", key: "rg_test_x" })
export const program = async (signal: AbortSignal, maybe: string | undefined): Promise<void> => {
  const run = await rungate.runs.run({ capability: "email.find", input: {}, provider: maybe }, { signal, idempotency_key: "one" })
  const read: Run = await rungate.runs.get(run.run_id, { wait: 60 })
  const status: "succeeded" | "failed" | string = read.status
  const page: Page<ListedRun> = await rungate.runs.list({ status: "failed", limit: 5, metadata: { campaign: "spring" } })
  for await (const one of rungate.wallet.transactions({ from: "2026-01-01" })) console.log(one.amount, status, page.next_cursor)
  for await (const event of rungate.events({ types: ["run.finished"], signal })) { const same: ReceivedEvent = event; console.log(same.id) }
  await rungate.batches.create("email\\na@example.com", { capability: "email.verify" })
  const none: ErrorCode = "not_found"
  console.log(none, new RungateError({ code: none, message: "" }).details[0]?.path)
  // @ts-expect-error -- a field that does not exist
  await rungate.runs.run({ capabilty: "email.find", input: {} })
  // @ts-expect-error -- input is missing
  await rungate.runs.run({ capability: "email.find" })
  // @ts-expect-error -- no such status
  await rungate.runs.list({ status: "done" })
  // @ts-expect-error -- no such event
  rungate.events({ types: ["run.ended"] })
  // @ts-expect-error -- an amount is text
  await rungate.runs.run({ input: {}, routing: { max_cost: 0.1 } })
}
`
  test.each([
    ["with a browser's types", { lib: ["ES2022", "DOM", "DOM.AsyncIterable"], types: [] }],
    ["with Node's types", { lib: ["ES2022"], types: ["node"] }]
  ])(
    "its types compile %s, strictly, as NodeNext and for bundlers",
    async (_name, options) => {
      const place = mkdtempSync(join(folder, "types-"))
      symlinkSync(join(folder, "node_modules"), join(place, "node_modules"))
      writeFileSync(join(place, "package.json"), '{"type":"module"}')
      writeFileSync(join(place, "program.ts"), program)
      const strict = { strict: true, exactOptionalPropertyTypes: true, noEmit: true, skipLibCheck: false }
      const typeRoots = [join(root, "node_modules", "@types")]
      for (const module of [{ module: "NodeNext" }, { module: "ESNext", moduleResolution: "bundler" }]) {
        const compilerOptions = { target: "ES2022", ...strict, ...module, ...options, typeRoots }
        writeFileSync(join(place, "tsconfig.json"), JSON.stringify({ compilerOptions, include: ["program.ts"] }))
        const { out, exit } = await command([process.execPath, join(root, "node_modules", ".bin", "tsc"), "-p", place])
        expect([out, exit]).toEqual(["", 0])
      }
    },
    60_000
  )

  const examples = [
    ...readFileSync(join(root, "packages", "client", "README.md"), "utf8").matchAll(/```ts\n([\s\S]*?)```/g)
  ].map(([, code = ""]) => code)
  const runners = [process.execPath, Bun.which("node")].filter((one) => one !== null)
  test.each(runners)("its README works as it stands: %s", async (runner) => {
    // Node 18 reads no types.
    const transpiler = new Bun.Transpiler({ loader: "ts", target: "browser" })
    const env = { RUNGATE_URL: app.url, RUNGATE_API_KEY: org.key }
    const outputs = await Promise.all(
      examples.map(async (code, at) => {
        mkdirSync(join(folder, "examples"), { recursive: true })
        const file = join(folder, "examples", `example-${at}.mjs`)
        writeFileSync(file, transpiler.transformSync(code))
        return command([runner, file], env)
      })
    )
    expect(outputs).toEqual(examples.map(() => ({ out: expect.any(String), err: "", exit: 0 })))
    expect(outputs[0]?.out).toContain("ada.lovelace@example.com")
    expect(outputs[1]?.out.match(/^run\.\w+/gm)).toEqual(["run.created", "run.started", "run.attempt", "run.finished"])
  })
})

describe("connect", () => {
  test("an error has the public code, the run, the fields, and no key", async () => {
    const rungate = connected()
    const failed = await rejected(
      rungate.runs.run({
        capability: "email.verify",
        input: { email: "error@sandbox.test" },
        routing: { provider: "hunter" }
      })
    )
    expect([failed.code, failed.status]).toEqual(["provider_error", 502])
    expect((await rungate.runs.get(failed.run_id ?? "")).status).toBe("failed")
    expect(failed.body).toMatchObject({ run_id: failed.run_id, status: "failed" })
    const refused = await rejected(connected(app.url, { key: "rg_test_wrong" }).wallet.get())
    expect([refused.code, refused.status, refused.message.includes("rg_test_wrong")]).toEqual([
      "unauthorized",
      401,
      false
    ])
    const malformed = await rejected(rungate.runs.run({ capability: "email.find", input: {} }))
    expect([malformed.code, malformed.details.length > 0]).toEqual(["invalid_request", true])
  })

  test("every group of the API is there, but for the operator's and the console's", () => {
    const groups = Object.keys(connected())
    expect(groups).toEqual(
      expect.arrayContaining(["runs", "batches", "wallet", "keys", "webhooks", "members", "events"])
    )
    expect(groups.filter((name) => /operator|browser/.test(name))).toEqual([])
  })

  test("ids can't change the address", async () => {
    const rungate = connected()
    for (const id of ["..", ".", ""]) expect(() => rungate.runs.get(id)).toThrow("run_id must be an id")
    for (const run_id of [".", "..", ""])
      await expect(rungate.events({ run_id }).next()).rejects.toThrow("run_id must be an id")
    for (const id of ["../wallet", "a?wait=1#b"]) {
      const { code, message } = await rejected(rungate.runs.get(id))
      expect([code, message]).toEqual(["invalid_request", expect.stringContaining(`"${id}"`)])
    }
  })

  test("goes over all pages, and reads only those that are needed", async () => {
    const other = await app.tenant("1.00")
    for (let at = 0; at < 3; at += 1) await other.run(verify(`p${at}`))
    const asked: Array<string> = []
    const watching = (url: string, init: RequestInit) => {
      asked.push(new URL(url).search)
      return fetch(url, init)
    }
    const rungate = client.connect({ url: app.url, key: other.key, fetch: watching })
    const first = await rungate.runs.list({ limit: 2 })
    expect([first.items.length, first.next_cursor === null]).toEqual([2, false])
    const ids: Array<string> = []
    for await (const run of rungate.runs.list({ limit: 2 })) ids.push(run.run_id)
    expect(new Set(ids).size).toBe(3)
    for await (const _run of rungate.runs.list({ limit: 1 })) break
    expect(asked).toEqual(["?limit=2", "?limit=2", expect.stringMatching(/^\?limit=2&cursor=/), "?limit=1"])
  })

  test("text answers and CSV bodies", async () => {
    const rungate = connected()
    const batch = await rungate.batches.create("email\ncsv@example.com\n", {
      capability: "email.verify",
      max_total: "1.00"
    })
    const seen: Array<string> = []
    for await (const event of rungate.events({ types: ["run.finished"] })) {
      seen.push(event.id)
      if ((await rungate.batches.get(batch.id)).done) break
    }
    const rows = (await rungate.batches.results(batch.id)).trim().split("\n")
    expect(rows.map((row: string) => JSON.parse(row).status)).toEqual(["succeeded"])
    const { run_id } = JSON.parse(rows[0] ?? "{}")
    expect((await rungate.receipts.get(run_id)).split(".")).toHaveLength(3)
  })
})

describe("lost connections", () => {
  test("a run is asked for again, with a key of the client's own, and paid once", async () => {
    const before = (await org.list("?limit=200")).body.items.length
    const wire = cutLine(app.url, 2)
    const run = await connected(wire.url).runs.run(verify("cut"))
    await wire.stop()
    expect([run.status, wire.cut()]).toEqual(["succeeded", 2])
    expect((await org.list("?limit=200")).body.items.length).toBe(before + 1)
  })

  test("a request without a key is not sent twice", async () => {
    const wire = cutLine(app.url, 1)
    const lost = await rejected(connected(wire.url).keys.create({ name: "once", environment: "test" }))
    await wire.stop()
    expect([lost.code, wire.cut()]).toEqual(["connection_lost", 1])
  })

  test("a read is, and gives up in time", async () => {
    const wire = cutLine(app.url, 1)
    expect((await connected(wire.url).wallet.get()).currency).toBe("USD")
    await wire.stop()
    const never = cutLine(app.url, 1_000)
    const lost = await rejected(connected(never.url, { retry_seconds: 0.3 }).wallet.get())
    await never.stop()
    expect([lost.code, never.cut() > 1, never.cut() < 5]).toEqual(["connection_lost", true, true])
  })

  test("nobody is there, somebody else is, and somebody who sends one elsewhere", async () => {
    const gone = Bun.serve({ port: 0, fetch: () => new Response() })
    const nobody = gone.url.href
    await gone.stop(true)
    expect((await rejected(connected(nobody).wallet.get())).code).toBe("unreachable")
    const keys: Array<string | null> = []
    const thief = Bun.serve({
      port: 0,
      fetch: (request) => {
        keys.push(request.headers.get("authorization"))
        return new Response("{}")
      }
    })
    const other = Bun.serve({
      port: 0,
      fetch: (request) =>
        request.url.endsWith("/v1/wallet") ? Response.redirect(thief.url.href) : new Response("<h1>hello</h1>")
    })
    expect((await rejected(connected(other.url.href).wallet.get())).code).toBe("unexpected_answer")
    expect((await rejected(connected(other.url.href).usage.get())).code).toBe("unexpected_answer")
    expect(keys).toEqual([])
    await Promise.all([other.stop(true), thief.stop(true)])
  })

  test("429 is repeated after its Retry-After, whatever the request is, and a long one is the program's to decide", async () => {
    let asked = 0
    let wait = "0.1"
    const busy = Bun.serve({
      port: 0,
      fetch: () => {
        asked += 1
        const refused = { error: { code: "rate_limited", message: "Slow down." } }
        return asked % 2 === 1
          ? Response.json(refused, { status: 429, headers: { "retry-after": wait } })
          : Response.json({ id: "key_1" })
      }
    })
    const rungate = connected(busy.url.href)
    expect((await rungate.keys.create({ name: "a", environment: "test" })).id).toBe("key_1")
    expect(asked).toBe(2)
    wait = "3600"
    const refused = await rejected(rungate.keys.create({ name: "a", environment: "test" }))
    expect([refused.code, refused.retry_after, asked]).toEqual(["rate_limited", 3600, 3])
    await busy.stop(true)
  })

  test("a signal ends a request that waits, and one that was not sent", async () => {
    const stop = new AbortController()
    const reason = new Error("enough")
    const stopping = (url: string, init: RequestInit) => {
      const answer = fetch(url, init)
      stop.abort(reason)
      return answer
    }
    const outcome = (asked: PromiseLike<unknown>) =>
      asked.then(
        () => null,
        (error: unknown) => error
      )
    const run = { ...rehearse("slow_2"), wait_seconds: 60 }
    expect(await outcome(connected(app.url, { fetch: stopping }).runs.run(run, { signal: stop.signal }))).toBe(reason)
    expect(await outcome(connected().wallet.get({ signal: AbortSignal.abort(reason) }))).toBe(reason)
  })

  test("events continue after a cut in the middle of one, each once", async () => {
    const other = await app.tenant("1.00")
    const { body } = await other.run(verify("events"))
    const continued: Array<string | null> = []
    const line = Bun.serve({
      port: 0,
      fetch: async (request) => {
        const { pathname, search } = new URL(request.url)
        continued.push(request.headers.get("last-event-id"))
        const answer = await fetch(`${app.url}${pathname}${search}`, { headers: request.headers })
        if (continued.length > 1) return answer
        // Two events, and a part of the third.
        const [start, first, second, third] = (await answer.text()).split(/(?<=\n\n)(?=id:|event:)/)
        return new Response(`${start}${first}${second}${third?.slice(0, 60)}`, { headers: answer.headers })
      }
    })
    const rungate = client.connect({ url: line.url.href, key: other.key })
    const seen: Array<Json> = []
    for await (const event of rungate.events({ run_id: body.run_id })) seen.push(event)
    expect(seen.map(({ type }) => type)).toEqual(["run.created", "run.started", "run.attempt", "run.finished"])
    expect(continued).toEqual([null, seen[1].id])
    const rest: Array<string> = []
    for await (const event of rungate.events({ run_id: body.run_id, after: seen[2].id })) rest.push(event.type)
    expect(rest).toEqual(["run.finished"])
    for await (const event of rungate.events({ run_id: body.run_id, after: seen[3].id })) rest.push(event.type)
    expect(rest).toHaveLength(1)
    await line.stop(true)
    const refused = await rejected(
      client.connect({ url: app.url, key: "rg_test_x" }).events()[Symbol.asyncIterator]().next()
    )
    expect(refused.code).toBe("unauthorized")
  })
})
