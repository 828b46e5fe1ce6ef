/**
 * T27 pg.kill_backend_mid_tx: sessions of the service are ended at random moments, so that a COMMIT may have happened or not when its client
 * hears an error. Whoever asks again with the same key gets the same run, once.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { type App, figures, startApp, type Tenant } from "../kit/app.ts"
import { startMeter } from "./meter.ts"
import { until } from "./processes.ts"
import { backends } from "./world.ts"

const runs = 600
const clients = 8

describe.each(backends)("T27 pg.kill_backend_mid_tx on %s", (backend) => {
  const meter = startMeter()
  let app: App
  let org: Tenant
  beforeAll(async () => {
    const settings = {
      RUNGATE_MODE: "production",
      RUNGATE_LEASE_SECONDS: "2",
      RUNGATE_PROVIDER_LEADMAGIC_API_KEY: "key",
      RUNGATE_PROVIDER_LEADMAGIC_BASE_URL: meter.url
    }
    app = await startApp({ backend, settings })
    org = await app.tenant("90.00")
  })
  afterAll(async () => {
    await app.stop()
    await meter.stop()
  })

  test("an ambiguous commit is resolved by the key", async () => {
    let over = false
    let killed = 0
    let refused = 0
    let ambiguous = 0
    const acknowledged = new Map<string, Set<string>>()
    const client = async (number: number) => {
      for (let at = number; at < runs; at += clients) {
        const key = `T27x${backend}x${at}`
        const names = acknowledged.get(key) ?? new Set<string>()
        acknowledged.set(key, names)
        const input = { first_name: "Hit", last_name: key, company_domain: "example.com" }
        let failed = false
        await until(`an answer for ${key}`, 60_000, async () => {
          const answer = await org
            .run({ capability: "email.find", input, wait_seconds: 20 }, { "idempotency-key": key })
            .catch(() => null)
          if (answer === null || answer.status >= 500 || answer.body.done !== true) {
            failed = true
            refused += 1
            if (typeof answer?.body?.run_id === "string") names.add(answer.body.run_id)
            return false
          }
          // It was refused before, and is a replay now: the commit that nobody heard of had happened.
          if (failed && answer.headers.get("idempotent-replay") === "true") ambiguous += 1
          names.add(answer.body.run_id)
          return true
        })
      }
    }
    /** Ends the sessions that are in the middle of something, every few milliseconds. */
    const killer = async () => {
      while (!over) {
        const [row] = await app.sql(`
          SELECT count(*) FILTER (WHERE pg_terminate_backend(pid))::int AS ended FROM pg_stat_activity
          WHERE datname = current_database() AND application_name = 'rungate' AND pid <> pg_backend_pid()
            AND (state <> 'idle' OR random() < 0.1)`)
        killed += Number(row?.["ended"])
        await Bun.sleep(20 + Math.random() * 60)
      }
    }
    const killing = killer()
    await Promise.all(Array.from({ length: clients }, (_, number) => client(number)))
    over = true
    await killing
    await until("everything is final", 40_000, async () => {
      const [row] = await app.sql("SELECT (SELECT count(*) FROM open_runs) + (SELECT count(*) FROM mailbox) AS left")
      return Number(row?.["left"]) === 0
    })
    const violations: Array<string> = []
    for (const [key, names] of acknowledged) {
      const rows = await app.sql(
        "SELECT run_id, status, json_array_length(attempts) AS attempts FROM runs WHERE idempotency_key = $1",
        [key]
      )
      if (rows.length !== 1 || names.size !== 1 || !names.has(String(rows[0]?.["run_id"])))
        violations.push(`${key}: ${rows.length} runs, told ${[...names]}`)
      if (meter.of(key).length > Number(rows[0]?.["attempts"]))
        violations.push(`${key}: ${meter.of(key).length} calls, ${rows[0]?.["attempts"]} attempts`)
    }
    figures("T27 pg.kill_backend_mid_tx", { backend, runs, killed, refused, ambiguous, violations: violations.length })
    expect(violations).toEqual([])
    expect(killed).toBeGreaterThan(5)
    await app.books()
  })
})
