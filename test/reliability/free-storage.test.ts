/** What runs without a price may store in a day: the limit holds under concurrency, calls nobody beyond it, and leaves paid runs alone. */
import { afterAll, afterEach, beforeEach, expect, test } from "bun:test"
import { type Reply, type Tenant, until, verify, withApp } from "../kit/app.ts"
import { answer } from "../layers/providers/stage.ts"
import { standIn } from "../layers/providers/standin.ts"

const there = standIn()
// An open run through an own account counts 2 MiB: two fit beside each other.
const app = withApp({
  settings: {
    ...there.settings,
    RUNGATE_FREE_DAILY_MB: "5",
    RUNGATE_ENCRYPTION_KEY: Buffer.alloc(32, 1).toString("base64")
  }
})
let org: Tenant
beforeEach(async () => {
  there.forget()
  org = await app.tenant("1.00")
  const set = await app.call(await org.session(), "PUT", "/v1/provider-accounts/leadmagic", {
    body: { api_key: "own-key-4711" }
  })
  expect(set.status).toBe(200)
})
afterEach(async () => {
  await app.books()
})
afterAll(() => there.stop())

const free = (who: string, more: object = {}) => ({ ...verify(who), routing: { provider: "leadmagic" }, ...more })
const valid = { email_status: "valid", credits_consumed: 0 }
const calls = () => there.heard("leadmagic").length
const refusals = (runs: ReadonlyArray<Reply>) => runs.filter(({ body }) => body.error?.code === "rate_limited")
const storedToday = async () =>
  Number(
    (await app.sql("SELECT bytes::int AS bytes FROM free_storage WHERE org_id = $1", [org.org_id]))[0]?.["bytes"] ?? 0
  )

test("runs at once are admitted as far as their largest answers fit, and the others call nobody", async () => {
  const gate = Promise.withResolvers<void>()
  const held = async () => {
    await gate.promise
    return answer(200, valid)
  }
  there.play("leadmagic", ...Array.from({ length: 10 }, () => held))
  const running = Array.from({ length: 6 }, (_, n) => org.run(free(`p${n}`)))
  await until("two calls", calls, (made) => made === 2)
  // Those that are refused answer while two are held.
  const refused: Array<Reply> = []
  for (const one of running) void one.then((reply) => refused.push(reply))
  await until(
    "four refusals",
    () => refused.length,
    (count) => count === 4
  )
  for (const { status, body } of refusals(refused)) {
    expect([status, body.status, body.billing.charged]).toEqual([429, "blocked", null])
    expect(body.error.message).toMatch(
      /may store 5 MiB per day .* open runs may store 4 MiB; the limit resets at 00:00 UTC/
    )
  }
  gate.resolve()
  const all = await Promise.all(running)
  expect(refusals(all)).toHaveLength(4)
  expect(calls()).toBe(2)
  // Open runs no longer count, and what was stored is little.
  expect((await org.run(free("next"))).body.status).toBe("succeeded")
  expect(await storedToday()).toBeGreaterThan(0)
})

test("what was stored counts until the end of the day; paid runs and other organizations go on", async () => {
  const large = answer(200, { ...valid, extra: "x".repeat(1_800_000) })
  there.play("leadmagic", large, large, answer(200, valid), answer(200, valid), answer(200, valid))
  for (const who of ["one", "two"])
    expect((await org.run(free(who, { response: { include_raw: true } }))).body.status).toBe("succeeded")
  expect(await storedToday()).toBeGreaterThan(3_600_000)
  const refused = await org.run(free("three"))
  expect([refused.status, refused.body.error.code]).toEqual([429, "rate_limited"])
  expect(refused.body.error.message).toContain("3 MiB are stored today")
  expect(calls()).toBe(2)
  const other = await app.tenant("1.00")
  expect((await other.run(free("three"))).body).toMatchObject({ status: "succeeded", billing: { charged: "0.003" } })
  await app.call(await org.session(), "DELETE", "/v1/provider-accounts/leadmagic")
  expect((await org.run(free("paid"))).body).toMatchObject({ status: "succeeded", billing: { charged: "0.003" } })
  await app.call(await org.session(), "PUT", "/v1/provider-accounts/leadmagic", { body: { api_key: "own-key-4711" } })
  await app.sql("UPDATE free_storage SET day = day - 1 WHERE org_id = $1", [org.org_id])
  expect((await org.run(free("four"))).body.status).toBe("succeeded")
  expect(await storedToday()).toBeLessThan(10_000)
})

