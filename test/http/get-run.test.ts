import { afterEach, beforeAll, describe, expect, test } from "bun:test"
import { oneBackend, rehearse, type Tenant, timed, until, verify, withApp } from "../kit/app.ts"
import { heldProvider, heldWord } from "../kit/held-provider.ts"

describe.each(oneBackend)("GET /v1/runs/{run_id}, queues on %s", (backend) => {
  const held = heldProvider()
  let org: Tenant
  const app = withApp({ backend, held, settings: { RUNGATE_DRAIN_SECONDS: "0" } })
  beforeAll(async () => {
    org = await app.tenant("100.00")
  })
  afterEach(async () => {
    await app.books()
  })
  const start = async (word: string) => (await org.run({ ...rehearse(word), async: true })).body.run_id as string

  test("answers what POST /v1/run answered", async () => {
    for (const asked of [
      verify(),
      rehearse("error"),
      rehearse("no_match"),
      rehearse("error_once"),
      { ...verify(), response: { include_raw: true } }
    ]) {
      const { body } = await org.run(asked)
      const { status, body: read } = await org.get(`/v1/runs/${body.run_id}`)
      expect(status).toBe(200)
      expect(read).toEqual(body)
    }
  })

  test("shows a run that is not finished, and when to ask again", async () => {
    const run_id = await start(heldWord)
    const { status, body, headers } = await org.get(`/v1/runs/${run_id}`)
    expect(status).toBe(200)
    expect(headers.get("retry-after")).toBe("1")
    expect(body).toMatchObject({ run_id, done: false, poll_url: `/v1/runs/${run_id}`, billing: { charged: null } })
    await held.holds(1)
    held.release()
    const ended = await org.get(`/v1/runs/${run_id}?wait=20`)
    expect(ended.headers.get("retry-after")).toBeNull()
    expect(ended.body.done).toBe(true)
  })

  test("waits for the end, at most as long as it was asked to", async () => {
    // The wait ends long before the run.
    const early = await timed(async () => org.get(`/v1/runs/${await start("slow_60")}?wait=1`))
    expect(early.value.body).toMatchObject({ status: "running", done: false, stoppable: false })
    expect(early.millis).toBeGreaterThanOrEqual(950)
    // The run ends long before the waits, and so do they. After the end nobody waits.
    const run_id = await start(heldWord)
    const path = `/v1/runs/${run_id}?wait=120`
    const waiting = timed(() => Promise.all([org.get(path), org.get(path), org.get(path)]))
    await until("the run is waited for", app.metrics, (text) => text.includes("rungate_waiters 1\n"))
    await held.holds(1)
    held.release()
    const waits = await waiting
    for (const { body } of waits.value) expect(body.status).toBe("succeeded")
    const late = await timed(() => org.get(path))
    expect(late.value.body.status).toBe("succeeded")
    for (const { millis } of [waits, late]) expect(millis).toBeLessThan(60_000)
  })

  test("is the same for an unknown run, another organization's and no run id at all", async () => {
    const other = await app.tenant()
    const { body } = await org.run(verify())
    const unknown = `run_${"0".repeat(26)}`
    for (const [who, id] of [
      [other, body.run_id],
      [org, unknown],
      [org, "x"],
      [org, "..%2Fwallet"]
    ] as const) {
      const dispute = { reason: "bounced", evidence: "x" }
      for (const [part, answer] of [
        ...(await Promise.all(
          ["", "/details", "/receipt", "/dispute", "/events"].map(
            async (part) => [part, await who.get(`/v1/runs/${id}${part}`)] as const
          )
        )),
        ["cancel", await who.post(`/v1/runs/${id}/cancel`, {})],
        ["a dispute", await who.post(`/v1/runs/${id}/dispute`, dispute)]
      ] as const)
        expect([part, answer.status, answer.body.error]).toEqual([
          part,
          400,
          {
            code: "invalid_request",
            message: `There is no run "${decodeURIComponent(id)}". List your runs with GET /v1/runs.`,
            details: [
              { path: "path.run_id", message: "is not a run of this organization" },
              expect.objectContaining({ http: "GET /v1/runs", cli: "rungate runs list" })
            ]
          }
        ])
    }
    // A wait does not tell them apart either: nobody waits for what does not exist.
    const { value, millis } = await timed(() => other.get(`/v1/runs/${body.run_id}?wait=120`))
    expect([value.status, millis < 60_000]).toEqual([400, true])
  })

  test("is visible to every key of the organization", async () => {
    const { body } = await org.run(verify())
    const session = await org.session()
    const made = await app.call(session, "POST", "/v1/api-keys", { body: { name: "second", environment: "test" } })
    const read = await app.call(made.body.api_key, "GET", `/v1/runs/${body.run_id}`)
    expect(read.body).toEqual(body)
  })
})
