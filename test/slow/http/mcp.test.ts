/**
 * `POST /mcp` as agent hosts have it: a real service, asked by the reference client of the protocol over HTTP, and by requests that no
 * client would send. What it answers must be what its schemas promise, one caller is nothing to another, and nothing is paid twice.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { makeId } from "../../../src/schema/Ids.ts"
import { type App, startApp, type Tenant, until } from "../../kit/app.ts"
import { heldProvider, heldWord } from "../../kit/held-provider.ts"
import { compiledCommand } from "../../kit/compiled-command.ts"
import {
  type Arguments,
  closeHosts,
  type Host,
  hostOf,
  type Json,
  keyed,
  remoteHostOf,
  signal,
  verify
} from "../../http/cli/host.ts"
import { _meta, calling, hello, modern, type Post, postTo } from "../../http/mcp-request.ts"
import { dueToday } from "../../kit/input-samples.ts"

type Remote = Omit<Host, "pid">

const held = heldProvider()
const heldEmail = `${heldWord}@sandbox.test`
/** The longest wait, so that a slow machine does not end it. */
const patient = { wait_seconds: 120 }
let app: App
/** The same service, which counts requests. */
let strict: App
let org: Tenant
let host: Remote
beforeAll(async () => {
  // One run at a time: the second waits, and can be cancelled.
  app = await startApp({ held, settings: { RUNGATE_CONCURRENCY: "1" } })
  strict = await startApp({
    beside: app,
    role: "http",
    settings: { RUNGATE_RATE_LIMIT: "5" }
  })
  org = await app.tenant("25.00")
  host = await remoteHostOf(app.url, org.key)
})
afterAll(async () => {
  await closeHosts()
  // The answer to what was called off comes all the same: who could keep it back may be another process.
  expect(host.noise.filter((one) => !one.includes("unknown message ID"))).toEqual([])
  await app.books()
  await strict.stop()
  await app.stop()
})

const chargesOf = async (tenant: Tenant) => (await tenant.ledger()).filter(({ type }) => type === "settle").length
const final = (run_id: string) =>
  until(
    "the run ends",
    () => org.get(`/v1/runs/${run_id}?wait=10`),
    ({ body }) => body.done === true
  )

const post = (message: unknown, more?: Post) => postTo(app.url, message, more)

const command = await compiledCommand()
const environmentOf = ({ key }: Tenant) => ({
  RUNGATE_URL: app.url,
  RUNGATE_API_KEY: key,
  PATH: process.env["PATH"] ?? ""
})

test("a host's settings are printed without a secret, and lead to the tools", async () => {
  const printed = Bun.spawnSync([command, "mcp", "--print-config", "--http"], { env: environmentOf(org) })
  const { url, headers } = JSON.parse(printed.stdout.toString()).mcpServers.rungate
  expect([url, `${printed.stdout}${printed.stderr}`.includes(org.key)]).toEqual([`${app.url}/mcp`, false])
  const authorization = headers["Authorization"].replace("${RUNGATE_API_KEY}", org.key)
  const answer = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", authorization },
    body: JSON.stringify(calling("wallet"))
  })
  expect(JSON.parse(((await answer.json()) as Json).result.content[0].text)).toMatchObject(await org.wallet())
  const alone = Bun.spawnSync([command, "mcp", "--http"], { env: environmentOf(org) })
  expect([alone.exitCode, alone.stderr.toString()]).toEqual([5, expect.stringContaining("--print-config")])
})

