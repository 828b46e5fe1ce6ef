/**
 * What the index adds to a run's cost: runs of everyday capabilities go through the service, then the index's own work is done once more, apart,
 * for the same runs in the same database; both are CPU seconds of every process that takes part.
 */
import { spawn } from "node:child_process"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Redacted } from "effect"
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

/**
 * What waits is put into segments, and these are joined: CPU seconds of this process and of Postgres. Done twice and measured the second time, because
 * a service that has been up for a while has its code compiled.
 */
const indexCost = (
  database: string,
  postgres: ReadonlyArray<number>,
  wait: (from: number, to: number) => Promise<unknown>,
  runs: number
) => {
  const work = Effect.gen(function* () {
    const history = yield* HistoryIndex
    yield* Effect.promise(() => wait(0, runs))
    while ((yield* history.index) > 0);
    yield* Effect.promise(() => wait(0, runs))
    const spent = cpuSeconds(postgres)
    const own = process.cpuUsage()
    while ((yield* history.index) > 0);
    const { user, system } = process.cpuUsage(own)
    return { own: (user + system) / 1e6, postgres: cpuSeconds(postgres) - spent }
  })
  const client = PgClient.layer({ url: Redacted.make(database) })
  return Effect.runPromise(work.pipe(Effect.provide(HistoryIndex.layer.pipe(Layer.provide(client)))))
}

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
  const posts = [running.pid, stage.postgresPid, ...(stage.redisPid === null ? [] : [stage.redisPid])]
  await sendIn(running.url, key, Math.ceil(count / 4))
  await emptied(client)
  const { rows: before } = await client.query("SELECT max(run_id) AS last FROM runs WHERE org_id = $1", [org_id])
  const spent = cpuSeconds(posts)
  await sendIn(running.url, key, count)
  await emptied(client)
  const service = cpuSeconds(posts) - spent
  await running.stop()

  const { rows: runs } = await client.query(
    "SELECT run_id FROM runs WHERE org_id = $1 AND run_id > $2 ORDER BY run_id",
    [org_id, before[0].last]
  )
  const ids = runs.map((run) => String(run.run_id))
  const postgres = [stage.postgresPid]
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
  const queue = (await write(true)) - statements
  await client.query("DELETE FROM history_queue")
  const wait = (from: number, to: number) =>
    client.query("INSERT INTO history_queue (org_id, run_id) SELECT $1, unnest($2::text[]) ON CONFLICT DO NOTHING", [
      org_id,
      ids.slice(from, to)
    ])
  const index = await indexCost(database, postgres, wait, ids.length)
  await client.end()
  const each = (seconds: number) => Math.round((seconds / runs.length) * 1e6)
  const added = queue + index.own + index.postgres
  return {
    ...{ runs: runs.length, service: each(service), queue: each(queue) },
    ...{ index: each(index.own), index_postgres: each(index.postgres), share: added / (service - added) }
  }
}

if (import.meta.main) {
  const [url = "", key = "", count = "1"] = process.argv.slice(2)
  for (const failure of (await sendAll(url, key, bodiesOf(Number(count)))).slice(0, 3)) console.error(failure)
}
