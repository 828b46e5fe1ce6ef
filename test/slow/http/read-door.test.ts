/**
 * `GET /v1/runs/{id}` has two ways into the process, as `POST /v1/run` has. Nobody may see by which of them a request was answered.
 * Seconds in plain digits take the door, and the same digits percent-encoded the general router.
 */
import { heapStats } from "bun:jsc"
import { beforeAll, describe, expect, test } from "bun:test"
import { rehearse, startApp, type Tenant, until, verify, withApp } from "../../kit/app.ts"
import { heldProvider, rehearseHeld } from "../../kit/held-provider.ts"

const held = heldProvider()
let org: Tenant
let other: Tenant
let ended: string
let open: string
/** A key of the first organization that reads its own runs only. */
let own: string
const app = withApp({ held, settings: { RUNGATE_CONCURRENCY: "1000" } })
beforeAll(async () => {
  ;[org, other] = [await app.tenant("50.00"), await app.tenant("50.00")]
  const body = { name: "own", environment: "test", allow: { raw: true, read: "own" } }
  own = (await app.call(await org.session(), "POST", "/v1/api-keys", { body })).body.api_key
  ended = (await org.run(verify())).body.run_id
  open = (await org.run({ ...rehearse("slow_60"), async: true })).body.run_id
})

const waitersOf = async () => Number(/^rungate_waiters (\d+)$/m.exec(await app.metrics())?.[1])

const encoded = (digits: string) => [...digits].map((digit) => `%${digit.charCodeAt(0).toString(16)}`).join("")

const ofTransport = new Set(["date", "content-length", "x-request-id"])
const ask = async (path: string, headers: Record<string, string>) => {
  const response = await fetch(`${app.url}${path}`, { headers })
  const text = (await response.text())
    .replaceAll(/"duration_ms":\d+/g, '"duration_ms":0')
    .replaceAll(/"request_id":"req_\w+"/g, '"request_id":"*"')
  const shown = [...response.headers].filter(([name]) => !ofTransport.has(name))
  return { status: response.status, headers: Object.fromEntries(shown), text }
}
/** Without seconds, an empty query makes the request unusual. */
const both = async (run_id: string, wait: string | null, headers: Record<string, string>) => {
  const [door, router] = await Promise.all([
    ask(`/v1/runs/${run_id}${wait === null ? "" : `?wait=${wait}`}`, headers),
    ask(`/v1/runs/${run_id}${wait === null ? "?" : `?wait=${encoded(wait)}`}`, headers)
  ])
  return { door, router }
}
const as = (token: string) => ({ authorization: `Bearer ${token}` })

describe("the two ways into GET /v1/runs/{id} answer alike", () => {
  const cases: ReadonlyArray<
    readonly [
      name: string,
      status: number,
      request: () => readonly [run_id: string, wait: string | null, headers: Record<string, string>]
    ]
  > = [
    ["a run that has ended", 200, () => [ended, "30", as(org.key)]],
    ["a run without a wait", 200, () => [ended, null, as(org.key)]],
    ["a preference", 200, () => [open, null, { ...as(org.key), prefer: "wait=1" }]],
    ["a preference that the query overrides", 200, () => [open, "0", { ...as(org.key), prefer: "wait=60" }]],
    ["a key that reads its own runs only", 400, () => [ended, "5", as(own)]],
    ["a run that is under way", 200, () => [open, "1", as(org.key)]],
    ["another organization's run", 400, () => [ended, "5", as(other.key)]],
    ["an unknown run", 400, () => ["run_00000000000000000000000000", "5", as(org.key)]],
    [
      "an error as problem+json",
      400,
      () => ["run_00000000000000000000000000", "5", { ...as(org.key), accept: "application/problem+json" }]
    ],
    ["no run id", 400, () => ["run_1", "5", as(org.key)]],
    ["too long", 400, () => [ended, "121", as(org.key)]],
    ["no credential", 401, () => [ended, "5", {}]],
    ["a key of another environment", 401, () => [ended, "5", as(`rg_live_${"0".repeat(40)}`)]],
    ["an unknown key", 401, () => [ended, "5", as(`rg_test_${"0".repeat(40)}`)]],
    ["a token of another form", 401, () => [ended, "5", as("secret")]],
    ["a lower-case scheme", 200, () => [ended, "5", { authorization: `bearer ${org.key}` }]]
  ]
  test.each(cases)("%s", async (_name, status, request) => {
    const { door, router } = await both(...request())
    expect(door).toEqual(router)
    expect(door.status).toBe(status)
  })

  test("a session, and a key from the moment it is revoked", async () => {
    expect((await both(ended, "5", as(await org.session()))).door.status).toBe(200)
    const gone = await app.tenant("1.00")
    const run_id: string = (await gone.run(verify())).body.run_id
    expect((await both(run_id, "5", as(gone.key))).door.status).toBe(200)
    await app.sql("UPDATE api_keys SET revoked_at = now() WHERE key_id = $1", [gone.key_id])
    const { door, router } = await both(run_id, "5", as(gone.key))
    expect(door).toEqual(router)
    expect(door.status).toBe(401)
  })
})

