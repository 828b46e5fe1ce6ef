/**
 * `bun run bench:cells`: what one, two and four cells cost, behind the router that ships (deploy/cells), and what their directory costs.
 *
 * Each cell has a durable PostgreSQL server and one service process of its own; all share one Redis. They all run on the cores of this
 * machine, so more cells do not give more runs/s here: the figures say whether the CPU of a run stays the same, and what a cell costs that
 * has nothing to do. The first rows are an installation without cells, and one cell without the router. The cases take turns, and ratios are of
 * the same round. `--only postgres`: queues without Redis. `--clients`: of each cell. `--renew` writes cells-figures.json, and the tables of
 * docs/scaling.md from it (cells-model.ts).
 */
import { writeFileSync } from "node:fs"
import { parseArgs } from "node:util"
import { Client } from "pg"
import { hasHaproxy, startHaproxy } from "../chaos/haproxy.ts"
import { directoryCost, openDirectory } from "./cells-directory.ts"
import { figuresPath, renewPage } from "./cells-model.ts"
import { basis, type Figures } from "./cells-sizes.ts"
import { type Cost, connectionsOf, costOf, idleCores, type Parts, sizesOf, sum } from "./counters.ts"
import { busySeconds, cpuSeconds, treeMb } from "./machine.ts"
import { drained, fund, loadIn, newDatabase, openStage, program, type Running, type Stage, start } from "./stage.ts"

const { values: options } = parseArgs({
  options: {
    only: { type: "string", default: "redis" },
    seconds: { type: "string", default: "3" },
    clients: { type: "string", default: "64" },
    rounds: { type: "string", default: "3" },
    json: { type: "boolean", default: false },
    renew: { type: "boolean", default: false }
  }
})
const [seconds, clients, rounds] = [Number(options.seconds), Number(options.clients), Number(options.rounds)]
/** Each process compiles its code in its first thousands of runs. A busy machine needs more than one load for them. */
const warmUp = { seconds: 3, runs: 4_000, loads: 3 }
const idleMillis = 5_000
/** Of the case that the model counts with: turns of few runs, as in a cell that is not full. */
const fewClients = 16
const wallets = 100
const main = new URL("../../src/main.ts", import.meta.url).pathname
const progress = (text: string) => process.stderr.write(`${text}\n`)

const refuse = (why: string): never => {
  progress(`bench:cells: ${why}`)
  process.exit(1)
}
if (!hasHaproxy) refuse("install haproxy, which is the router of the cells")
if (options.only !== "redis" && options.only !== "postgres") refuse("--only is redis or postgres")

interface Cell {
  /** Empty for the installation without cells. */
  readonly name: string
  readonly stage: Stage
  readonly database: string
  readonly running: Running
  readonly keys: ReadonlyArray<string>
  readonly client: Client
}

