/** Everything the bench needs, started and funded: Postgres and Redis of its own, a service process, organizations with keys. */
import { type ChildProcess, spawn } from "node:child_process"
import { chmodSync, mkdtempSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Redacted, Scope } from "effect"
import { Client } from "pg"
import { embeddedPostgres } from "../../src/layers/postgres/embedded/EmbeddedPostgres.ts"
import { markOf } from "../../src/schema/accounts/TokenText.ts"
import { startable } from "../../scripts/bundle.ts"
import { startRedis } from "../kit/redis.ts"
import { afterwards } from "../kit/process-end.ts"
import type { LoadResult } from "./load.ts"

export interface Stage {
  readonly server: string
  readonly postgresPid: number
  readonly redis: string | undefined
  readonly redisPid: number | null
}

/** Durable: `fsync` and `synchronous_commit` are on, as in production. */
export const openStage = async (settings: Readonly<Record<string, string>> = {}): Promise<Stage> => {
  const dataDir = mkdtempSync(join(tmpdir(), "rungate-bench-"))
  chmodSync(dataDir, 0o755)
  const running = await Effect.runPromise(
    embeddedPostgres({ dataDir, onProgress: () => Effect.void, settings }).pipe(Scope.provide(Scope.makeUnsafe()))
  )
  afterwards('kill -QUIT "$(head -n 1 "$2/postmaster.pid")"; sleep 1; rm -rf "$1"', dataDir, running.cluster)
  const postgresPid = Number(readFileSync(join(running.cluster, "postmaster.pid"), "utf8").split("\n")[0])
  const redis = await startRedis()
  return {
    server: Redacted.value(running.url),
    postgresPid,
    redis,
    redisPid: redis === undefined ? null : await redisPidOf(redis)
  }
}

const redisPidOf = async (url: string): Promise<number> => {
  const { Redis } = await import("ioredis")
  const client = new Redis(url)
  const info = await client.info("server")
  client.disconnect()
  return Number(/process_id:(\d+)/.exec(info)?.[1] ?? 0)
}

let databases = 0
export const newDatabase = async (stage: Stage): Promise<string> => {
  const client = new Client({ connectionString: stage.server })
  await client.connect()
  databases += 1
  const name = `bench_${process.pid}_${databases}`
  await client.query(`CREATE DATABASE ${name} TEMPLATE template0`)
  await client.end()
  const url = new URL(stage.server)
  url.pathname = `/${name}`
  return url.toString()
}

export interface Running {
  /** Empty for a worker. */
  readonly url: string
  readonly pid: number
  readonly stop: () => Promise<void>
}

const startMillisMax = 120_000

/** The service as `npm start` starts it; `RUNGATE_BENCH_PROGRAM` names another version's. */
export const program = async (): Promise<string> => process.env["RUNGATE_BENCH_PROGRAM"] ?? startable("service")

export const start = async (args: ReadonlyArray<string>, env: Record<string, string>): Promise<Running> => {
  const child: ChildProcess = spawn(process.execPath, args, {
    env: { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", ...env },
    stdio: ["ignore", "pipe", "inherit"]
  })
  afterwards('kill -KILL "$1"', String(child.pid))
  let out = ""
  child.stdout?.on("data", (chunk) => (out += String(chunk)))
  for (const end = performance.now() + startMillisMax; performance.now() < end; await Bun.sleep(20)) {
    const isWorker = out.includes("worker is taking turns")
    const url = isWorker ? "" : /http:\/\/127\.0\.0\.1:\d+/.exec(out)?.[0]
    if (url !== undefined && (isWorker || out.includes("Try:"))) {
      const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()))
      return {
        url,
        pid: child.pid ?? 0,
        stop: async () => {
          child.kill("SIGTERM")
          await ended
        }
      }
    }
    if (child.exitCode !== null) break
  }
  throw new Error(`did not start: ${out}`)
}