describe("the tools", () => {
  test("are those of rungate mcp; only run says that nobody but the service remembers it", async () => {
    const local = await hostOf(command, ["mcp"], environmentOf(org))
    const shown = ({ tools }: Remote) =>
      tools.map(({ description, ...one }) => (one.name === "run" ? one : { ...one, description }))
    expect(shown(host)).toEqual(shown(local))
    const words = ({ tools }: Remote) =>
      tools.find(({ name }) => name === "run")?.description?.split(" follow next, ") ?? []
    expect(words(host)[0]).toBe(words(local)[0] ?? "")
    expect(words(host)[1]).toContain("Every call starts a new run")
    expect(await host.client.listResourceTemplates()).toEqual(await local.client.listResourceTemplates())
    expect(host.client.getInstructions()).toStartWith(local.client.getInstructions() ?? "nothing")
  })

  test("take less than 20 kB of a model's context, and say what each parameter of a run is", () => {
    expect(JSON.stringify(host.tools).length).toBeLessThan(20_000)
    const described = (tool: string) =>
      Object.values<Json>(host.tools.find(({ name }) => name === tool)?.inputSchema.properties ?? {}).map(
        ({ description }) => description
      )
    expect(described("run").filter((one) => typeof one !== "string" || one.length < 20)).toEqual([])
    expect(new Set(described("quote"))).toEqual(new Set(["as in run"]))
  })

  test("find, inspect, run once, and know what was bought", async () => {
    const { body: found } = await host.call("discover", { query: "verify an e-mail address", limit: 3, kind: null })
    expect(found.items).toHaveLength(3)
    expect((await host.call("inspect", { capability: "email.verify" })).body.capability).toBe("email.verify")

    const before = await org.wallet()
    const { max_cost: _, ...uncapped } = verify("ada@example.com")
    const { body: quote } = await host.call("quote", { ...uncapped, max_total: "0.01" })
    expect(quote).toEqual((await org.post("/v1/quote", { ...uncapped, routing: { max_total: "0.01" } })).body)
    expect(await org.wallet()).toEqual(before)
    const ran = await host.call("run", verify("ada@example.com", { max_total: "0.01" }))
    expect(ran).toMatchObject({ failed: false, body: { status: "succeeded", billing: { charged: "0.003" } } })
    expect(await chargesOf(org)).toBe(1)
    const after = await org.wallet()
    expect(ran.body.wallet).toEqual(after)
    expect([Number(before.balance) - Number(after.balance), after.reserved]).toEqual([expect.closeTo(0.003, 6), "0.00"])

    const { body: read } = await host.call("get_run", { run_id: ran.body.run_id })
    expect([read.result, read.wallet]).toEqual([ran.body.result, after])
    const { body: listed } = await host.call("list_runs", { limit: 5 })
    expect(listed.items.map(({ run_id }: Json) => run_id)).toEqual([ran.body.run_id])
    const { body: known } = await host.call("history", { q: "ada@example.com" })
    expect(known.reusable[0].run_id).toBe(ran.body.run_id)
    const { body: wallet } = await host.call("wallet", { transactions: 1 })
    expect(wallet).toMatchObject({ ...after, spend_guard: { per_run_limit: null } })
    expect(wallet.transactions).toEqual((await org.ledger()).slice(0, 1))
    expect((await host.call("list_providers", { limit: 2 })).body.items).toHaveLength(2)
    await host.call("run", verify("ada@example.com", { reuse: { mode: "prefer" } }))
    const { body: used } = await host.call("usage", { group_by: "capability,status", limit: 5 })
    expect(used).toEqual((await org.get("/v1/usage?group_by=capability,status&limit=5")).body)
    expect(used.reused).toEqual({ runs: 1, saved: "0.003" })
    expect(used.items).toContainEqual({ ...used.items[0], capability: "email.verify", status: "succeeded" })
    const refused = await host.call("usage", { group_by: "month" })
    expect([refused.failed, refused.body.error.code]).toEqual([true, "invalid_request"])

    const uri = `rungate://runs/${ran.body.run_id}`
    const { contents } = await host.client.readResource({ uri })
    expect(JSON.parse((contents[0] as Json).text).run_id).toBe(ran.body.run_id)
  })

  test("answer what went wrong with the API's error, what to do, and no charge", async () => {
    const before = [await org.wallet(), await chargesOf(org)]
    const { max_cost: _, ...uncapped } = verify("ada@example.com")
    const cases: ReadonlyArray<readonly [string, Arguments, string]> = [
      ["run", uncapped, "invalid_request"],
      ["run", verify("ada@example.com", { max_cost: 0.1 + 0.2 }), "invalid_request"],
      ["run", verify("ada@example.com", { max_cost: "0.0001" }), "provider_not_available"],
      ["run", verify("ada@example.com", { max_total: "0.0001" }), "provider_not_available"],
      ["quote", verify("ada@example.com", { max_total: 1e-7 }), "invalid_request"],
      ["quote", verify("ada@example.com", { wait_seconds: 1 }), "invalid_request"],
      ["run", verify("ada@example.com", { input: {} }), "invalid_request"],
      ["run", verify("error@sandbox.test"), "provider_error"],
      ["inspect", { capability: "no.such" }, "capability_not_found"],
      ["history", {}, "invalid_request"],
      ["get_run", { run_id: "run_nothing" }, "invalid_request"]
    ]
    for (const [name, given, code] of cases) {
      const { failed, body } = await host.call(name, given)
      expect([name, given, failed, body.error.code]).toEqual([name, given, true, code])
      // Hints name tools; requests and commands are for others.
      expect(JSON.stringify(body.error.details ?? [])).not.toContain('"cli"')
    }
    const { body } = await host.call("run", uncapped)
    expect([body.error.details[0].path, body.error.hints.join()]).toEqual([
      "max_cost",
      expect.stringContaining('"0.05"')
    ])
    await org.post("/v1/spend-guard", { per_run_limit: "0.001" })
    const { body: blocked } = await host.call("run", verify("ada@example.com"))
    expect(blocked).toMatchObject({ status: "blocked", error: { code: "cost_limit_exceeded" } })
    expect(blocked.next).toContain("needs a person")
    await app.call(await org.session(), "POST", "/v1/spend-guard", { body: { per_run_limit: null } })
    expect([await org.wallet(), await chargesOf(org)]).toEqual(before as Json)
    expect(host.client.callTool({ name: "no_such_tool", arguments: {} })).rejects.toThrow("-32602")
  })
})

