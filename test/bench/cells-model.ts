/**
 * The tables of docs/scaling.md about cells and growth: what was measured, what is assumed, what follows, and what matters most.
 *
 * `bun test/bench/cells-model.ts` writes them from cells-figures.json, which `bun run bench:cells --renew` measures anew. A test compares the page
 * with them.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { markdownTable } from "../../scripts/settings.ts"
import {
  type Assumptions,
  assumptions,
  type Costs,
  costsOf,
  type Figures,
  type Sizes,
  sizesFor,
  smallestCellOf,
  totalOf
} from "./cells-sizes.ts"

export const figuresPath = join(import.meta.dir, "cells-figures.json")
export const page = join(import.meta.dir, "..", "..", "docs", "scaling.md")

/** Three digits that count, and no more behind the point than needed. */
export const rounded = (value: number): string =>
  Number(value.toPrecision(3)).toLocaleString("en-US", { maximumFractionDigits: value < 0.1 ? 4 : 2 })

/** An amount with its unit: 1,234,000,000 bytes are 1.23 GB. */
export const bytes = (value: number): string => {
  const units = ["B", "kB", "MB", "GB", "TB", "PB"]
  const at = Math.max(0, Math.min(units.length - 1, Math.floor(Math.log10(Math.max(value, 1)) / 3)))
  return `${rounded(value / 1_000 ** at)} ${units[at]}`
}

const cpuOf = (cpu: Readonly<Record<string, number>>) =>
  ["service", "postgres", "redis", "haproxy"].map((part) => (cpu[part] === undefined ? "-" : cpu[part].toFixed(2)))

const casesTable = ({ commit, date, other_cores, cases }: Figures) =>
  markdownTable([
    [
      `commit ${commit}, ${date}; other programs used ${other_cores} cores`,
      ...["runs/s", "p99 ms", "CPU ms of a run: service + PostgreSQL + Redis + HAProxy", "× 1 cell", "WAL of a run"],
      ...["commits of a run", "syncs/s", "connections"]
    ],
    ...cases.map((one) => [
      one.case,
      rounded(one.runs_per_s),
      rounded(one.p99_ms),
      cpuOf(one.cpu).join(" + "),
      `${one.of_one} (${one.of_one_range.join(" to ")})`,
      bytes(one.wal_bytes_per_run),
      String(one.commits_per_run),
      String(one.wal_syncs_per_s),
      String(one.connections)
    ])
  ])

const cellTable = ({ cell, directory, disk_bytes_per_run }: Figures) => {
  const { idle_cores: idle, started_mb: started, loaded_mb: loaded, router_mb } = cell
  const door = (of: Figures["directory"]["sign_in"]) =>
    `${rounded(of.statements)}; ${rounded(of.cpu_ms["directory"] ?? 0)} ms; ${rounded(of.cpu_ms["service"] ?? 0)} ms`
  return markdownTable([
    ["measured of one cell, and of the directory", "value"],
    ["CPU without a run: service, PostgreSQL, Redis", `${idle.service} + ${idle.postgres} + ${idle.redis} of a core`],
    ["memory after the start: service, PostgreSQL", `${started.service} + ${started.postgres} MB`],
    ["memory after load: service, PostgreSQL; HAProxy", `${loaded.service} + ${loaded.postgres} MB; ${router_mb} MB`],
    ["disk for a run, with indexes", bytes(disk_bytes_per_run)],
    ["a sign-up: statements at the directory; its CPU; CPU of the services", door(directory.sign_up)],
    ["a sign-in: the same", door(directory.sign_in)],
    [
      "CPU of a look-up with 4 and with 64 cells",
      `${directory.look_up_us.cells_4} and ${directory.look_up_us.cells_64} µs`
    ],
    ["disk for an address in the directory", bytes(directory.bytes_per_address)]
  ])
}

