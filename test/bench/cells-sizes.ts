/**
 * The model of growth: what so many runs a month need, and what they cost at list prices. Pure.
 *
 * It takes what `bun run bench:cells` has measured of one cell, and assumptions, each of which a reader may doubt. Nothing larger than this
 * machine was measured, so all results are extrapolated.
 */

export interface CaseFigures {
  readonly case: string
  readonly runs_per_s: number
  readonly p99_ms: number
  /** CPU milliseconds of a run, by part. */
  readonly cpu: Readonly<Record<string, number>>
  readonly cpu_total: number
  readonly of_one: number
  readonly of_one_range: ReadonlyArray<number>
  readonly wal_bytes_per_run: number
  readonly wal_syncs_per_s: number
  readonly commits_per_run: number
  readonly connections: number
  readonly busy: number
  readonly failed: number
}

type ByPart = Readonly<Record<"service" | "postgres", number>>

interface DoorFigures {
  /** Statements at the directory. */
  readonly statements: number
  readonly cpu_ms: Readonly<Record<string, number>>
}

/** What the bench writes into cells-figures.json. */
export interface Figures {
  readonly commit: string
  readonly date: string
  readonly queues: string
  readonly clients: number
  /** Cores that other programs used meanwhile. On a quiet machine nearly none. */
  readonly other_cores: number
  readonly cases: ReadonlyArray<CaseFigures>
  readonly disk_bytes_per_run: number
  readonly cell: {
    readonly idle_cores: ByPart & { readonly redis: number }
    readonly started_mb: ByPart
    readonly loaded_mb: ByPart
    readonly router_mb: number
    readonly connections: number
  }
  readonly directory: {
    readonly sign_up: DoorFigures
    readonly sign_in: DoorFigures
    readonly look_up_us: { readonly cells_4: number; readonly cells_64: number }
    readonly bytes_per_address: number
    readonly connections_per_process: number
  }
}

/** Of the bench, in a cell that is not full: turns of few runs, as at the ceiling of utilization. The model counts with it. */
export const basis = "1 cell, 16 clients"

export const assumptions = {
  peak: 5,
  ceiling: 0.6,
  hours: 730,
  runsPerCell: 1e9,
  severalProcesses: 1.5,
  concurrency: 1_000,
  providerMillis: 1,
  providerSeconds: 2,
  tlsMillis: 0.1,
  inputBytes: 1_000,
  resultBytes: 4_000,
  headBytes: 1_000,
  retentionDays: 30,
  retentionMonths: 3,
  archiveDays: 30,
  baseBackups: 2,
  diskShare: 0.7,
  standbys: 2,
  /** With three zones two of three messages leave theirs. */
  otherZone: 2 / 3,
  poolConnections: 9,
  routerConnections: 20_000,
  runsPerSignIn: 10_000,
  runsPerAddress: 100_000,
  price: {
    /** A virtual core with 4 GB for an hour: half of m7g.large. */
    core: 0.0816 / 2,
    /** A virtual core with 8 GB for an hour: half of r7g.large. */
    databaseCore: 0.1071 / 2,
    diskGb: 0.08,
    /** Beyond 3,000. */
    diskIops: 0.005,
    /** Beyond 125 MB/s. */
    diskMbPerSecond: 0.04,
    archiveGb: 0.023,
    /** Both directions. */
    zoneGb: 0.02,
    /** Up to so many GB a month, the price of one. */
    internetGb: [
      [10_000, 0.09],
      [50_000, 0.085],
      [150_000, 0.07],
      [Number.POSITIVE_INFINITY, 0.05]
    ] as ReadonlyArray<readonly [upTo: number, price: number]>
  }
}
export type Assumptions = typeof assumptions

const gb = 1e9
const processesMin = 2
const [processCores, serverCoresMin, routerCores, routersMin, redisCores, directoryCores] = [2, 4, 4, 3, 2, 2]
const [includedIops, includedMb, pageBytes] = [3_000, 125, 8_192]
/** A client that waits, and its run (docs/benchmarks.md). */
const waitingBytes = 8_600

/** Machines have 2, 4, 8, … virtual cores. */
const machineOf = (cores: number) => 2 ** Math.ceil(Math.log2(Math.max(cores, 1)))

/** What a month of traffic costs, where the price falls with the amount. */
export const tiered = (amount: number, tiers: Assumptions["price"]["internetGb"]): number => {
  let [cost, from] = [0, 0]
  for (const [upTo, price] of tiers) {
    cost += Math.max(0, Math.min(amount, upTo) - from) * price
    from = upTo
  }
  return cost
}

