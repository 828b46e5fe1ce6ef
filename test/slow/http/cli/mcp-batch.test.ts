/** The tool run_batch over both transports: a handle, its progress and results, its cancel, and nothing paid twice. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { type App, startApp, type Tenant, until } from "../../../kit/app.ts"
import { heldProvider, heldWord } from "../../../kit/held-provider.ts"
import { closeHosts, type Host, hostOf, type Json, remoteHostOf } from "../../../http/cli/host.ts"
import { type Home, newHome } from "../../../http/cli/shell.ts"

const held = heldProvider()
let app: App
let org: Tenant
let home: Home
const hosts = new Map<string, Pick<Host, "call">>()
beforeAll(async () => {
  app = await startApp({ held, settings: { RUNGATE_CONCURRENCY: "4" } })
  org = await app.tenant("25.00")
  home = newHome({})
  await home.shell("rungate login --with-token", { RUNGATE_URL: app.url }, `${org.key}\n`)
  const { command, args, env } = (await home.shell("rungate mcp --print-config")).body.mcpServers.rungate
  hosts.set("rungate mcp", await hostOf(command, args, { ...home.environment, ...env }))
  hosts.set("POST /mcp", await remoteHostOf(app.url, org.key))
})
afterAll(async () => {
  await app.books()
  await closeHosts()
  await app.stop()
  home.remove()
})

const charges = async () => (await org.ledger()).filter(({ type }) => type === "settle").length
const row = (email: string) => ({ capability: "email.verify", input: { email } })
const people = (count: number, name: string) => Array.from({ length: count }, (_, n) => row(`${name}${n}@example.com`))

describe.each(["rungate mcp", "POST /mcp"])("run_batch over %s", (transport) => {
  const name = transport.length
  const call = async (given: Json, options = {}) => {
    const host = hosts.get(transport)
    if (host === undefined) throw new Error(transport)
    return host.call("run_batch", given, options)
  }

  test("answers a handle at once, and the results when it is read", async () => {
    const runs = [...people(7, `a${name}`), row(`a${name}+${heldWord}@sandbox.test`), row("nonsense")]
    const started = await call({ runs, max_total: "1.00", metadata: { by: "agent" } })
    expect([started.failed, started.body.status, started.body.rows.total]).toEqual([false, "running", 9])
    expect([started.body.next, started.body.results]).toEqual([
      expect.stringContaining("run_batch with batch_id"),
      undefined
    ])
    const told: Array<string> = []
    const waiting = call(
      { batch_id: started.body.id, wait_seconds: 30 },
      { onprogress: ({ message = "" }: { message?: string }) => void told.push(message) }
    )
    await until(
      "the wait is reported",
      () => told.length,
      (count) => count > 0
    )
    await held.holds(1)
    held.release()
    const { body } = await waiting
    expect(body).toMatchObject({ done: true, charged: "0.024", rows: { succeeded: 8, invalid: 1 }, max_total: "1.00" })
    expect(told[0]).toMatch(/^run_batch: \d of 9 rows of bat_/)
    expect(body.results.map((one: Json) => [one.row, one.status])).toEqual([
      ...Array.from({ length: 8 }, (_, n) => [n + 1, "succeeded"]),
      [9, "invalid"]
    ])
    expect([body.results[0].result.email, body.results[8].error.code]).toEqual([
      `a${name}0@example.com`,
      "invalid_request"
    ])
    const later = await call({ batch_id: started.body.id, results_after: 7 })
    expect(later.body.results.map((one: Json) => one.row)).toEqual([8, 9])
  })

  test("the same call joins the same batch, and another idempotency_key pays again", async () => {
    const given = { runs: [row(`same${name}@example.com`)], max_total: "0.10" }
    // Models write amounts as numbers.
    const [first, again] = [await call(given), await call({ ...given, max_total: 0.1 })]
    expect(again.body.id).toBe(first.body.id)
    await call({ batch_id: first.body.id, wait_seconds: 30 })
    const before = await charges()
    const { body: anew } = await call({ ...given, idempotency_key: `again-${name}-once` })
    expect(anew.id).not.toBe(first.body.id)
    await call({ batch_id: anew.id, wait_seconds: 30 })
    expect(await charges()).toBe(before + 1)
  })

  test("cancel stops the rows that have not started", async () => {
    const { body: started } = await call({ runs: people(60, `c${name}`), max_total: "1.00" })
    const { failed, body } = await call({ batch_id: started.id, cancel: true, wait_seconds: 30 })
    expect([failed, body.status, body.done]).toEqual([false, "cancelled", true])
    expect(body.rows.cancelled).toBeGreaterThan(0)
    expect(body.rows.succeeded + body.rows.cancelled).toBe(60)
    expect((await org.wallet()).reserved).toBe("0.00")
  })

  test("retry_blocked runs the blocked rows again, and no other", async () => {
    const { body: started } = await call({ runs: people(3, `r${name}`), max_total: "0.0065" })
    const { body: first } = await call({ batch_id: started.id, wait_seconds: 30 })
    expect(first).toMatchObject({ charged: "0.003", rows: { succeeded: 1, blocked: 2 } })
    const again = { batch_id: started.id, retry_blocked: true, max_total: "1.00", wait_seconds: 30 }
    const { failed, body } = await call(again)
    expect([failed, body]).toMatchObject([false, { charged: "0.009", rows: { succeeded: 3, blocked: 0 } }])
    expect((await call(again)).body.charged).toBe("0.009")
  })

  const mistakes: ReadonlyArray<readonly [string, Json, string]> = [
    ["no runs and no batch_id", {}, "batch_id"],
    ["both", { runs: [row("a@example.com")], batch_id: "bat_1", max_total: "1.00" }, "batch_id"],
    ["no max_total", { runs: [row("a@example.com")] }, "max_total"],
    ["an amount with too many decimals", { runs: [row("a@example.com")], max_total: 1.0000001 }, "max_total"],
    ["no runs in the list", { runs: [], max_total: "1.00" }, "runs"],
    ["a misspelled cap", { runs: [{ ...row("a@b.example"), routing: { cap: "1" } }], max_total: "1.00" }, "runs.0"],
    ["a number with too many digits", { runs: [{ ...row("a@b.example"), input: { n: 2 ** 60 } }] }, "runs.0.input.n"],
    ["cancel with retry_blocked", { batch_id: "bat_1", cancel: true, retry_blocked: true }, "retry_blocked"],
    ["a batch of nobody", { batch_id: "bat_00000000000000000000000000" }, "batch"]
  ]
  test.each(mistakes)("says what to do about %s", async (_, given, named) => {
    const before = await charges()
    const { failed, body } = await call(given)
    expect([failed, body.error.code]).toEqual([true, "invalid_request"])
    expect(JSON.stringify(body.error)).toContain(named)
    expect(await charges()).toBe(before)
  })
})
