/**
 * What the index adds to a run's cost: runs of everyday capabilities go through the service, then the index's own work is done once more, apart,
 * for the same runs in the same database; both are CPU seconds of every process that takes part.
 */
import { spawn } from "node:child_process"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, ManagedRuntime, Redacted } from "effect"
import { Client } from "pg"
import { HistoryIndex } from "../../src/layers/history/index/HistoryIndex.ts"
import { madeRuns } from "./history-runs.ts"
import { cpuSeconds } from "./machine.ts"
import type { Running, Stage } from "./stage.ts"

/** Runs that one turn ends when 32 clients wait. */
const pageMax = 32
const clients = 32

/** What the end of runs adds for the index. */
const endedText =
  "INSERT INTO history_queue (org_id, run_ids) SELECT org_id, array_agg(run_id) FROM unnest($1::text[], $2::text[]) AS n(org_id, run_id) GROUP BY org_id"

export interface Cost {
  readonly runs: number
  /** CPU microseconds for each run. */
  readonly service: number
  readonly queue: number
  /** Of the process that does it, and of Postgres. */
  readonly index: number
  readonly index_postgres: number
  /** Of a run's cost without them. */
  readonly share: number
  /** Of each way to write the same runs into another index: this process and Postgres. */
  readonly others: ReadonlyArray<{ readonly name: string; readonly own: number; readonly postgres: number }>
}

/** Another index that is written for the same runs, in turn with the service and the segments. */
export interface OtherIndex {
  readonly name: string
  readonly write: (org_id: string, run_ids: ReadonlyArray<string>) => Promise<void>
}

const bodiesOf = (count: number): ReadonlyArray<string> => {
  const bodies: Array<string> = []
  for (const { capability, input } of madeRuns(count, 7)) {
    if (capability !== null) bodies.push(`{"capability":"${capability}","input":${input}}`)
    if (bodies.length >= count) break
  }
  return bodies
}

