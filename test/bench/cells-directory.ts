/**
 * What the directory of cells costs: statements and CPU of a sign-up and a sign-in, and CPU of one look-up with few and with many cells.
 *
 * People sign up and in at one cell after the other, as through a router that knows nothing of their address. Runs never ask the directory.
 */
import { Effect, Layer, ManagedRuntime } from "effect"
import { Client } from "pg"
import { Directory } from "../../src/layers/accounts/Directory.ts"
import { Settings } from "../../src/layers/platform/Settings.ts"
import type { Parts } from "./counters.ts"
import { cpuSeconds } from "./machine.ts"
import { newDatabase, openStage } from "./stage.ts"

const [people, signIns, atOnce] = [40, 200, 8]
/** Addresses of other people, so that the index has several levels. */
const strangers = 200_000
const [lookUps, manyCells] = [20_000, 64]
const password = "correct horse battery"
const statements = "%rungate_directory%"

export interface DirectoryServer {
  readonly url: string
  readonly pid: number
  readonly client: Client
}

/** A server of its own, which counts statements. */
export const openDirectory = async (): Promise<DirectoryServer> => {
  const stage = await openStage({ shared_preload_libraries: "pg_stat_statements" })
  const url = await newDatabase(stage)
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query("CREATE EXTENSION pg_stat_statements")
  return { url, pid: stage.postgresPid, client }
}

export interface DoorCost {
  /** Statements at the directory. */
  readonly statements: number
  /** CPU milliseconds, by part. */
  readonly cpu_ms: Readonly<Record<string, number>>
}

export interface DirectoryCost {
  readonly sign_up: DoorCost
  readonly sign_in: DoorCost
  /** CPU microseconds of the directory's server. */
  readonly look_up_us: { readonly cells_4: number; readonly cells_64: number }
  readonly bytes_per_address: number
  /** Of one process that has answered many sign-ins. */
  readonly connections_per_process: number
}

export const directoryCost = async (
  { url, pid, client }: DirectoryServer,
  cells: ReadonlyArray<string>,
  parts: Parts
): Promise<DirectoryCost> => {
  const number = async (query: string, values: ReadonlyArray<string> = []) =>
    Number((await client.query(query, [...values])).rows[0].n)

  /** `count` requests of a door, with some under way at once. */
  const measured = async (door: string, count: number, bodyOf: (n: number) => object): Promise<DoorCost> => {
    await client.query("SELECT pg_stat_statements_reset()")
    const before = [...parts].map(([name, pids]) => [name, cpuSeconds(pids)] as const)
    let next = 0
    const person = async () => {
      for (let n = next++; n < count; n = next++) {
        const answer = await fetch(`${cells[n % cells.length]}/v1/auth/${door}`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(bodyOf(n))
        })
        if (answer.status !== 200) throw new Error(`${door} answered ${answer.status}: ${await answer.text()}`)
      }
    }
    await Promise.all(Array.from({ length: atOnce }, person))
    const calls = await number("SELECT sum(calls) AS n FROM pg_stat_statements WHERE query LIKE $1", [statements])
    const spent = before.map(([name, seconds]) => {
      const millis = ((cpuSeconds(parts.get(name) ?? []) - seconds) / count) * 1000
      return [name, Number(millis.toFixed(2))] as const
    })
    return { statements: Number((calls / count).toFixed(2)), cpu_ms: Object.fromEntries(spent) }
  }

  const account = (n: number) => ({ email: `person-${n % people}@example.com`, password })
  const sign_up = await measured("sign-up", people, (n) => ({ ...account(n), organization: `of person ${n}` }))
  // Another number than that of the cells, so that most people come to a cell that is not theirs.
  const sign_in = await measured("sign-in", signIns, (n) => account(n * 7))
  const connections = await number(
    "SELECT count(*) AS n FROM pg_stat_activity WHERE application_name LIKE 'rungate directory%'"
  )

  await client.query(
    `INSERT INTO rungate_directory.addresses (address, cell)
     SELECT sha256(convert_to('stranger-' || n || '@example.com', 'UTF8')), (SELECT min(name) FROM rungate_directory.cells)
     FROM generate_series(1, ${strangers}) AS n`
  )
  await client.query("VACUUM (ANALYZE) rungate_directory.addresses")
  const bytes = await number(
    "SELECT pg_total_relation_size('rungate_directory.addresses')::float8 / (SELECT count(*) FROM rungate_directory.addresses) AS n"
  )

  const directory = ManagedRuntime.make(
    Directory.layer.pipe(Layer.provide(Settings.layerFrom({ RUNGATE_CELL: "bench", RUNGATE_DIRECTORY_URL: url })))
  )
  const lookUpMicros = async () => {
    const emails = Array.from({ length: lookUps }, (_, n) => `stranger-${(n * 9) % strangers}@example.com`)
    const before = cpuSeconds([pid])
    await directory.runPromise(
      Effect.flatMap(Directory, ({ cells: own }) =>
        Effect.forEach(emails, (email) => own?.home(email) ?? Effect.void, { concurrency: 4, discard: true })
      )
    )
    return Math.round(((cpuSeconds([pid]) - before) / lookUps) * 1e6)
  }
  const few = await lookUpMicros()
  await client.query(
    `INSERT INTO rungate_directory.cells (name, url, takes_accounts)
     SELECT 'more' || n, 'http://127.0.0.1:1', true FROM generate_series(1, ${manyCells - cells.length}) AS n`
  )
  await client.query("ANALYZE rungate_directory.cells")
  const many = await lookUpMicros()
  await directory.dispose()
  return {
    sign_up,
    sign_in,
    look_up_us: { cells_4: few, cells_64: many },
    bytes_per_address: Math.round(bytes),
    connections_per_process: connections / cells.length
  }
}
