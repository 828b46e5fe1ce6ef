/**
 * What a load cost: CPU of each part for 1,000 runs, and what the PostgreSQL servers count meanwhile.
 *
 * For the benches of several processes and of several cells. `settled` is awaited before the second reading, so background work can count too.
 */
import type { Client } from "pg"
import type { LoadResult } from "./load.ts"
import { busySeconds, cpuSeconds } from "./machine.ts"

/** The processes of each part, with all that they have started. */
export type Parts = ReadonlyMap<string, ReadonlyArray<number>>

export const sum = (values: Iterable<number>) => [...values].reduce((a, b) => a + b, 0)

const cores = navigator.hardwareConcurrency

/** What PostgreSQL counts, all of it growing. */
interface Counters {
  /** Transactions that wrote, by their ids. */
  readonly commits: number
  readonly walBytes: number
  readonly walSyncs: number
}

const countersOf = async (client: Client): Promise<Counters> => {
  const { rows } = await client.query(`
    SELECT pg_snapshot_xmax(pg_current_snapshot())::text::float8 AS commits, pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 AS bytes,
           (SELECT sum(fsyncs)::float8 FROM pg_stat_io WHERE object = 'wal') AS syncs`)
  return { commits: rows[0].commits, walBytes: rows[0].bytes, walSyncs: rows[0].syncs }
}

/** Of all servers together. */
const countersOfAll = async (servers: ReadonlyArray<Client>): Promise<Counters> => {
  const all = await Promise.all(servers.map(countersOf))
  return {
    commits: sum(all.map(({ commits }) => commits)),
    walBytes: sum(all.map(({ walBytes }) => walBytes)),
    walSyncs: sum(all.map(({ walSyncs }) => walSyncs))
  }
}

/** Connections of clients, of all servers together. */
export const connectionsOf = async (servers: ReadonlyArray<Client>): Promise<number> => {
  const counts = servers.map(async (client) => {
    const { rows } = await client.query(
      "SELECT count(*)::int AS count FROM pg_stat_activity WHERE backend_type = 'client backend'"
    )
    return Number(rows[0].count)
  })
  return sum(await Promise.all(counts))
}

/** Bytes of each table with its indexes. */
export const sizesOf = async (client: Client): Promise<ReadonlyMap<string, number>> => {
  const { rows } = await client.query(`
    SELECT c.relname AS table, pg_total_relation_size(c.oid)::float8 AS bytes FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'r' AND n.nspname = 'public'`)
  return new Map(rows.map(({ table, bytes }) => [table, bytes]))
}

const spentOf = (parts: Parts) => new Map([...parts].map(([name, pids]) => [name, cpuSeconds(pids)]))

/** Cores that each part takes without a run. */
export const idleCores = async (parts: Parts, millis: number): Promise<Readonly<Record<string, number>>> => {
  const before = spentOf(parts)
  await Bun.sleep(millis)
  return Object.fromEntries(
    [...spentOf(parts)].map(([name, value]) => [name, (value - (before.get(name) ?? 0)) / (millis / 1000)])
  )
}

export interface Cost {
  readonly runs_per_s: number
  readonly p99_ms: number
  /** CPU seconds per 1,000 runs, by part. */
  readonly cpu: Readonly<Record<string, number>>
  readonly cpu_total: number
  readonly commits_per_run: number
  readonly commits_per_s: number
  readonly wal_syncs_per_s: number
  readonly wal_bytes_per_run: number
  readonly connections: number
  /** Share of all cores that this machine was busy, the load and other programs included. */
  readonly busy: number
  /** Share of all cores that the parts had. The load and other programs had the rest. */
  readonly ours: number
  readonly failed: number
  readonly failure: string | null
}

/** `idle`: cores that each part would take without the load (`idleCores`), which is not the runs' cost. */
export const costOf = async (
  parts: Parts,
  servers: ReadonlyArray<Client>,
  load: () => Promise<LoadResult>,
  settled = async () => {},
  idle: Readonly<Record<string, number>> = {}
): Promise<Cost> => {
  const [before, counted, busyBefore, began] = [
    spentOf(parts),
    await countersOfAll(servers),
    busySeconds(),
    performance.now()
  ]
  const result = await load()
  await settled()
  const [after, counts, busyAfter, took] = [
    spentOf(parts),
    await countersOfAll(servers),
    busySeconds(),
    (performance.now() - began) / 1000
  ]
  const ofRuns = [...after].map(([name, value]) => {
    const spent = value - (before.get(name) ?? 0) - (idle[name] ?? 0) * took
    return [name, Number(((Math.max(0, spent) / result.runs) * 1000).toFixed(3))] as const
  })
  const cpu = Object.fromEntries(ofRuns)
  const cpu_total = Number(sum(Object.values(cpu)).toFixed(3))
  return {
    runs_per_s: Math.round(result.runs / result.seconds),
    p99_ms: Math.round(result.p99),
    cpu,
    cpu_total,
    commits_per_run: Number(((counts.commits - counted.commits) / result.runs).toFixed(2)),
    commits_per_s: Math.round((counts.commits - counted.commits) / result.seconds),
    wal_syncs_per_s: Math.round((counts.walSyncs - counted.walSyncs) / result.seconds),
    wal_bytes_per_run: Math.round((counts.walBytes - counted.walBytes) / result.runs),
    connections: await connectionsOf(servers),
    busy: Number(((busyAfter - busyBefore) / (took * cores)).toFixed(2)),
    ours: Number(((cpu_total * result.runs) / 1000 / (took * cores)).toFixed(2)),
    failed: result.failed,
    failure: result.failure
  }
}