describe("a caller", () => {
  test("without a key, or with a wrong one, is sent to authorize and reaches no tool", async () => {
    const runs = async () => (await app.sql("SELECT count(*)::int AS many FROM runs"))[0]?.["many"]
    const before = await runs()
    const ended = await app.tenant()
    await app.call(ended.key, "DELETE", `/v1/api-keys/${ended.key_id}`)
    for (const key of [null, "", "rg_test_unknown", `rg_test_${"b".repeat(43)}`, ended.key]) {
      expect(remoteHostOf(app.url, key)).rejects.toThrow("Authorization: Bearer")
      for (const [name, given] of [...keyed, ["discover", { query: "email" }] as const]) {
        const answer = await post(calling(name, given), { key })
        const { error }: Json = await answer.json()
        expect([key, name, answer.status, error.code]).toEqual([key, name, 401, "unauthorized"])
        expect(answer.headers.get("www-authenticate")).toContain("/.well-known/oauth-protected-resource/mcp")
      }
    }
    expect(await runs()).toBe(before)
    // Whoever the API takes for a caller is one here.
    const person = await remoteHostOf(app.url, await org.session())
    expect((await person.call("wallet")).body).toMatchObject(await org.wallet())
  })

  test("finds another organization's run to be nobody's", async () => {
    const other = await app.tenant("1.00")
    const theirs = await other.run({ capability: "email.verify", input: { email: "bob@example.com" } })
    const nobodys = makeId("run", Date.now())
    const anonymous = (text: string) => text.replaceAll(/req_\w+/g, "req_").replaceAll(/run_\w+/g, "run_")
    for (const name of ["get_run", "cancel_run"]) {
      const [one, none] = await Promise.all([theirs.body.run_id, nobodys].map((run_id) => host.call(name, { run_id })))
      expect([one?.failed, anonymous(one?.text ?? "")]).toEqual([true, anonymous(none?.text ?? "")])
    }
    expect(host.client.readResource({ uri: `rungate://runs/${theirs.body.run_id}` })).rejects.toThrow(
      theirs.body.run_id
    )
    expect((await other.get(`/v1/runs/${theirs.body.run_id}`)).body.status).toBe("succeeded")
  })

  test("never sees another's wallet, and can't call off another's call", async () => {
    const owners = await Promise.all(["3.00", "7.00"].map((balance) => app.tenant(balance)))
    const hosts = await Promise.all(owners.map(({ key }) => remoteHostOf(app.url, key)))
    const seen = await Promise.all(
      Array.from(
        { length: 40 },
        async (_, at) => [at % 2, (await hosts[at % 2]?.call("wallet"))?.body.balance] as const
      )
    )
    for (const [whose, balance] of seen) expect(balance).toBe(["3.00", "7.00"][whose] ?? "")

    // The same id, as all hosts number alike.
    const message = calling("run", verify(heldEmail), 1, { _meta: { progressToken: 1 } })
    const given = await post(message, { key: owners[0]?.key ?? "" })
    const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } }
    await held.holds(1)
    expect((await post(cancel, { key: owners[1]?.key ?? "" })).status).toBe(202)
    held.release()
    const said = (await given.text())
      .trim()
      .split("\n\n")
      .map((one) => JSON.parse(one.replace("data: ", "")))
    expect(said.at(-1).result.structuredContent).toMatchObject({ status: "succeeded", wallet: { balance: "2.997" } })
  })

  test("who asks too often is told so, by the service's own count", async () => {
    const asked = await app.tenant()
    const eager = await remoteHostOf(strict.url, asked.key)
    const answers = await Promise.all(Array.from({ length: 30 }, () => eager.call("list_runs")))
    const codes = answers.flatMap(({ failed, body }) => (failed ? [body.error.code] : []))
    expect([codes.length > 0, codes.length < 30, new Set(codes)]).toEqual([true, true, new Set(["rate_limited"])])
  })
})

