import { afterEach, beforeAll, describe, expect, test } from "bun:test"
import { oneBackend, type Tenant, until, verify, withApp } from "../kit/app.ts"
import { heldProvider, rehearseHeld } from "../kit/held-provider.ts"

describe.each(oneBackend)("POST /v1/runs/{run_id}/cancel, queues on %s", (backend) => {
  const held = heldProvider()
  let org: Tenant
  const app = withApp({ backend, held, settings: { RUNGATE_CONCURRENCY: "1" } })
  beforeAll(async () => {
    org = await app.tenant("10.00")
  })
  afterEach(async () => {
    held.release()
    await app.books()
  })

  const start = async (asked: Record<string, unknown>, status: string) => {
    const { body } = await org.run({ ...asked, async: true })
    if (status === "running") await held.holds(1)
    return until(
      `the run is ${status}`,
      async () => (await org.get(`/v1/runs/${body.run_id}`)).body,
      (run) => run.status === status
    )
  }

  test("stops a queued run: no provider is called and the hold is released", async () => {
    const running = await start(rehearseHeld(), "running")
    const queued = await start(verify("queued"), "queued")
    expect(queued).toMatchObject({ stoppable: true, done: false, attempts: [], provider: null })
    expect((await org.wallet()).reserved).toBe("0.0096")
    expect((await org.list("?status=queued")).body.items).toHaveLength(1)

    const { status, body } = await org.post(`/v1/runs/${queued.run_id}/cancel`)
    expect(status).toBe(200)
    expect(body).toMatchObject({
      run_id: queued.run_id,
      status: "cancelled",
      provider: null,
      error: { code: "cancelled" },
      done: true,
      stoppable: false,
      attempts: [],
      billing: { charged: null }
    })
    expect((await org.get(`/v1/runs/${queued.run_id}`)).body).toEqual(body)
    expect((await org.wallet()).reserved).toBe("0.0048")
    const entries = (await org.ledger()).filter((one) => one.reference === queued.run_id)
    expect(entries.map((one) => [one.type, one.amount, one.note])).toEqual([
      ["release", "0.0048", "cancelled"],
      ["reserve", "-0.0048", null]
    ])

    // What runs can't be stopped, and neither can what is over.
    for (const [run_id, state] of [
      [running.run_id, "running"],
      [queued.run_id, "cancelled"]
    ]) {
      const refused = await org.post(`/v1/runs/${run_id}/cancel`)
      expect([refused.status, refused.body.error.code]).toEqual([400, "invalid_request"])
      expect(refused.body.error.message).toContain(state)
    }
    held.release()
    const ended = await org.get(`/v1/runs/${running.run_id}?wait=20`)
    expect(ended.body).toMatchObject({ status: "succeeded", billing: { charged: "0.003" } })
    const over = await org.post(`/v1/runs/${running.run_id}/cancel`)
    expect(over.body.error.message).toContain("succeeded")
    expect((await org.wallet()).reserved).toBe("0.00")
  })

  test("a call that is under way is no attempt yet", async () => {
    const { run_id } = await start(rehearseHeld(), "running")
    const under = (await org.get(`/v1/runs/${run_id}`)).body
    expect(under).toMatchObject({ status: "running", provider: null, attempts: [] })
    expect((await org.list()).body.items[0]).toMatchObject({ status: "running", attempts: [] })
    held.release()
    const ended = (await org.get(`/v1/runs/${run_id}?wait=20`)).body
    expect(ended.attempts).toMatchObject([{ provider: "leadmagic", outcome: "succeeded" }])
  })

  test("does not stop a run whose provider was called, although it waits in the queue for another try", async () => {
    const first = await start(rehearseHeld(), "running")
    const { run_id } = await start(verify("lost"), "queued")
    // As after the death of its worker.
    const lost = [{ provider: "leadmagic", outcome: "worker_lost", duration_ms: 0, detail: "its worker died" }]
    await app.sql("UPDATE open_runs SET attempts = $1 WHERE run_id = $2", [JSON.stringify(lost), run_id])
    const waiting = (await org.get(`/v1/runs/${run_id}`)).body
    expect(waiting).toMatchObject({ status: "running", stoppable: false, attempts: [{ outcome: "worker_lost" }] })
    const listed = async (status: string) =>
      (await org.list(`?status=${status}`)).body.items.map((run: { run_id: string }) => run.run_id)
    expect([await listed("running"), await listed("queued")]).toEqual([[run_id, first.run_id], []])
    const refused = await org.post(`/v1/runs/${run_id}/cancel`)
    expect([refused.status, refused.body.error.message]).toEqual([400, expect.stringContaining("This run is running")])
    held.release()
    const { body } = await org.get(`/v1/runs/${run_id}?wait=20`)
    expect([body.status, body.attempts.length]).toEqual(["succeeded", 2])
  })

  test("answers whoever waits for the cancelled run, and a replay, with 409", async () => {
    const running = await start(rehearseHeld(), "running")
    const key = { "idempotency-key": `cancelled-${backend}` }
    const waiting = org.run(verify("waited"), key)
    const queued = await until(
      "the second run is queued",
      async () => (await org.list("?status=queued")).body.items,
      (items) => items.length === 1
    )
    const polling = org.get(`/v1/runs/${queued[0].run_id}?wait=20`)
    expect((await org.post(`/v1/runs/${queued[0].run_id}/cancel`)).status).toBe(200)
    for (const answer of [await waiting, await org.run(verify("waited"), key)]) {
      expect(answer.status).toBe(409)
      expect(answer.body).toMatchObject({ run_id: queued[0].run_id, status: "cancelled", error: { code: "cancelled" } })
    }
    const polled = await polling
    expect([polled.status, polled.body.status]).toEqual([200, "cancelled"])
    held.release()
    expect((await org.get(`/v1/runs/${running.run_id}?wait=20`)).body.status).toBe("succeeded")
  })

  test("of several cancels at once one succeeds", async () => {
    const running = await start(rehearseHeld(), "running")
    const queued = await start(verify("raced"), "queued")
    const answers = await Promise.all(Array.from({ length: 10 }, () => org.post(`/v1/runs/${queued.run_id}/cancel`)))
    expect(answers.filter((one) => one.status === 200)).toHaveLength(1)
    expect(answers.filter((one) => one.status === 400)).toHaveLength(9)
    held.release()
    expect((await org.get(`/v1/runs/${running.run_id}?wait=20`)).body.status).toBe("succeeded")
  })

  test("does not know other organizations' runs", async () => {
    const other = await app.tenant()
    const { body } = await org.run(verify())
    const theirs = await other.post(`/v1/runs/${body.run_id}/cancel`)
    const none = await other.post(`/v1/runs/run_${"0".repeat(26)}/cancel`)
    expect([theirs.status, none.status]).toEqual([400, 400])
    expect(theirs.body.error.message).toStartWith(`There is no run "${body.run_id}".`)
    expect(theirs.body.error.details).toEqual(none.body.error.details)
  })
})