test("a run with a hold that an own account delivers at no charge counts too", async () => {
  const body = { api_key: "own-key-4711", fallback: true }
  await app.call(await org.session(), "PUT", "/v1/provider-accounts/leadmagic", { body })
  const large = answer(200, { ...valid, extra: "x".repeat(1_800_000) })
  there.play("leadmagic", large, large)
  for (const who of ["one", "two"]) {
    const { body: run } = await org.run(free(who, { response: { include_raw: true } }))
    expect([run.status, run.billing.quoted, run.billing.charged]).toEqual(["succeeded", "0.003", "0.00"])
  }
  const refused = await org.run(free("three"))
  expect([refused.status, refused.body.status, refused.body.error.code]).toEqual([429, "blocked", "rate_limited"])
  expect(calls()).toBe(2)
  expect((await org.wallet()).reserved).toBe("0.00")
})

test("the input of a free run counts, also of one that failed", async () => {
  there.play("leadmagic", answer(404, {}), answer(200, valid))
  const [failed, succeeded] = [await org.run(free("fails")), await org.run(free("succeeds"))]
  expect([failed.body.status, succeeded.body.status]).toEqual(["failed", "succeeded"])
  const stored = await app.sql(
    "SELECT sum(octet_length(input::text) + coalesce(octet_length(result::text), 0))::int AS bytes FROM runs WHERE org_id = $1",
    [org.org_id]
  )
  expect(await storedToday()).toBe(Number(stored[0]?.["bytes"]))
})

test("runs that joined another one have copies of its result as far as the limit allows", async () => {
  await app.call(await org.session(), "DELETE", "/v1/provider-accounts/leadmagic")
  const gate = Promise.withResolvers<void>()
  there.play("leadmagic", async () => {
    await gate.promise
    return answer(200, { ...valid, extra: "x".repeat(1_800_000) })
  })
  const joining = free("joined", { response: { include_raw: true }, reuse: { mode: "prefer" } })
  const buyer = org.run(joining)
  await until("the call", calls, (made) => made === 1)
  const joined = [1, 2, 3].map(() => org.run(joining))
  await until(
    "three runs that wait",
    () => app.sql("SELECT count(*)::int AS count FROM reuse_joins"),
    ([row]) => row?.["count"] === 3
  )
  gate.resolve()
  expect((await buyer).body.billing.charged).toBe("0.003")
  const ends = (await Promise.all(joined)).map(({ body }) => [body.status, body.error?.code ?? null])
  expect(ends.toSorted()).toEqual([
    ["blocked", "rate_limited"],
    ["succeeded", null],
    ["succeeded", null]
  ])
  expect(calls()).toBe(1)
})

test("a copy of an earlier result counts, and is not made beyond the limit", async () => {
  await app.call(await org.session(), "DELETE", "/v1/provider-accounts/leadmagic")
  there.play("leadmagic", answer(200, { ...valid, extra: "x".repeat(1_800_000) }))
  const bought = free("bought", { response: { include_raw: true }, reuse: { mode: "prefer" } })
  expect((await org.run(bought)).body).toMatchObject({ status: "succeeded", billing: { charged: "0.003" } })
  expect(await storedToday()).toBe(0)
  const copies = [await org.run(bought), await org.run(bought)]
  for (const { body } of copies) expect([body.status, body.billing.charged]).toEqual(["succeeded", "0.00"])
  expect(await storedToday()).toBeGreaterThan(3_600_000)
  const refused = await org.run(bought)
  expect([refused.status, refused.body.status, refused.body.error.code]).toEqual([429, "blocked", "rate_limited"])
  expect(calls()).toBe(1)
})

test("a batch over the limit makes no run for most rows, and its free rows can be retried the next day", async () => {
  there.play("leadmagic", ...Array.from({ length: 200 }, () => answer(200, valid)))
  await app.sql("INSERT INTO free_storage VALUES ($1, (now() AT TIME ZONE 'UTC')::date, 5000000)", [org.org_id])
  const batch = await org.post("/v1/batches", { runs: Array.from({ length: 200 }, (_, n) => free(`row${n}`)) })
  const finished = () =>
    until(
      "the batch to finish",
      async () => (await org.get(`/v1/batches/${batch.body.id}`)).body,
      ({ done }: Reply["body"]) => done
    )
  expect((await finished()).rows).toMatchObject({ total: 200, blocked: 200 })
  // Rows that are open at once find the limit together.
  expect((await org.list("?limit=200")).body.items.length).toBeLessThan(130)
  expect(calls()).toBe(0)
  await app.sql("UPDATE free_storage SET day = day - 1 WHERE org_id = $1", [org.org_id])
  await app.sql("UPDATE free_storage SET bytes = 0 WHERE org_id = $1", [org.org_id])
  await org.post(`/v1/batches/${batch.body.id}/retry`, {})
  expect((await finished()).rows.succeeded).toBeGreaterThan(0)
})