describe("a run", () => {
  test("is one under one key; without a key every call is one", async () => {
    const before = await chargesOf(org)
    const asked = verify("twice@example.com", { idempotency_key: "two-in-one" })
    const both = await Promise.all([host.call("run", asked), host.call("run", asked)])
    both.push(await host.call("run", asked))
    expect(new Set(both.map(({ body }) => body.run_id)).size).toBe(1)
    expect(both.map(({ body }) => body.idempotency_key)).toEqual(Array(3).fill("two-in-one"))
    expect(await chargesOf(org)).toBe(before + 1)
    const other = await host.call("run", verify("other@example.com", { idempotency_key: "two-in-one" }))
    expect(other).toMatchObject({ failed: true, body: { error: { code: "idempotency_key_reused" } } })

    const one = await host.call("run", verify("twice@example.com"))
    const two = await host.call("run", verify("twice@example.com"))
    const joined = await host.call("run", verify("twice@example.com", { idempotency_key: one.body.idempotency_key }))
    expect(new Set([...both, one, two].map(({ body }) => body.run_id)).size).toBe(3)
    expect(joined.body.run_id).toBe(one.body.run_id)
    expect(await chargesOf(org)).toBe(before + 3)
  })

  test("goes on when nobody waits; one that has not started can be cancelled", async () => {
    const before = await chargesOf(org)
    const slow = await host.call("run", verify(heldEmail, { wait_seconds: 0 }))
    await held.holds(1)
    expect(slow).toMatchObject({ failed: false, body: { done: false } })
    const queued = await host.call("run", verify("queued@example.com", { wait_seconds: 0 }))
    expect(queued.body).toMatchObject({ done: false, stoppable: true })
    expect(queued.body.next).toContain(`get_run {"run_id":"${queued.body.run_id}"`)
    const { body: cancelled } = await host.call("cancel_run", { run_id: queued.body.run_id })
    expect(cancelled).toMatchObject({ status: "cancelled", billing: { charged: null } })
    const progress: Array<string> = []
    const ending = host.call(
      "get_run",
      { run_id: slow.body.run_id, wait_seconds: 30 },
      { onprogress: ({ message = "" }) => void progress.push(message) }
    )
    await until(
      "the wait is reported",
      () => progress.length,
      (many) => many > 0
    )
    held.release()
    const { body: ended } = await ending
    expect(ended).toMatchObject({ run_id: slow.body.run_id, status: "succeeded", billing: { charged: "0.003" } })
    expect(progress[0]).toContain(slow.body.run_id)
    expect(await chargesOf(org)).toBe(before + 1)
  })

  test("that its host calls off is cancelled before it starts, and goes on without a wait after", async () => {
    const before = await chargesOf(org)
    const waiters = async () => /^rungate_waiters (\d+)$/m.exec(await app.metrics())?.[1]
    const calledOff = async (email: string) => {
      const giveUp = new AbortController()
      const named = signal<string>()
      const given = host.call("run", verify(email, patient), {
        signal: giveUp.signal,
        onprogress: ({ message = "" }) => named.send(message)
      })
      return { given, giveUp, run_id: /run_\w+/.exec(await named.received)?.[0] ?? "" }
    }
    const first = await calledOff(heldEmail)
    await held.holds(1)
    const second = await calledOff("queued@example.com")
    // Another host with the same key numbers its calls alike, and calls off its own only.
    const other = await remoteHostOf(app.url, org.key)
    const ids = Array.from({ length: 100 }, (_, requestId) => requestId)
    await Promise.all(
      ids.map((requestId) => other.client.notification({ method: "notifications/cancelled", params: { requestId } }))
    )
    expect([await waiters(), (await org.get(`/v1/runs/${second.run_id}`)).body.done]).toEqual(["2", false])
    for (const { given, giveUp } of [second, first]) {
      giveUp.abort("no patience")
      expect(given).rejects.toThrow("no patience")
    }
    expect((await final(second.run_id)).body).toMatchObject({ status: "cancelled", billing: { charged: null } })
    await until("nobody waits", waiters, (many) => many === "0")
    expect((await org.get(`/v1/runs/${first.run_id}`)).body.done).toBe(false)
    held.release()
    expect((await final(first.run_id)).body.status).toBe("succeeded")
    expect(await chargesOf(org)).toBe(before + 1)
  })

  test("is cancelled too when another process hears that it is called off", async () => {
    const greeted = await post(hello, { key: org.key })
    const { "mcp-session-id": session = "" } = Object.fromEntries(greeted.headers)
    const [key, headers] = [org.key, { "mcp-session-id": session }]
    const slow = await host.call("run", verify(heldEmail, { wait_seconds: 0 }))
    await held.holds(1)
    const waiting = post(calling("run", verify("queued@example.com", patient), "a"), { key, headers })
    const newest = async () => (await org.list("?limit=1")).body.items[0]
    const { run_id } = await until("a second run", newest, (one) => one.run_id !== slow.body.run_id)
    const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "a" } }
    expect((await post(cancel, { url: strict.url, key, headers })).status).toBe(202)
    expect(await (await waiting).text()).toBe("")
    expect((await final(run_id)).body.status).toBe("cancelled")
    held.release()
    expect((await final(slow.body.run_id)).body.status).toBe("succeeded")
  })

  test.if(dueToday(2))(
    "that a host calls off, or hangs up on, goes on; nothing waits for a host that is gone",
    async () => {
      const before = await chargesOf(org)
      const giveUp = new AbortController()
      const named = signal<string>()
      const given = host.call("run", verify(heldEmail, patient), {
        signal: giveUp.signal,
        onprogress: ({ message = "" }) => named.send(message)
      })
      const first = /run_\w+/.exec(await named.received)?.[0] ?? ""
      await held.holds(1)
      giveUp.abort("no patience")
      expect(given).rejects.toThrow("no patience")
      held.release()

      const hangUp = new AbortController()
      const slow = calling("run", verify(heldEmail, patient), 7, { _meta: { progressToken: 7 } })
      const response = await post(slow, { key: org.key, signal: hangUp.signal })
      let heard = ""
      for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
        heard += part
        if (heard.includes("is executing")) break
      }
      const second = /run_\w+/.exec(heard)?.[0] ?? ""
      await held.holds(1)
      hangUp.abort()
      const waiters = async () => /^rungate_waiters (\d+)$/m.exec(await app.metrics())?.[1]
      const nobodyWaits = () => until("nobody waits", waiters, (many) => many === "0")
      await nobodyWaits()
      expect((await org.get(`/v1/runs/${second}`)).body.done).toBe(false)

      // Before a word was answered, too: this one stands behind the other and is found in the list.
      const hasty = new AbortController()
      const third = calling("run", verify("queued@example.com", patient), 8, { _meta })
      const unheard = post(third, { key: org.key, headers: modern("run"), signal: hasty.signal })
      const newest = async () => (await org.list("?limit=1")).body.items[0]
      const { run_id: queued } = await until("a third run", newest, ({ run_id }) => run_id !== second)
      await until("it is waited for", waiters, (many) => many === "1")
      hasty.abort()
      expect(unheard).rejects.toThrow()
      await nobodyWaits()
      expect((await host.call("cancel_run", { run_id: queued })).body.status).toBe("cancelled")
      held.release()
      for (const run_id of [first, second]) expect((await final(run_id)).body.status).toBe("succeeded")
      expect(await chargesOf(org)).toBe(before + 2)
    }
  )
})

test.if(dueToday(3))("a service that stops answers the hosts that wait, and their runs go on", async () => {
  const leaving = await startApp({ beside: app, role: "http" })
  const leaver = await remoteHostOf(leaving.url, org.key)
  const named = signal<string>()
  const given = leaver.call("run", verify(heldEmail, { wait_seconds: 60 }), {
    onprogress: ({ message = "" }) => named.send(message)
  })
  const run_id = /run_\w+/.exec(await named.received)?.[0] ?? ""
  await leaving.stop()
  expect((await given).body).toMatchObject({ run_id, done: false })
  await held.holds(1)
  held.release()
  expect((await final(run_id)).body.status).toBe("succeeded")
})