const assumptionsTable = (of: Assumptions) => {
  const { price } = of
  return markdownTable([
    ["assumed", "value"],
    ["runs of one cell a month", rounded(of.runsPerCell)],
    ["peaks; highest utilization at peaks", `${of.peak} times the average; ${of.ceiling * 100} %`],
    ["CPU of service and PostgreSQL in a cell of several processes", `${of.severalProcesses} times the measured`],
    ["a provider's answer: time; CPU for TLS and JSON", `${of.providerSeconds} s; ${of.providerMillis} ms`],
    ["CPU of HAProxy for TLS", `${of.tlsMillis} ms`],
    ["input, result, head of a message", [of.inputBytes, of.resultBytes, of.headBytes].map(bytes).join(", ")],
    [
      "kept: inputs and results; runs and ledger; archived WAL, and base backups",
      `${of.retentionDays} days; ${of.retentionMonths} months; ${of.archiveDays} days, and ${of.baseBackups}`
    ],
    ["replicas, in three zones", `a primary and ${of.standbys} synchronous standbys of its size`],
    ["a disk is full to", `${of.diskShare * 100} %`],
    [
      "runs that a process has under way (`RUNGATE_CONCURRENCY`); its connections",
      `${rounded(of.concurrency)}; ${of.poolConnections}`
    ],
    ["connections of one HAProxy (`maxconn`)", rounded(of.routerConnections)],
    ["runs for each sign-in; for each e-mail address", `${rounded(of.runsPerSignIn)}; ${rounded(of.runsPerAddress)}`],
    ["price of a virtual core for an hour with 4 GB (m7g), with 8 GB (r7g)", `$${price.core}, $${price.databaseCore}`],
    [
      "price of a month of gp3: a GB; an IOPS beyond 3,000; a MB/s beyond 125",
      `$${price.diskGb}; $${price.diskIops}; $${price.diskMbPerSecond}`
    ],
    [
      "price of a GB: a month in S3; between zones; to the internet",
      `$${price.archiveGb}; $${price.zoneGb}; $${price.internetGb.map(([, one]) => one).join(", ")}`
    ],
    [
      `so the smallest cell costs a month, without disks: ${1 + of.standbys} servers, 2 processes, 2 machines of Redis`,
      `$${rounded(smallestCellOf(of))}`
    ]
  ])
}

const months = [1e9, 1e10, 1e11]

const sizeRows: ReadonlyArray<readonly [name: string, value: (of: Sizes) => string]> = [
  ["runs/s: average, peak", (of) => `${rounded(of.perSecond)}, ${rounded(of.atPeaks)}`],
  ["cells", (of) => rounded(of.cells)],
  ["service: cores; for providers' answers", (of) => `${rounded(of.serviceCores)}; ${rounded(of.providerCores)}`],
  ["service: processes of 2 cores; memory", (of) => `${rounded(of.processes)}; ${bytes(of.serviceGb * 1e9)}`],
  ["PostgreSQL: cores of the primaries", (of) => rounded(of.databaseCores)],
  [
    "PostgreSQL: servers; cores and memory of each",
    (of) => `${rounded(of.servers)}; ${of.serverCores}, ${of.serverCores * 8} GB`
  ],
  ["storage of the primaries; growth a month", (of) => `${bytes(of.stored)}; ${bytes(of.grownMonthly)}`],
  [
    "disk of one server: size; IOPS; bytes a second",
    (of) => `${bytes(of.diskOfServer)}; ${rounded(of.iopsOfServer)}; ${bytes(of.diskPerSecond)}`
  ],
  [
    "WAL: a second, a month; archive",
    (of) => `${bytes(of.walPerSecond)}, ${bytes(of.walMonthly)}; ${bytes(of.archived)}`
  ],
  ["connections to the primaries, at most", (of) => rounded(of.connections)],
  ["runs under way at peaks", (of) => rounded(of.underWay)],
  ["HAProxy: cores; machines of 4 cores", (of) => `${rounded(of.routersCores)}; ${rounded(of.routers)}`],
  ["Redis: cores of all cells", (of) => rounded(of.redisCores)],
  [
    "directory: servers; rows; size",
    (of) => `${of.directoryServers}; ${rounded(of.addresses)}; ${bytes(of.directoryBytes)}`
  ],
  [
    "directory: look-ups/s at peaks; cores; cores for passwords",
    (of) => `${rounded(of.signIns)}; ${rounded(of.directoryCores)}; ${rounded(of.passwordCores)}`
  ],
  ["network between zones a month", (of) => bytes(of.zoneBytes)]
]