test("a long poll takes one request from its key's limit, also when it is refused", async () => {
  const limited = await startApp({ settings: { RUNGATE_RATE_LIMIT: "5" } })
  try {
    const tenant = await limited.tenant("10.00")
    const { body } = await tenant.run(verify())
    const polls = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        tenant.get(`/v1/runs/${index % 2 === 0 ? body.run_id : "run_00000000000000000000000000"}?wait=5`)
      )
    )
    const passed = polls.filter(({ status }) => status !== 429)
    // The bucket of 10 refills while the test runs.
    expect(passed.length).toBeGreaterThanOrEqual(9)
    expect(passed.length).toBeLessThan(25)
    for (const { headers } of polls) expect(headers.get("ratelimit")).toMatch(/^"default";r=\d+;t=\d+$/)
    for (const { status, headers } of polls) if (status === 429) expect(headers.get("retry-after")).toMatch(/^\d+$/)
  } finally {
    await limited.stop()
  }
})

describe("waiting clients", () => {
  const count = 150
  const hangUp = new AbortController()

  test("keep no generator and no request alive", async () => {
    await org.run(verify())
    expect(await waitersOf()).toBe(0)
    Bun.gc(true)
    const counts = () => heapStats().objectTypeCounts
    const objects = () => (counts()["Generator"] ?? 0) + (counts()["Request"] ?? 0)
    const before = objects()
    const polls = Array.from({ length: count }, () =>
      org.get(`/v1/runs/${open}?wait=60`, { signal: hangUp.signal }).catch(() => null)
    )
    await until("the polls wait", waitersOf, (waiting) => waiting === 1)
    await until(
      "their requests are not kept any more",
      () => {
        Bun.gc(true)
        return objects() - before
      },
      (more) => more < count / 5
    )
    hangUp.abort()
    expect(await Promise.all(polls)).toEqual(polls.map(() => null))
    await until("nobody waits", waitersOf, (waiting) => waiting === 0)
  })

  test("that started a run and hang up leave no place, and their run goes on", async () => {
    const leave = new AbortController()
    const key = { "idempotency-key": "left" }
    const sent = org
      .post("/v1/run", { ...rehearseHeld(), wait_seconds: 60 }, { signal: leave.signal, headers: key })
      .catch(() => null)
    await until("it waits", waitersOf, (waiting) => waiting === 1)
    leave.abort()
    expect(await sent).toBeNull()
    await until("its place is free", waitersOf, (waiting) => waiting === 0)
    // Two clients of the same request wait for the same run.
    const both = Promise.all([1, 2].map(() => org.run({ ...rehearseHeld(), wait_seconds: 60 }, key)))
    await until("they wait", waitersOf, (waiting) => waiting === 1)
    await held.holds(1)
    held.release()
    const [first, second] = await both
    for (const one of [first, second])
      expect([one?.status, one?.headers.get("idempotent-replay"), one?.body.status]).toEqual([200, "true", "succeeded"])
    expect(first?.body.run_id).toBe(second?.body.run_id)
    expect(await waitersOf()).toBe(0)
  })

  test("are answered after their time with the run as it is", async () => {
    const began = performance.now()
    const [started, read] = await Promise.all([
      org.run({ ...rehearseHeld("late"), wait_seconds: 1 }),
      org.get(`/v1/runs/${open}?wait=1`)
    ])
    expect(performance.now() - began).toBeGreaterThan(900)
    expect([started.status, started.body.status, started.headers.get("retry-after")]).toEqual([202, "running", "1"])
    expect([read.status, read.body.status, read.headers.get("retry-after")]).toEqual([200, "running", "1"])
    expect(await waitersOf()).toBe(0)
    held.release()
  })
})
