/**
 * What the index adds to a run's cost: runs of everyday capabilities go through the service, then the index's own work is done once more, apart,
 * for the same runs in the same database; both are CPU seconds of every process that takes part.
 */
import { spawn } from "node:child_process"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, ManagedRuntime, Redacted } from "effect"
import { Client } from "pg"
import { HistoryIndex } from "../../src/layers/history/HistoryIndex.ts"
import { madeRuns } from "./history-runs.ts"
import { cpuSeconds } from "./machine.ts"
import type { Running, Stage } from "./stage.ts"

/** Runs that one turn ends when 32 clients wait. */
const pageMax = 32
const clients = 32

/** What the end of runs adds for the index. */
const endedText =
  "INSERT INTO history_queue (run_id, org_id) SELECT unnest($1::text[]), $2::text ON CONFLICT DO NOTHING"

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

/** What waits is put into segments, and these are joined: CPU seconds of this process and of Postgres. */
const indexing = (database: string, postgres: ReadonlyArray<number>, client: Client) => {
  const layer = HistoryIndex.layer.pipe(Layer.provide(PgClient.layer({ url: Redacted.make(database) })))
  const runtime = ManagedRuntime.make(layer)
  const step = Effect.flatMap(HistoryIndex, (history) => history.index)
  return async () => {
    const spent = cpuSeconds(postgres)
    const own = process.cpuUsage()
    for (;;) {
      while ((await runtime.runPromise(step)) > 0);
      const { rows } = await client.query("SELECT 1 FROM history_queue LIMIT 1")
      if (rows.length === 0) break
      // The service was stopped amid a step: Postgres hangs up on it.
      await Bun.sleep(100)
    }
    const { user, system } = process.cpuUsage(own)
    return { own: (user + system) / 1e6, postgres: cpuSeconds(postgres) - spent }
  }
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
  count: number
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
      for (let from = 0; from < ids.length; from += pageMax)
        await client.query({
          name: "ended",
          text: endedText,
          values: [full ? ids.slice(from, from + pageMax) : [], org_id]
        })
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
    const queue = await queueOf(rows.map((run) => String(run.run_id)))
    const { own, postgres: beside } = await indexed()
    process.kill(running.pid, "SIGCONT")
    return { runs: rows.length, service, queue, own, beside }
  }

  await round()
  const all: Array<Awaited<ReturnType<typeof round>>> = []
  for (let n = 0; n < rounds; n++) all.push(await round())
  await running.stop()
  await client.end()
  const sum = (of: (one: (typeof all)[number]) => number) => all.reduce((total, one) => total + of(one), 0)
  const runs = sum((one) => one.runs)
  const each = (of: (one: (typeof all)[number]) => number) => Math.round((sum(of) / runs) * 1e6)
  const added = sum((one) => one.queue + one.own + one.beside)
  return {
    ...{ runs, service: each((one) => one.service), queue: each((one) => one.queue) },
    ...{ index: each((one) => one.own), index_postgres: each((one) => one.beside) },
    share: added / (sum((one) => one.service) - added)
  }
}

if (import.meta.main) {
  const [url = "", key = "", count = "1"] = process.argv.slice(2)
  for (const failure of (await sendAll(url, key, bodiesOf(Number(count)))).slice(0, 3)) console.error(failure)
}
