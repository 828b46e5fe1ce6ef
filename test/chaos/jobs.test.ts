/**
 * A job at a provider outlives the worker that started it: killed right after the job's id was stored, its run goes on elsewhere
 * with the same job, and the provider never hears of a second one.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { until } from "./processes.ts"
import { backends, leaseSeconds, report, World } from "./world.ts"

const example = (name: string) =>
  readFileSync(join(import.meta.dir, "..", "fixtures", "payloads", "icypeas", `${name}.response.json`), "utf8")

/** Tickets by the provider's rules: one per start, found only after the worker that started it is dead. */
const startTickets = () => {
  let starts = 0
  let polls = 0
  let ready = false
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request): Response => {
      const json = { headers: { "content-type": "application/json" } }
      if (request.url.endsWith("/email-search")) {
        starts += 1
        return new Response(example("email_search"), json)
      }
      polls += 1
      return new Response(example(ready ? "bulk_single_searchs_read" : "bulk_single_searchs_read.running"), json)
    }
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    starts: () => starts,
    polls: () => polls,
    finish: () => {
      ready = true
    },
    stop: () => server.stop(true)
  }
}

describe.each(backends)("jobs on %s", (backend) => {
  let world: World
  const tickets = startTickets()
  beforeAll(async () => {
    world = await World.open({
      backend,
      settings: { RUNGATE_PROVIDER_ICYPEAS_API_KEY: "key-of-ICYPEAS", RUNGATE_PROVIDER_ICYPEAS_BASE_URL: tickets.url }
    })
  })
  afterAll(async () => {
    await world?.close()
    await tickets.stop()
  })

  test("kill -9 after the job's id was stored", async () => {
    const doomed = await world.start("all", { RUNGATE_CRASH_AT: "job.after:1" })
    await world.openAccounts()
    const [customer] = world.customers
    const headers = {
      authorization: `Bearer ${customer?.token}`,
      "content-type": "application/json",
      "idempotency-key": "job-1"
    }
    const body = JSON.stringify({
      capability: "email.find",
      input: { first_name: "Jane", last_name: "Doe", company_domain: "example.com" },
      routing: { provider: "icypeas" },
      wait_seconds: 60
    })
    const submit = (url: string) => fetch(`${url}/v1/run`, { method: "POST", headers, body })
    await submit(doomed.url).catch(() => {})
    expect((await doomed.ended).signal).toBe("SIGKILL")
    const killed = performance.now()
    expect(tickets.starts()).toBe(1)

    const survivor = await world.start("all")
    const answer = submit(survivor.url)
    await until("the next worker polls the same job", 20_000, () => tickets.polls() > 0)
    tickets.finish()
    const response = await answer
    const run: any = await response.json()
    expect([response.status, run.status, run.result.email]).toEqual([200, "succeeded", "example-email@icypeas.com"])
    expect(run.attempts.length).toBe(1)
    expect(tickets.starts()).toBe(1)
    const entries = await world.query<{ type: string; amount: string }>(
      "SELECT type, amount::text AS amount FROM ledger WHERE run_id = $1 ORDER BY seq",
      [run.run_id]
    )
    expect(entries.map((one) => one.type)).toEqual(["reserve", "settle"])
    const seconds = Math.round((performance.now() - killed) / 100) / 10
    report({
      test: "a job outlives its worker",
      backend,
      starts: tickets.starts(),
      recovery_s: seconds,
      lease_s: leaseSeconds
    })
  })
})