const command = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>>) => {
  const { exitCode, stdout, stderr } = Bun.spawnSync([process.execPath, main, ...args], {
    env: { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", ...env }
  })
  if (exitCode !== 0) throw new Error(`rungate ${args.join(" ")}: ${stdout}${stderr}`)
  return stdout.toString().trim()
}

progress("starting the servers")
const directory = await openDirectory()
const open = async (name: string): Promise<Cell> => {
  const stage = await openStage()
  const database = await newDatabase(stage)
  const env: Record<string, string> = {
    ...{ DATABASE_URL: database, PORT: "0", RUNGATE_RATE_LIMIT: "0" },
    ...(options.only === "redis" && stage.redis !== undefined ? { REDIS_URL: stage.redis } : {}),
    ...(name === "" ? {} : { RUNGATE_CELL: name, RUNGATE_DIRECTORY_URL: directory.url, RUNGATE_TRUSTED_PROXIES: "1" })
  }
  const running = await start([await program(), "serve"], env)
  const keys = await fund(database, wallets, 2, name)
  if (name !== "") command(["admin", "cells", "add", "--url", running.url], env)
  const client = new Client({ connectionString: database })
  await client.connect()
  return { name, stage, database, running, keys, client }
}
const plain = await open("")
if (options.only === "redis" && plain.stage.redis === undefined)
  refuse("install redis-server, or measure queues in PostgreSQL with --only postgres")
const cells: Array<Cell> = []
for (const name of ["a", "b", "c", "d"]) cells.push(await open(name))
const router = await startHaproxy(Object.fromEntries(cells.map(({ name, running }) => [name, running.url])))

const partsOf = (some: ReadonlyArray<Cell>, routed: boolean): Parts => {
  const parts = new Map([
    ["service", some.map(({ running }) => running.pid)],
    ["postgres", some.map(({ stage }) => stage.postgresPid)]
  ])
  const redis = some[0]?.stage.redisPid ?? null
  if (options.only === "redis" && redis !== null) parts.set("redis", [redis])
  if (routed) parts.set("haproxy", [router.pid]).set("directory", [directory.pid])
  return parts
}
const memoryOf = ({ running, stage }: Cell) => ({
  service: treeMb([running.pid]),
  postgres: treeMb([stage.postgresPid])
})

interface Case {
  readonly name: string
  readonly of: ReadonlyArray<Cell>
  readonly routed: boolean
  readonly clients: number
}
const one = cells.slice(0, 1)
const cases: ReadonlyArray<Case> = [
  { name: "no cells, direct", of: [plain], routed: false, clients },
  { name: "1 cell, direct", of: one, routed: false, clients },
  { name: "1 cell", of: one, routed: true, clients },
  { name: "2 cells", of: cells.slice(0, 2), routed: true, clients },
  { name: "4 cells", of: cells, routed: true, clients },
  { name: basis, of: one, routed: true, clients: fewClients }
]
const base = "1 cell"

/** One key of each cell in turn, so each client goes from cell to cell. */
const keysOf = (some: ReadonlyArray<Cell>) =>
  Array.from({ length: wallets }, (_, n) => some.flatMap(({ keys }) => keys[n] ?? [])).flat()

const cost = ({ of, routed, clients: each }: Case, idle: Readonly<Record<string, number>>): Promise<Cost> => {
  // Each of several cells has few of the runs here, and idles as long as one alone.
  const ofCells = Object.entries(idle).map(([part, value]) => [part, (value * of.length) / cells.length])
  const servers = of.map(({ client }) => client)
  const url = routed ? router.url : (of[0]?.running.url ?? "")
  return costOf(
    partsOf(of, routed),
    servers,
    () => loadIn(url, keysOf(of), each * of.length, seconds),
    () => drained(servers),
    Object.fromEntries(ofCells)
  )
}

const started = cells.map(memoryOf)
const emptyBytes = sum((await sizesOf(plain.client)).values())
// Code that is not compiled yet costs several times as much, so each process gets the same warm-up, alone.
for (const { name, running, keys } of [plain, ...cells]) {
  progress(`warming up ${name === "" ? "the installation without cells" : `the cell ${name}`}`)
  for (let [runs, load] = [0, 0]; runs < warmUp.runs && load < warmUp.loads; load++)
    runs += (await loadIn(running.url, keys, clients, warmUp.seconds)).runs
}
await drained([plain, ...cells].map(({ client }) => client))
progress("idle")
const idle = await idleCores(partsOf(cells, true), idleMillis)

const own = [process.pid, router.pid, directory.pid, ...[plain, ...cells].map(({ stage }) => stage.postgresPid)]
/** Of programs that are none of this bench. */
const ofOthers = () => busySeconds() - cpuSeconds(own)
const costs = new Map<string, Array<Cost>>()
const [others, began] = [ofOthers(), performance.now()]
for (let round = 1; round <= rounds; round++)
  for (const one of cases) {
    progress(`round ${round} of ${rounds}: ${one.name}`)
    costs.set(one.name, [...(costs.get(one.name) ?? []), await cost(one, idle)])
  }

const otherCores = Number(((ofOthers() - others) / ((performance.now() - began) / 1_000)).toFixed(2))

const middle = (values: ReadonlyArray<number>) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0
const median = (all: ReadonlyArray<Cost>) => {
  const of = (field: keyof Omit<Cost, "cpu" | "failure">) => middle(all.map((each) => each[field]))
  return {
    runs_per_s: of("runs_per_s"),
    p99_ms: of("p99_ms"),
    cpu: Object.fromEntries(
      Object.keys(all[0]?.cpu ?? {}).map((part) => [part, middle(all.map(({ cpu }) => cpu[part] ?? 0))])
    ),
    cpu_total: of("cpu_total"),
    wal_bytes_per_run: of("wal_bytes_per_run"),
    wal_syncs_per_s: of("wal_syncs_per_s"),
    commits_per_run: of("commits_per_run"),
    connections: of("connections"),
    busy: of("busy"),
    failed: sum(all.map(({ failed }) => failed))
  }
}
const rows = cases.map(({ name }) => {
  const all = costs.get(name) ?? []
  const ratios = all.map(({ cpu_total }, at) => cpu_total / (costs.get(base)?.[at]?.cpu_total ?? cpu_total))
  return {
    case: name,
    ...median(all),
    of_one: Number(middle(ratios).toFixed(2)),
    of_one_range: [Math.min(...ratios), Math.max(...ratios)].map((ratio) => Number(ratio.toFixed(2)))
  }
})
const failure = [...costs.values()].flat().find(({ failed }) => failed > 0)

progress("storage, memory, and sign-ins")
const { rows: counted } = await plain.client.query("SELECT count(*)::int AS runs FROM runs")
const disk = Math.round((sum((await sizesOf(plain.client)).values()) - emptyBytes) / counted[0].runs)
const loaded = cells.map(memoryOf)
const each = (all: ReadonlyArray<Readonly<Record<"service" | "postgres", number>>>) => ({
  service: Math.round(sum(all.map(({ service }) => service)) / all.length),
  postgres: Math.round(sum(all.map(({ postgres }) => postgres)) / all.length)
})
const share = (value = 0) => Number((value / cells.length).toFixed(4))
const cell = {
  idle_cores: { service: share(idle["service"]), postgres: share(idle["postgres"]), redis: share(idle["redis"]) },
  started_mb: each(started),
  loaded_mb: each(loaded),
  router_mb: treeMb([router.pid]),
  connections: await connectionsOf(one.map(({ client }) => client))
}
const signing = await directoryCost(
  directory,
  cells.map(({ running }) => running.url),
  partsOf(cells, true)
)
const git = (...args: ReadonlyArray<string>) =>
  Bun.spawnSync(["git", ...args])
    .stdout.toString()
    .trim()
const figures: Figures = {
  commit: git("rev-parse", "--short=8", "HEAD"),
  date: new Date().toISOString().slice(0, 10),
  queues: options.only,
  clients,
  other_cores: otherCores,
  cases: rows,
  disk_bytes_per_run: disk,
  cell,
  directory: signing
}

progress("auditing the books")
const audits = [plain, ...cells].map(({ name, database }) => {
  const verdict = /^The books add up.*/m.exec(command(["audit"], { DATABASE_URL: database }))?.[0]
  return `${name === "" ? "no cells" : `cell ${name}`}: ${verdict}`
})
if (options.json) console.log(JSON.stringify(figures, null, 2))
else {
  console.log(
    `PostgreSQL durable, queues in ${options.only}; ${clients} clients and ${wallets} wallets a cell, median of ${rounds} rounds of ${seconds} s, ${navigator.hardwareConcurrency} cores, of which other programs used ${otherCores}`
  )
  for (const row of rows) {
    const cpu = Object.entries(row.cpu).map(([part, value]) => `${part} ${value}`)
    console.log(
      `${row.case.padEnd(20)} ${String(row.runs_per_s).padStart(5)} runs/s  p99 ${row.p99_ms} ms  CPU ${row.cpu_total} s/1000 (× ${row.of_one} of one cell, ${row.of_one_range.join(" to ")}: ${cpu.join(", ")})  ${row.wal_bytes_per_run} B of WAL, ${row.commits_per_run} commits a run  ${row.wal_syncs_per_s} syncs/s  ${row.connections} connections  machine busy ${Math.round(row.busy * 100)} %`
    )
  }
  console.log(`a cell: ${JSON.stringify(cell)}; ${disk} B on disk a run`)
  console.log(`the directory: ${JSON.stringify(signing)}`)
}
// Beside the JSON these are no part of it.
for (const line of audits) (options.json ? progress : console.log)(line)
if (failure !== undefined) progress(`FAILED ${failure.failed} runs: ${failure.failure}`)
if (options.renew && failure === undefined && options.only === "redis") {
  // Short lists in one line, as the formatter has them.
  const text = JSON.stringify(figures, null, 2).replace(/\[\s+([\d.]+),\s+([\d.]+)\s+\]/g, "[$1, $2]")
  writeFileSync(figuresPath, `${text}\n`)
  renewPage()
}
await Promise.all([plain, ...cells].map(({ running }) => running.stop()))
process.exit(failure === undefined ? 0 : 1)