/** What `runs` a month need. Bytes and seconds, all cells together where nothing else is said. */
export const sizesFor = (runs: number, figures: Figures, of: Assumptions = assumptions) => {
  const one = figures.cases.find((each) => each.case === basis)
  if (one === undefined) throw new Error(`the figures have no case "${basis}"`)
  /** Cores for so many milliseconds a run at peaks, filled up to the ceiling. */
  const perSecond = runs / (of.hours * 3_600)
  const atPeaks = perSecond * of.peak
  const coresFor = (millis: number) => (atPeaks * millis) / 1_000 / of.ceiling
  const cells = Math.ceil(runs / of.runsPerCell)
  const underWay = atPeaks * of.providerSeconds
  const bodies = of.inputBytes + of.resultBytes
  const wal = one.wal_bytes_per_run + bodies

  const serviceCores = coresFor((one.cpu["service"] ?? 0) * of.severalProcesses)
  const providerCores = coresFor(of.providerMillis)
  const processes =
    cells *
    Math.max(
      processesMin,
      Math.ceil((serviceCores + providerCores) / cells / processCores),
      Math.ceil(underWay / cells / of.concurrency)
    )
  const databaseCores = coresFor((one.cpu["postgres"] ?? 0) * of.severalProcesses)
  const serverCores = Math.max(serverCoresMin, machineOf(databaseCores / cells))
  const servers = cells * (1 + of.standbys)

  const rowBytes = figures.disk_bytes_per_run * of.retentionMonths
  const stored = runs * (rowBytes + (bodies * of.retentionDays) / (of.hours / 24))
  const disk = stored / of.diskShare
  const walPeak = (atPeaks / cells) * wal

  const routersCores = coresFor((one.cpu["haproxy"] ?? 0) + of.tlsMillis)
  const routers = Math.max(
    routersMin,
    Math.ceil(routersCores / routerCores),
    Math.ceil(underWay / of.routerConnections)
  )
  const signIns = atPeaks / of.runsPerSignIn
  const { cells_4, cells_64 } = figures.directory.look_up_us
  const lookUpMicros = cells_4 + ((cells_64 - cells_4) / 60) * Math.max(0, cells - 4)
  return {
    perSecond,
    atPeaks,
    cells,
    underWay,
    serviceCores,
    providerCores,
    processes,
    serviceGb: (processes * figures.cell.loaded_mb.service * 1e6 + underWay * waitingBytes) / gb,
    databaseCores,
    serverCores,
    servers,
    stored,
    grownMonthly: runs * (figures.disk_bytes_per_run + bodies),
    diskOfServer: disk / cells,
    /** A sync for each commit, and a page for as many bytes as the log has. */
    iopsOfServer: (atPeaks / cells) * one.commits_per_run + walPeak / pageBytes,
    /** The log, and the same again for tables and indexes. */
    diskPerSecond: 2 * walPeak,
    walPerSecond: perSecond * wal,
    walMonthly: runs * wal,
    archived: (runs * wal * of.archiveDays) / (of.hours / 24) + of.baseBackups * stored,
    connections: processes * of.poolConnections,
    routersCores,
    routers,
    redisCores: coresFor(one.cpu["redis"] ?? 0),
    /** One cell needs none. */
    directoryServers: cells > 1 ? 1 + of.standbys : 0,
    addresses: runs / of.runsPerAddress,
    signIns,
    directoryBytes: (runs / of.runsPerAddress) * figures.directory.bytes_per_address,
    directoryCores: (signIns * lookUpMicros) / 1e6 / of.ceiling,
    passwordCores: (signIns * (figures.directory.sign_in.cpu_ms["service"] ?? 0)) / 1_000 / of.ceiling,
    zoneBytes: runs * (of.standbys * wal + of.otherZone * (bodies + 2 * of.headBytes + wal)),
    answerBytes: runs * (of.resultBytes + of.headBytes),
    requestBytes: runs * (of.inputBytes + of.headBytes)
  }
}
export type Sizes = ReturnType<typeof sizesFor>

/** Dollars a month, by part. What providers charge is none of them. */
export const costsOf = (sizes: Sizes, { hours, price }: Assumptions = assumptions) => {
  const cores = (count: number) => count * hours * price.core
  const databaseCores = (count: number) => count * hours * price.databaseCore
  const { servers, processes, serviceCores, providerCores } = sizes
  const ofProviders = providerCores / (serviceCores + providerCores)
  const internet = tiered((sizes.answerBytes + sizes.requestBytes) / gb, price.internetGb)
  const toProviders = sizes.requestBytes / (sizes.answerBytes + sizes.requestBytes)
  return {
    service: cores(processes * processCores) * (1 - ofProviders),
    postgres: databaseCores(servers * sizes.serverCores),
    disks:
      (servers * sizes.diskOfServer * price.diskGb) / gb +
      servers * Math.max(0, sizes.iopsOfServer - includedIops) * price.diskIops +
      servers * Math.max(0, sizes.diskPerSecond / 1e6 - includedMb) * price.diskMbPerSecond,
    archive: (sizes.archived / gb) * price.archiveGb,
    zones: (sizes.zoneBytes / gb) * price.zoneGb,
    answers: internet * (1 - toProviders),
    redis: cores(sizes.cells * 2 * redisCores),
    directory:
      databaseCores(sizes.directoryServers * machineOf(Math.max(directoryCores, sizes.directoryCores))) +
      cores(sizes.passwordCores),
    router: cores(sizes.routers * routerCores),
    providers: cores(processes * processCores) * ofProviders + internet * toProviders
  }
}
export type Costs = ReturnType<typeof costsOf>

/** Dollars a month of a cell that does nothing, without its disks. */
export const smallestCellOf = ({ hours, standbys, price }: Assumptions = assumptions) =>
  hours *
  ((1 + standbys) * serverCoresMin * price.databaseCore + (processesMin * processCores + 2 * redisCores) * price.core)

export const totalOf = (costs: Costs): number => Object.values(costs).reduce((a, b) => a + b, 0)