/** Loads one service, or several with their addresses separated by commas. In a process of its own, so that the load's CPU is not the service's. */
export const loadIn = (url: string, keys: ReadonlyArray<string>, clients: number, secs: number, body?: object) =>
  new Promise<LoadResult>((resolve, reject) => {
    const child = spawn(
      process.execPath,
      [
        new URL("./load.ts", import.meta.url).pathname,
        ...[url, keys.join(","), String(clients), String(secs)],
        ...(body === undefined ? [] : [JSON.stringify(body)])
      ],
      {
        stdio: ["ignore", "pipe", "inherit"]
      }
    )
    let out = ""
    child.stdout.on("data", (chunk) => (out += String(chunk)))
    child.once("exit", () => {
      try {
        resolve(JSON.parse(out))
      } catch {
        reject(new Error(`the load failed: ${out}`))
      }
    })
  })

const left = `SELECT (SELECT count(*) FROM history_queue) + (SELECT count(*) FROM usage_queue)
  + (SELECT count(*) FROM webhook_deliveries WHERE status = 'pending') + (SELECT count(*) FROM mailbox) AS n`
/** How long no work must be left, because a worker looks for some once a second. */
const quietMillis = 1_500

/** Waits until the background work of all these databases has ended. */
export const drained = async (databases: ReadonlyArray<Client>) => {
  for (let since = performance.now(); performance.now() - since < quietMillis; await Bun.sleep(100)) {
    const counts = await Promise.all(databases.map((database) => database.query(left)))
    if (counts.some(({ rows }) => Number(rows[0].n) > 0)) since = performance.now()
  }
}

const digest = (token: string) => new Bun.CryptoHasher("sha256").update(token).digest()

const credited = (org_id: string, txn_id: string) =>
  JSON.stringify({
    ...{ org_id, seq: 1, txn_id, type: "bonus", amount: 1e12, balance_after: 1e12, reserved_after: 0 },
    ...{ reference: txn_id, created_at: new Date() }
  })

/**
 * Organizations with a key and a million dollars each, credited on the ledger as a bonus is. In a cell the keys say its name and the tag of their
 * organization, as those that it makes.
 */
export const fund = async (database: string, count: number, lanes = 2, cell = ""): Promise<ReadonlyArray<string>> => {
  const client = new Client({ connectionString: database })
  await client.connect()
  const keys: Array<string> = []
  for (let n = 0; n < count; n++) {
    const org_id = `org_bench${cell}${String(n).padStart(21 - cell.length, "0")}`
    const mark = cell === "" ? "" : `${markOf(cell, org_id)}_`
    const key = `rg_test_${mark}bench${String(n).padStart(38, "0")}`
    await client.query("INSERT INTO orgs (org_id, name) VALUES ($1, 'bench')", [org_id])
    await client.query("INSERT INTO wallets (org_id, lane) VALUES ($1, $2)", [org_id, n % lanes])
    await client.query(
      `WITH entry AS (
         SELECT e.*, ledger_hash(NULL, e) AS hashed FROM json_populate_record(NULL::ledger, $1) e
       ), paid AS (
         UPDATE wallets w SET balance = entry.balance_after, entry_seq = 1, head = hashed FROM entry WHERE w.org_id = entry.org_id
       )
       INSERT INTO ledger (org_id, seq, txn_id, type, amount, balance_after, reserved_after, reference, created_at, hash)
       SELECT org_id, seq, txn_id, type, amount, balance_after, reserved_after, reference, created_at, hashed FROM entry`,
      [credited(org_id, `txn_bench${n}`)]
    )
    await client.query(
      "INSERT INTO api_keys (key_id, org_id, name, environment, key_hash, display) VALUES ($1, $2, 'bench', 'test', $3, 'bench')",
      [`key_bench${String(n).padStart(21, "0")}`, org_id, digest(key)]
    )
    keys.push(key)
  }
  await client.end()
  return keys
}
