/**
 * `rungate mcp` as an agent host has it: the real command, started as its own `--print-config` says, and talked to by the reference
 * client of the protocol. What it answers must be what its schemas promise, and nothing is paid twice.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { mkdirSync, readdirSync, realpathSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type App, startApp, type Tenant, until } from "../../../kit/app.ts"
import packageJson from "../../../../package.json" with { type: "json" }
import { heldProvider, heldWord } from "../../../kit/held-provider.ts"
import {
  type Arguments,
  closeHosts,
  type Host,
  hostOf,
  type Json,
  keyed,
  signal,
  verify
} from "../../../http/cli/host.ts"
import { type Environment, type Home, newHome } from "../../../http/cli/shell.ts"
import { hello as greeting, postTo } from "../../../http/mcp-request.ts"

const held = heldProvider()
let app: App
let org: Tenant
let home: Home
let host: Host
let config: Json
const start = (environment: Environment) => {
  const { command, args, env } = config.mcpServers.rungate
  return hostOf(command, args, { ...home.environment, ...env, ...environment })
}

beforeAll(async () => {
  // One run at a time: the second waits, and can be cancelled.
  app = await startApp({ held, settings: { RUNGATE_CONCURRENCY: "1" } })
  org = await app.tenant("25.00")
  home = newHome({})
  await home.shell("rungate login --with-token", { RUNGATE_URL: app.url }, `${org.key}\n`)
  const printed = await home.shell("rungate mcp --print-config")
  expect([printed.code, printed.err]).toEqual([0, expect.stringContaining("no secret")])
  expect(printed.out).not.toContain(org.key)
  config = printed.body
  // What a host has that was started from a desktop.
  const { command, args, env } = config.mcpServers.rungate
  host = await hostOf(command, args, { HOME: home.folder, ...env })
})
afterAll(async () => {
  await closeHosts()
  await app.stop()
  home.remove()
})

test("the entry names the command of the PATH, which an upgrade replaces, unless it is another program", async () => {
  const command = join(home.folder, "bin", "rungate")
  expect(config.mcpServers.rungate).toMatchObject({ command, args: ["mcp"] })
  const own = realpathSync(command)
  const bin = join(home.folder, "other")
  mkdirSync(bin)
  writeFileSync(join(bin, "rungate"), "#!/bin/sh\n", { mode: 0o755 })
  const { body } = await home.shell(`PATH=${bin}:$PATH ${command} mcp --print-config`)
  expect(body.mcpServers.rungate.command).toBe(own)
})

const charges = async () => (await org.ledger()).filter(({ type }) => type === "settle").length

describe("the tools", () => {
  const names = [
    "discover",
    "inspect",
    "quote",
    "run",
    "run_batch",
    "get_run",
    "cancel_run",
    "list_runs",
    "history",
    "wallet",
    "usage",
    "allowances",
    "list_providers"
  ]

  test("come in this order, with words and hints for all that they take", () => {
    expect(host.tools.map(({ name }) => name)).toEqual(names)
    const [openWorld, readOnly] = (["openWorldHint", "readOnlyHint"] as const).map((hint) =>
      host.tools.filter(({ annotations }) => annotations?.[hint] === true).map(({ name }) => name)
    )
    expect(openWorld).toEqual(["run", "run_batch"])
    expect(readOnly).toEqual(names.filter((name) => !["run", "run_batch", "cancel_run", "allowances"].includes(name)))
    for (const { annotations, description, inputSchema, title } of host.tools) {
      expect(Object.values(annotations ?? {}).filter((hint) => typeof hint === "boolean")).toHaveLength(4)
      expect([typeof title, (description ?? "").length > 80, inputSchema["additionalProperties"]]).toEqual([
        "string",
        true,
        false
      ])
      const parameters = Object.entries<Json>(inputSchema.properties ?? {})
      expect(parameters.filter(([, one]) => typeof one.description !== "string").map(([name]) => name)).toEqual([])
      expect(JSON.stringify(inputSchema)).not.toContain("$ref")
    }
    expect(host.tools.find(({ name }) => name === "run")?.inputSchema.required).toEqual(["input", "max_cost"])
    expect(host.client.getInstructions()).toContain("max_cost")
  })

  test("find, inspect, run, and know what was bought", async () => {
    const found = await host.call("discover", { query: "verify an e-mail address", limit: 3, kind: null })
    expect([found.failed, found.body.items.length]).toEqual([false, 3])
    const { body: shown } = await host.call("inspect", { capability: "email.verify" })
    expect(shown).toMatchObject({ capability: "email.verify", billing: { model: expect.any(String) } })

    const quoted = await host.call("quote", verify("ada@example.com", { max_total: "0.05" }))
    expect(quoted).toMatchObject({ failed: false, body: { minimum: "0.00", would: "run", offers: expect.any(Array) } })
    const ran = await host.call("run", verify("ada@example.com"))
    expect(ran).toMatchObject({
      failed: false,
      body: { status: "succeeded", result: { email: "ada@example.com" }, billing: { charged: "0.003" } }
    })
    expect(ran.body.idempotency_key).toMatch(/^cli_/)
    expect(ran.body.wallet).toEqual(await org.wallet())
    const { body: read } = await host.call("get_run", { run_id: ran.body.run_id })
    expect([read.result, read.wallet]).toEqual([ran.body.result, ran.body.wallet])

    const endpoint = { provider: "dataforseo", endpoint: "/v3/backlinks/referring_domains/live" }
    const { body: raw } = await host.call("inspect", endpoint)
    const called = await host.call("run", { ...endpoint, input: raw.example.input, max_cost: "0.10" })
    expect(called.body).toMatchObject({ status: "succeeded", kind: "endpoint", endpoint: endpoint.endpoint })

    const { body: listed } = await host.call("list_runs", { status: "succeeded" })
    expect(listed.items.map((one: Json) => one.run_id)).toEqual([called.body.run_id, ran.body.run_id])
    const { body: known } = await host.call("history", { q: "ada@example.com" })
    expect(known.reusable[0].run_id).toBe(ran.body.run_id)
    const { body: batch } = await host.call("history", { subjects: ["ada@example.com", "nobody@example.com"] })
    expect([batch.seen, batch.unseen]).toEqual([1, 1])
    const { body: wallet } = await host.call("wallet", { transactions: 1 })
    expect(wallet).toMatchObject({ ...(await org.wallet()), spend_guard: { per_run_limit: null } })
    expect(wallet.transactions).toHaveLength(1)
    const { body: providers } = await host.call("list_providers", { limit: 2 })
    const { body: after } = await host.call("list_providers", { limit: 2, cursor: providers.next_cursor })
    expect(new Set([...providers.items, ...after.items].map(({ provider }) => provider)).size).toBe(4)
    expect(readdirSync(home.runsFolder)).toEqual([])
    await app.books()
  })

  test("answer what went wrong with the API's error and what to do", async () => {
    const before = await org.wallet()
    const refused = async (name: string, given: Arguments) => {
      const { failed, body } = await host.call(name, given)
      expect([name, failed, typeof body.error.message]).toEqual([name, true, "string"])
      return body
    }
    const { max_cost: _, ...uncapped } = verify("ada@example.com")
    const cases: ReadonlyArray<readonly [string, Arguments, string, string]> = [
      ["run", uncapped, "invalid_request", "max_cost"],
      ["run", verify("ada@example.com", { max_cost: 0.1 + 0.2 }), "invalid_request", "max_cost"],
      ["run", verify("ada@example.com", { max_cots: "0.01" }), "invalid_request", "max_cots"],
      ["run", verify("ada@example.com", { idempotency_key: "../../evil" }), "invalid_request", "idempotency_key"],
      ["run", verify("ada@example.com", { input: "a@example.com" }), "invalid_request", "input"],
      ["run", verify("ada@example.com", { input: { id: 2 ** 60 } }), "invalid_request", "input.id"],
      ["run", verify("ada@example.com", { input: {} }), "invalid_request", "input.email"],
      ["run", { input: {}, max_cost: "1.00" }, "invalid_request", ""],
      ["inspect", { capability: "no.such" }, "capability_not_found", ""],
      ["inspect", { provider: "dataforseo", endpoint: "/nope" }, "endpoint_not_found", ""],
      ["history", {}, "invalid_request", ""],
      ["get_run", { run_id: "run_nothing" }, "invalid_request", "path.run_id"],
      ["cancel_run", { run_id: "run_nothing" }, "invalid_request", "path.run_id"]
    ]
    for (const [name, given, code, path] of cases) {
      const { error } = await refused(name, given)
      expect(error.hints[0]).toBeString()
      if (path === "max_cots") expect(error.message).toContain("no such parameter")
      if (path === "max_cost") expect(error.hints.join()).toContain('such as "0.05"')
      expect([name, error.code, path === "" ? "" : error.details[0].path]).toEqual([name, code, path])
    }

    const input = { full_name: "Ada Lovelace", company_domain: "no-match.sandbox.test" }
    const missed = await refused("run", { capability: "email.find", input, max_cost: "0.05" })
    expect(missed).toMatchObject({ status: "no_match", error: { code: "no_match" }, wallet: before })
    expect((await refused("run", verify("error@sandbox.test"))).error.code).toBe("provider_error")
    await org.post("/v1/spend-guard", { per_run_limit: "0.001" })
    const blocked = await refused("run", verify("ada@example.com"))
    expect(blocked).toMatchObject({ status: "blocked", error: { code: "cost_limit_exceeded" } })
    expect(blocked.next).toContain("needs a person")
    await app.call(await org.session(), "POST", "/v1/spend-guard", { body: { per_run_limit: null } })
    expect(await org.wallet()).toEqual(before)
    expect(readdirSync(home.runsFolder)).toEqual([])
    // Only a call that is no call is an error of the protocol.
    expect(host.client.callTool({ name: "no_such_tool", arguments: {} })).rejects.toThrow("-32602")
  })

  test("say what to do without money and without a key", async () => {
    const poor = await app.tenant()
    const [beggar, stranger] = await Promise.all([
      start({ RUNGATE_API_KEY: poor.key, RUNGATE_URL: app.url }),
      start({ RUNGATE_PROFILE: "nobody", RUNGATE_URL: app.url })
    ])
    const unpaid = await beggar.call("run", verify("ada@example.com"))
    expect(unpaid).toMatchObject({ failed: true, body: { error: { code: "insufficient_balance" } } })
    expect(unpaid.body.next).toContain("topup")
    for (const [name, given] of keyed) {
      const { failed, body } = await stranger.call(name, given)
      expect([name, failed, body.error.code]).toEqual([name, true, "unauthorized"])
      expect(body.error.message + body.error.hints.join()).toContain("rungate login")
    }
    expect((await stranger.call("discover", { query: "email" })).failed).toBe(false)
    expect((await stranger.call("list_providers", {})).failed).toBe(false)
  })
})

test("resources are capabilities and runs, by their address", async () => {
  const { client } = host
  const { resourceTemplates } = await client.listResourceTemplates()
  expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
    "rungate://capabilities/{slug}",
    "rungate://runs/{id}"
  ])
  const read = async (uri: string) => {
    const { contents } = await client.readResource({ uri })
    const [one]: Json = contents
    expect([contents.length, one.uri, one.mimeType]).toEqual([1, uri, "application/json"])
    return JSON.parse(one.text)
  }
  expect((await read("rungate://capabilities/email.verify")).capability).toBe("email.verify")
  const { body } = await host.call("list_runs", { limit: 1 })
  expect((await read(`rungate://runs/${body.items[0].run_id}`)).run_id).toBe(body.items[0].run_id)
  expect(client.readResource({ uri: "rungate://runs/run_nothing" })).rejects.toThrow("run_nothing")
  const ref = { type: "ref/resource", uri: "rungate://capabilities/{slug}" } as const
  const { completion } = await client.complete({ ref, argument: { name: "slug", value: "email.ver" } })
  expect(completion.values).toEqual(["email.verify"])
})

describe("a run", () => {
  test("is one under one key, however often and however closely it is asked for", async () => {
    const before = await charges()
    const asked = verify("twice@example.com", { idempotency_key: "two-in-one" })
    const both = await Promise.all([host.call("run", asked), host.call("run", asked)])
    both.push(await host.call("run", asked))
    expect(new Set(both.map(({ body }) => body.run_id)).size).toBe(1)
    expect(both.map(({ body }) => body.idempotency_key)).toEqual(Array(3).fill("two-in-one"))
    expect(await charges()).toBe(before + 1)
    const other = await host.call("run", verify("other@example.com", { idempotency_key: "two-in-one" }))
    expect(other).toMatchObject({ failed: true, body: { error: { code: "idempotency_key_reused" } } })
    // One whose end was seen is over: the same again is wanted anew.
    const again = await host.call("run", verify("twice@example.com"))
    expect(again.body.run_id).not.toBe(both[0]?.body.run_id)
    expect(await charges()).toBe(before + 2)
  })

  test("that a host cancels goes on and can be read; what waits behind it can be cancelled; the same call joins it", async () => {
    const before = await charges()
    const giveUp = new AbortController()
    const named = signal<string>()
    const progress: Array<number> = []
    const slow = verify(`${heldWord}@sandbox.test`)
    // Taken back before its answer: nobody knows yet whether it is a run.
    const hasty = new AbortController()
    const taken = host.call("run", slow, { signal: hasty.signal })
    await until(
      "a run that is written down",
      () => readdirSync(home.runsFolder),
      (files) => files.length === 1
    )
    hasty.abort("no patience at all")
    expect(taken).rejects.toThrow("no patience at all")

    const given = host.call("run", slow, {
      signal: giveUp.signal,
      onprogress: (one) => {
        progress.push(one.progress)
        named.send(one.message ?? "")
      }
    })
    const run_id = /run_\w+/.exec(await named.received)?.[0] ?? ""
    giveUp.abort("no patience")
    expect(given).rejects.toThrow("no patience")
    expect(progress[0]).toBeGreaterThan(0)

    const queued = await host.call("run", verify("queued@example.com", { wait_seconds: 0 }))
    expect(queued).toMatchObject({ failed: false, body: { done: false, stoppable: true } })
    expect(queued.body.next).toContain(`get_run {"run_id":"${queued.body.run_id}"`)
    const cancelled = await host.call("cancel_run", { run_id: queued.body.run_id })
    expect(cancelled.body).toMatchObject({ status: "cancelled", billing: { charged: null } })
    const late = await host.call("cancel_run", { run_id: queued.body.run_id })
    expect(late.body.error.message).toContain("cancelled")

    const [left] = (await host.call("list_runs", { limit: 2 })).body.items.slice(1)
    expect(left.run_id).toBe(run_id)
    const joining = Promise.all([host.call("run", slow), host.call("run", slow)])
    await held.holds(1)
    held.release()
    for (const joined of await joining) {
      expect(joined.body).toMatchObject({ run_id, status: "succeeded" })
    }
    expect(await charges()).toBe(before + 1)
    expect(readdirSync(home.runsFolder)).toEqual([])
  })

  test("whose server is killed is found again, and paid once", async () => {
    const before = await charges()
    const slow = verify(`again+${heldWord}@sandbox.test`)
    const victim = await start({})
    const named = signal<string>()
    const lost = victim.call("run", slow, { onprogress: ({ message = "" }) => named.send(message) })
    const run_id = /run_\w+/.exec(await named.received)?.[0] ?? ""
    process.kill(victim.pid, "SIGKILL")
    expect(lost).rejects.toThrow()
    expect((await host.call("get_run", { run_id })).body.run_id).toBe(run_id)
    await held.holds(1)
    const joining = host.call("run", slow)
    held.release()
    const joined = await joining
    expect(joined.body).toMatchObject({ run_id, status: "succeeded" })
    expect(await charges()).toBe(before + 1)
    expect(readdirSync(home.runsFolder)).toEqual([])
    await app.books()
  })
})

test("a long result comes in pieces, numbers keep their digits, a lost answer is told from none", async () => {
  const { body: run } = await org.get(
    `/v1/runs/${(await host.call("list_runs", { status: "succeeded" })).body.items[0].run_id}`
  )
  const result = `{"id":12345678901234567890,"text":"${"\u00e9\ud83d\ude00".repeat(30_000)}"}`
  const runText = (text: string) => `${JSON.stringify({ ...run, result: undefined }).slice(0, -1)},"result":${text}}`
  const fake = Bun.serve({
    port: 0,
    fetch: (request) => {
      const { pathname } = new URL(request.url)
      if (pathname.endsWith("/run_long")) return new Response(runText(result))
      if (pathname.endsWith("/run_short")) return new Response(runText('{"id":12345678901234567890}'))
      return new Response("<h1>gone</h1>", { status: 404 })
    }
  })
  const reader = await start({ RUNGATE_URL: fake.url.href, RUNGATE_API_KEY: org.key })
  const read = async (run_id: string, from?: number) =>
    reader.call("get_run", { run_id, ...(from === undefined ? {} : { result_from: from }) })
  expect((await read("run_short")).text).toContain('"result":{"id":12345678901234567890}')
  let joined = ""
  for (let from: number | undefined; from !== null; ) {
    const { body } = await read("run_long", from)
    expect([body.result, body.result_part.chars]).toEqual([undefined, result.length])
    joined += body.result_part.text
    from = body.result_part.next_from
    if (from !== null) expect(body.next).toContain(`"result_from":${from}`)
  }
  expect(joined).toBe(result)
  const nowhere = await reader.call("inspect", { capability: "email.verify" })
  expect(nowhere.body.error.code).toBe("unexpected_answer")
  await fake.stop(true)
  const silent = await reader.call("run", verify("a@example.com"))
  expect(silent).toMatchObject({ failed: true, body: { error: { code: "unreachable" } } })
  expect(silent.body.error.message).toContain("RUNGATE_URL")
})

test("both ways to the tools tell the version of the package", async () => {
  const overHttp = await (await postTo(app.url, greeting, { key: org.key })).text()
  expect(/"version":"([^"]+)"/.exec(overHttp)?.[1]).toBe(packageJson.version)
  expect(host.client.getServerVersion()?.version).toBe(packageJson.version)
})

describe("stdin and stdout", () => {
  const line = (message: unknown) => `${typeof message === "string" ? message : JSON.stringify(message)}\n`
  const hello = {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "raw", version: "1" } }
  }
  const ping = { jsonrpc: "2.0", id: "last", method: "ping" }

  test("carry messages only; what is none is refused and disturbs nothing; the end of stdin is the end", async () => {
    const garbage = ["{nope", "42", "{}", '{"jsonrpc":"2.0","id":{},"method":"ping"}', "x".repeat(9_000_000), ""]
    const call = { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "wallet" } }
    const all = [hello, ...garbage, { jsonrpc: "2.0", id: 3, method: "nope" }, call, ping].map(line).join("")
    const { out, err, code } = await home.shell("exec rungate mcp", { FORCE_COLOR: "1" }, all)
    const said = out
      .trim()
      .split("\n")
      .map((one) => JSON.parse(one))
    expect([code, err]).toEqual([0, ""])
    expect(said.every(({ jsonrpc }) => jsonrpc === "2.0")).toBe(true)
    const errors = said.filter(({ error }) => error !== undefined).map(({ id, error }) => [id, error.code])
    expect(errors).toEqual([
      [null, -32700],
      [null, -32600],
      [null, -32600],
      [null, -32600],
      [3, -32601]
    ])
    expect(said.filter(({ result }) => result !== undefined).map(({ id }) => id)).toContainAllValues([1, 2, "last"])
  })

  test("serve a host of the protocol without sessions too; SIGTERM is an end with exit code 0", async () => {
    const child = home.start("exec rungate mcp")
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": hello.params.clientInfo,
      "io.modelcontextprotocol/clientCapabilities": {}
    }
    child.stdin.write(line({ jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta } }))
    await child.stdin.flush()
    let said = ""
    for await (const part of child.stdout.pipeThrough(new TextDecoderStream())) {
      said += part
      if (said.endsWith("\n")) break
    }
    const { tools, cacheScope, ttlMs } = JSON.parse(said).result
    expect(tools.map(({ name }: Json) => name)).toEqual(host.tools.map(({ name }) => name))
    expect([cacheScope, ttlMs]).toEqual(["private", 3_600_000])
    child.kill("SIGTERM")
    expect(await child.exited).toBe(0)
    // All that the first host heard in this file.
    expect(host.noise).toEqual([])
  })
})
