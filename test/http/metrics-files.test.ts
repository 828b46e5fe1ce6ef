/** What processes count, and the operator's dashboard and alerts: every name in them is one that the service exports. */
import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { until, withApp } from "../kit/app.ts"
import { pageText, root } from "./cli/pages.ts"

const app = withApp()

/** The value of one series; 0 if it does not exist yet. */
const valueOf = (text: string, series: string) => {
  const line = text.split("\n").find((one) => one.startsWith(`${series} `))
  return line === undefined ? 0 : Number(line.slice(series.length + 1))
}

describe("/metrics", () => {
  test("counts runs, calls of providers, turns and requests, and times them", async () => {
    const org = await app.tenant("5.00")
    const before = await app.metrics()
    const input = { full_name: "Ada Lovelace", company_domain: "example.com" }
    const { body } = await org.run({ capability: "email.find", input })
    await org.get(`/v1/runs/${body.run_id}`)
    await org.get("/no/such/ada@example.com")
    const series = {
      run: 'rungate_runs_total{capability="email.find",status="succeeded"}',
      run_time: 'rungate_run_duration_seconds_count{capability="email.find"}',
      run_buckets: 'rungate_run_duration_seconds_bucket{capability="email.find",le="+Inf"}',
      attempt: `rungate_provider_attempts_total{provider="${body.provider}",outcome="succeeded"}`,
      attempt_time: `rungate_provider_duration_seconds_count{provider="${body.provider}"}`,
      request: 'rungate_http_requests_total{method="POST",route="/v1/run",status="200"}',
      read: 'rungate_http_requests_total{method="GET",route="/v1/runs/{run_id}",status="200"}',
      unmatched: 'rungate_http_requests_total{method="GET",route="unmatched",status="404"}'
    }
    const after = await until(
      "the run's answer is counted",
      () => app.metrics(),
      (text) => valueOf(text, series.request) > valueOf(before, series.request)
    )
    for (const [name, one] of Object.entries(series))
      expect([name, valueOf(after, one) - valueOf(before, one)]).toEqual([name, 1])
    for (const one of ["rungate_turn_commands_count", "rungate_turn_duration_seconds_count"])
      expect(valueOf(after, one)).toBeGreaterThan(valueOf(before, one))
    for (const private_ of ["ada", "Lovelace", org.org_id, org.key_id, body.run_id])
      expect(after).not.toContain(private_)
  })

  test("says how long the oldest command and the oldest run wait", async () => {
    const org = await app.tenant()
    const series = 'rungate_queue_age_seconds{queue="commands"}'
    expect(await app.metrics()).toContain('rungate_queue_age_seconds{queue="runs"} 0\n')
    // A dead-lettered command waits for a person and not for its turn.
    for (const parked of [null, "it failed"]) {
      await app.sql(
        `INSERT INTO mailbox (lane, command_id, org_id, tag, payload, created_at, parked)
         VALUES (30000, 'cmd_late', $1, 'SetGuard', '{}', now() - interval '1 minute', $2)`,
        [org.org_id, parked]
      )
      const age = valueOf(await app.metrics(), series)
      await app.sql("DELETE FROM mailbox WHERE command_id = 'cmd_late'")
      if (parked === null) expect(age).toBeGreaterThanOrEqual(60)
      else expect(age).toBeLessThan(60)
    }
  })
})

const dashboard = readFileSync(join(root, "deploy/grafana/rungate.json"), "utf8")
const alerts = readFileSync(join(root, "deploy/prometheus/alerts.yaml"), "utf8")
const alertNames = Array.from(alerts.matchAll(/^ *- alert: (\S+)$/gm), ([, name = ""]) => name)

/** Names of metrics in expressions of Prometheus. */
const namesIn = (text: string) => new Set(Array.from(text.matchAll(/\b(?:rungate|process)_[a-z_]+/g), ([name]) => name))

describe("the dashboard and the alerts", () => {
  test("name only metrics that the service exports, by labels that they have", async () => {
    const text = await app.metrics()
    const types = new Map(
      Array.from(text.matchAll(/^# TYPE (\S+) (\S+)$/gm), ([, name = "", type = ""]) => [name, type])
    )
    const isExported = (name: string) => {
      const base = name.replace(/_(bucket|sum|count)$/, "")
      return types.has(name) ? types.get(name) !== "histogram" : types.get(base) === "histogram"
    }
    // It is exported only with DATABASE_READ_URL.
    const optional = new Set(["rungate_standby_reads_total"])
    const named = [...namesIn(dashboard), ...namesIn(alerts.replace(/^#.*$/gm, ""))]
    expect(named.length).toBeGreaterThan(20)
    expect(named.filter((name) => !isExported(name) && !optional.has(name))).toEqual([])
    // The page of operators lists every metric.
    const page = pageText("docs/operate.md")
    expect([...types.keys()].filter((name) => !page.includes(`\`${name}\``))).toEqual([])
  })

  test("every alert has a paragraph that says what to do, and every paragraph an alert", () => {
    const page = pageText("docs/operate.md")
    const told = Array.from(page.matchAll(/^#### (Rungate\w+)\n+(\S.{60,})/gm), ([, name = ""]) => name)
    expect(alertNames.length).toBeGreaterThan(10)
    expect(told.sort()).toEqual([...alertNames].sort())
  })
})