/** In a process of its own, so that the load's CPU is not the service's. */
const sendAll = async (url: string, key: string, bodies: ReadonlyArray<string>) => {
  let next = 0
  const failures = new Map<string, number>()
  const client = async () => {
    for (let body = bodies[next++]; body !== undefined; body = bodies[next++]) {
      const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
      const response = await fetch(`${url}/v1/run`, { method: "POST", headers, body })
      const text = await response.text()
      if (!text.includes('"succeeded"')) failures.set(text.slice(0, 300), 1)
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  return [...failures.keys()]
}

const sendIn = (url: string, key: string, count: number) =>
  new Promise<void>((resolve, reject) => {
    const child = spawn(process.execPath, [import.meta.path, url, key, String(count)], {
      stdio: ["ignore", "inherit", "inherit"]
    })
    child.once("exit", (code) => (code === 0 ? resolve() : reject(new Error("the load failed"))))
  })

const emptied = async (client: Client) => {
  for (;;) {
    const { rows } = await client.query(
      "SELECT (SELECT count(*) FROM history_queue) + (SELECT count(*) FROM mailbox) AS left"
    )
    if (Number(rows[0].left) === 0) return
    await Bun.sleep(200)
  }
}

/** CPU seconds of one step of the index, of this process and of Postgres, and how many runs the largest segment has that it wrote. */
interface Step {
  readonly own: number
  readonly beside: number
  readonly written: number
}

/** What waits is put into segments, and these are joined. */
const indexing = (database: string, postgres: ReadonlyArray<number>, client: Client) => {
  const layer = HistoryIndex.layer.pipe(Layer.provide(PgClient.layer({ url: Redacted.make(database) })))
  const runtime = ManagedRuntime.make(layer)
  const index = Effect.flatMap(HistoryIndex, (history) => history.index)
  const newest = async () =>
    Number((await client.query("SELECT coalesce(max(segment), 0) AS segment FROM history_segments")).rows[0].segment)
  return async () => {
    const steps: Array<Step> = []
    for (let last = await newest(); ; last = await newest()) {
      const spent = cpuSeconds(postgres)
      const used = process.cpuUsage()
      const runs = await runtime.runPromise(index)
      const { user, system } = process.cpuUsage(used)
      const own = (user + system) / 1e6
      const beside = cpuSeconds(postgres) - spent
      const { rows } = await client.query("SELECT max(runs) AS runs FROM history_segments WHERE segment > $1", [last])
      steps.push({ own, beside, written: Number(rows[0].runs ?? 0) })
      if (runs > 0) continue
      if ((await client.query("SELECT 1 FROM history_queue LIMIT 1")).rows.length === 0) return steps
      // The service was stopped amid a step: Postgres hangs up on it.
      await Bun.sleep(100)
    }
  }
}

/** Of a larger one, less than one comes up among so many runs. */
const largeMin = 20_000
/**
 * A large join is made once for a hundred thousand runs, of which some ten thousand are measured: it counts for as many of its runs as were. What
 * else its step did counts as the other steps do.
 */
const amortized = (steps: ReadonlyArray<Step>, runs: number, of: (step: Step) => number) => {
  const [large, others] = [
    steps.filter((step) => step.written >= largeMin),
    steps.filter((step) => step.written < largeMin && step.written > 0)
  ]
  const total = (some: ReadonlyArray<Step>) => some.reduce((sum, step) => sum + of(step), 0)
  const usual = total(others) / Math.max(others.length, 1)
  const joins = large.map((step) => (of(step) - usual) / step.written)
  const each = joins.length === 0 ? 0 : joins.reduce((sum, one) => sum + one, 0) / joins.length
  return total(steps) - total(large) + usual * large.length + each * runs
}

/**
 * In rounds, service and index in turn, because a machine is now faster and now slower. The first is not counted: a service that has been up
 * for a while has its code compiled.
 */
const rounds = 4

export const measureCost = async (
  stage: Stage,
  database: string,
  running: Running,
  { org_id, key }: { readonly org_id: string; readonly key: string },
  count: number,
  otherIndexes: ReadonlyArray<OtherIndex> = []
): Promise<Cost> => {
  const client = new Client({ connectionString: database })
  await client.connect()
  await client.query(
    "SET plan_cache_mode = force_generic_plan; SET jit = off; SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off"
  )
  const postgres = [stage.postgresPid]
  const posts = [running.pid, ...postgres, ...(stage.redisPid === null ? [] : [stage.redisPid])]
  const indexed = indexing(database, postgres, client)

  const queueOf = async (ids: ReadonlyArray<string>) => {
    /** Statements and commits are the service's own, which writes all this beside other things: they are taken off. */
    const write = async (full: boolean) => {
      const before = cpuSeconds(postgres)
      for (let from = 0; from < ids.length; from += pageMax) {
        const page = full ? ids.slice(from, from + pageMax) : []
        await client.query({ name: "ended", text: endedText, values: [page.map(() => org_id), page] })
      }
      return cpuSeconds(postgres) - before
    }
    const statements = await write(false)
    return (await write(true)) - statements
  }

  const round = async () => {
    const { rows: before } = await client.query("SELECT max(run_id) AS last FROM runs WHERE org_id = $1", [org_id])
    const spent = cpuSeconds(posts)
    await sendIn(running.url, key, Math.ceil(count / rounds))
    await emptied(client)
    const service = cpuSeconds(posts) - spent
    // Its workers must not take what is measured here.
    process.kill(running.pid, "SIGSTOP")
    const { rows } = await client.query("SELECT run_id FROM runs WHERE org_id = $1 AND run_id > $2 ORDER BY run_id", [
      org_id,
      before[0].last
    ])
    const ids = rows.map((run) => String(run.run_id))
    const queue = await queueOf(ids)
    const steps = await indexed()
    const others: Array<{ readonly own: number; readonly beside: number }> = []
    for (const { write } of otherIndexes) {
      const before = cpuSeconds(postgres)
      const used = process.cpuUsage()
      await write(org_id, ids)
      const { user, system } = process.cpuUsage(used)
      others.push({ own: (user + system) / 1e6, beside: cpuSeconds(postgres) - before })
    }
    process.kill(running.pid, "SIGCONT")
    return { runs: rows.length, service, queue, steps, others }
  }

  await round()
  const all: Array<Awaited<ReturnType<typeof round>>> = []
  for (let n = 0; n < rounds; n++) all.push(await round())
  await running.stop()
  await client.end()
  const sum = (of: (one: (typeof all)[number]) => number) => all.reduce((total, one) => total + of(one), 0)
  const runs = sum((one) => one.runs)
  const steps = all.flatMap((one) => one.steps)
  const own = amortized(steps, runs, (step) => step.own)
  const beside = amortized(steps, runs, (step) => step.beside)
  const added = sum((one) => one.queue) + own + beside
  const micros = (seconds: number) => Math.round((seconds / runs) * 1e6)
  const service = sum((one) => one.service)
  return {
    ...{ runs, service: micros(service), queue: micros(sum((one) => one.queue)) },
    ...{ index: micros(own), index_postgres: micros(beside), share: added / (service - added) },
    others: otherIndexes.map(({ name }, n) => ({
      ...{ name, own: micros(sum((one) => one.others[n]?.own ?? 0)) },
      postgres: micros(sum((one) => one.others[n]?.beside ?? 0))
    }))
  }
}

if (import.meta.main) {
  const [url = "", key = "", count = "1"] = process.argv.slice(2)
  for (const failure of (await sendAll(url, key, bodiesOf(Number(count)))).slice(0, 3)) console.error(failure)
}
