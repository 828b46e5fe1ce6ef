/** The repeat guard: whoever repeats what has failed is stopped, in every process and after a restart, and nobody else is. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { type App, oneBackend, type Reply, rehearse, startApp, type Tenant, verify } from "../kit/app.ts"
import { acme } from "../kit/provider-documents.ts"

const settings = { RUNGATE_REPEAT_GUARD: "" }
const failing = rehearse("error")
const codeOf = ({ status, body }: Reply) => [status, body.status, body.error?.code]
const blocked = [409, "blocked", "repeat_guard"]

describe.each(oneBackend)("the repeat guard over two processes, queues on %s", (backend) => {
  let apps: readonly [App, App]
  beforeAll(async () => {
    const first = await startApp({ backend, settings })
    apps = [first, await startApp({ beside: first, settings })]
  })
  afterAll(async () => {
    await apps[1].stop()
    await apps[0].stop()
  })
  const over = (org: Tenant, index: number) => org.over(apps[index % 2 === 0 ? 0 : 1])
  const failTimes = async (org: Tenant, times: number, body: Record<string, unknown> = failing) => {
    const ids: Array<string> = []
    for (let index = 0; index < times; index++) {
      const { body: run } = await over(org, index).run(body)
      expect(["failed", "no_match"]).toContain(run.status)
      ids.push(run.run_id)
    }
    return ids
  }

  test("blocks the sixth run, names the five, and says what to change and when", async () => {
    const org = await apps[0].tenant("5.00")
    const ids = await failTimes(org, 5)
    const run = await org.run(failing)
    expect(codeOf(run)).toEqual(blocked)
    for (const id of ids) expect(run.body.error.message).toContain(id)
    expect(run.body.error.message).toMatch(/change the input; the same input may run again at \d\d:\d\d:\d\d UTC/)
    expect(run.body).not.toHaveProperty("controls")
    expect((await org.get("/v1/spend-guard")).body.repeat_guard).toBe(5)
    expect(run.body.attempts).toEqual([])
    const quote = await over(org, 1).post("/v1/quote", failing)
    expect(quote.body).toMatchObject({ would: "block", error: { code: "repeat_guard" } })
    expect(quote.body.controls ?? []).toEqual([])
    // A run that was blocked is no failure, so the guard does not feed itself.
    expect(codeOf(await over(org, 1).run(failing))).toEqual(blocked)
    expect(
      await apps[0].sql("SELECT run_id FROM repeat_tries WHERE org_id = $1 ORDER BY tried_at", [org.org_id])
    ).toEqual(ids.map((run_id) => ({ run_id })))
    await apps[0].books()
  })

  test("lets a changed input, another key and a session pass, and the order of fields is no change", async () => {
    const org = await apps[0].tenant("5.00")
    await failTimes(org, 5)
    expect((await org.run(rehearse("error_2"))).body.status).not.toBe("blocked")
    const session = await org.session()
    const { body: key } = await apps[0].call(session, "POST", "/v1/api-keys", {
      body: { name: "other", environment: "test" }
    })
    for (const token of [key.api_key, session])
      expect(codeOf(await apps[1].call(token, "POST", "/v1/run", { body: failing }))).toEqual([
        502,
        "failed",
        "provider_error"
      ])
    const people = (input: object) => ({ capability: "people.search", input })
    const [keywords, limit] = ["sandbox:error", 3]
    await failTimes(org, 5, people({ keywords, limit }))
    expect(codeOf(await org.run(people({ limit, keywords, cursor: null })))).toEqual(blocked)
  })

  test("counts misses, timeouts and raw runs, and no run that the wallet refused", async () => {
    const org = await apps[0].tenant("5.00")
    const miss = rehearse("no_match")
    await failTimes(org, 5, miss)
    expect(codeOf(await org.run(miss))).toEqual(blocked)
    // Either process may run it.
    for (const app of apps) await app.catalog(acme)
    const raw = { provider: "acme", endpoint: "/search", input: { filter: { field: "sandbox:error" } } }
    for (let index = 0; index < 5; index++) expect((await org.run(raw)).body.status).toBe("failed")
    expect(codeOf(await org.run(raw))).toEqual(blocked)
    expect((await org.run({ ...raw, input: { filter: { field: "x" } } })).body).toMatchObject({ status: "succeeded" })
    const poor = await apps[0].tenant()
    for (let index = 0; index < 7; index++)
      expect(codeOf(await poor.run(verify("ada")))).toEqual([402, "failed", "insufficient_balance"])
    await poor.credit("1.00")
    expect((await poor.run(verify("ada"))).body.status).toBe("succeeded")
  })

  test("admits one of twenty concurrent runs after four failures, whichever process asks", async () => {
    const org = await apps[0].tenant("5.00")
    await failTimes(org, 4)
    const runs = await Promise.all(Array.from({ length: 20 }, (_, index) => over(org, index).run(failing)))
    expect(runs.filter(({ body }) => body.status !== "blocked")).toHaveLength(1)
    expect(new Set(runs.map(({ body }) => body.error.code))).toEqual(new Set(["repeat_guard", "provider_error"]))
    await apps[0].books()
  })

  test("twenty concurrent runs of an input that never failed all run", async () => {
    const org = await apps[0].tenant("5.00")
    const runs = await Promise.all(Array.from({ length: 20 }, (_, index) => over(org, index).run(verify("ada"))))
    expect(runs.filter(({ status }) => status === 200)).toHaveLength(20)
  })

  test("a success forgets the failures before it", async () => {
    const org = await apps[0].tenant("5.00")
    const { body: run } = await org.run(verify("ada"))
    // The sandbox answers an input always in the same way, so the failures are written here.
    const fail = (count: number) =>
      apps[0].sql(
        `INSERT INTO repeat_tries (org_id, caller, input_hash, run_id)
         SELECT org_id, key_id, input_hash, 'run_' || n FROM runs, generate_series(1, $2::int) n WHERE run_id = $1`,
        [run.run_id, count]
      )
    await fail(4)
    expect((await over(org, 1).run(verify("ada"))).body.status).toBe("succeeded")
    expect(await apps[0].sql("SELECT FROM repeat_tries WHERE org_id = $1", [org.org_id])).toEqual([])
    await fail(5)
    expect(codeOf(await org.run(verify("ada")))).toEqual(blocked)
    await apps[0].sql("UPDATE repeat_tries SET tried_at = now() - interval '601 seconds' WHERE org_id = $1", [
      org.org_id
    ])
    expect((await over(org, 1).run(verify("ada"))).body.status).toBe("succeeded")
  })

  test("a cancelled run is no try, and a restarted process knows the failures", async () => {
    const org = await apps[0].tenant("5.00")
    await failTimes(org, 4)
    const worker = await startApp({ beside: apps[0], role: "http", settings })
    await worker.stop()
    const again = await startApp({ beside: apps[0], settings })
    try {
      expect((await org.over(again).run(failing)).body.status).toBe("failed")
      expect(codeOf(await org.over(again).run(failing))).toEqual(blocked)
    } finally {
      await again.stop()
    }
  })
})

test("RUNGATE_REPEAT_GUARD sets the number, and 0 turns the guard off", async () => {
  for (const [number, runs] of [
    ["2", 2],
    ["0", 8]
  ] as const) {
    const app = await startApp({ settings: { RUNGATE_REPEAT_GUARD: number } })
    try {
      const org = await app.tenant("5.00")
      for (let index = 0; index < runs; index++) expect((await org.run(failing)).body.status).toBe("failed")
      if (number !== "0") expect(codeOf(await org.run(failing))).toEqual(blocked)
      expect((await org.get("/v1/spend-guard")).body.repeat_guard).toBe(Number(number))
    } finally {
      await app.stop()
    }
  }
})