const costRows: ReadonlyArray<readonly [name: string, part: keyof Costs]> = [
  ["service", "service"],
  ["PostgreSQL", "postgres"],
  ["disks", "disks"],
  ["archive", "archive"],
  ["network between zones", "zones"],
  ["answers to the internet", "answers"],
  ["Redis, two machines for each cell", "redis"],
  ["directory and passwords", "directory"],
  ["HAProxy", "router"],
  ["providers' answers: CPU and requests", "providers"]
]

const sizesTable = (figures: Figures) => {
  const all = months.map((runs) => {
    const sizes = sizesFor(runs, figures)
    return { runs, sizes, costs: costsOf(sizes) }
  })
  const dollars = (value: number) => `$${value.toFixed(2)}`
  return markdownTable([
    ["a month of", ...months.map((runs) => `${rounded(runs / 1e9)} billion runs`)],
    ...sizeRows.map(([name, value]) => [name, ...all.map(({ sizes }) => value(sizes))]),
    ...costRows.map(([name, part]) => [
      `1 million runs: ${name}`,
      ...all.map(({ runs, costs }) => dollars(costs[part] / (runs / 1e6)))
    ]),
    ["**1 million runs: all**", ...all.map(({ runs, costs }) => dollars(totalOf(costs) / (runs / 1e6)))]
  ])
}

const changes: ReadonlyArray<readonly [name: string, of: Partial<Assumptions>]> = [
  ["runs and ledger are kept for 12 months, not 3", { retentionMonths: 12 }],
  ["a result has 40 kB, not 4", { resultBytes: 40_000 }],
  ["one standby, not two", { standbys: 1 }],
  ["several processes take 3 times the CPU, not 1.5", { severalProcesses: 3 }],
  ["peaks are 10 times the average, not 5", { peak: 10 }],
  ["a provider's answer takes 10 s, not 2", { providerSeconds: 10 }],
  ["a provider's answer takes 3 ms of CPU, not 1", { providerMillis: 3 }]
]

/** The largest effect first. */
const changesTable = (figures: Figures) => {
  const runs = 1e11
  const costOf = (of: Assumptions) => totalOf(costsOf(sizesFor(runs, figures, of), of))
  const usual = costOf(assumptions)
  const rows = changes
    .map(([name, change]) => ({ name, times: costOf({ ...assumptions, ...change }) / usual }))
    .sort((a, b) => Math.abs(Math.log(b.times)) - Math.abs(Math.log(a.times)))
  return markdownTable([
    ["if, with 100 billion runs a month,", "1 million runs cost"],
    ...rows.map(({ name, times }) => [name, `${times.toFixed(2)} times as much`])
  ])
}

/** Each table by how its first line begins. */
const tables: ReadonlyArray<readonly [begin: string, text: (figures: Figures) => string]> = [
  ["commit ", casesTable],
  ["measured of one cell", cellTable],
  ["assumed", () => assumptionsTable(assumptions)],
  ["a month of", sizesTable],
  ["if, with", changesTable]
]

/** The page with the tables of these figures. */
export const written = (text: string, figures: Figures): string =>
  tables.reduce((before, [begin, table]) => {
    const old = new RegExp(`^\\| ${begin}[^]*?\\|(?=\\n\\n|\\n*$(?![^]))`, "m")
    if (!old.test(before)) throw new Error(`the page has no table that begins with "${begin}"`)
    return before.replace(old, () => table(figures))
  }, text)

export const storedFigures = (): Figures => JSON.parse(readFileSync(figuresPath, "utf8"))

export const renewPage = () => writeFileSync(page, written(readFileSync(page, "utf8"), storedFigures()))

if (import.meta.main) renewPage()
