/** The model of growth (test/bench/cells-sizes.ts) computes what it says, and docs/scaling.md shows what it computes. */
import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { bytes, page, rounded, storedFigures, written } from "../bench/cells-model.ts"
import {
  assumptions,
  basis,
  costsOf,
  type Figures,
  sizesFor,
  smallestCellOf,
  tiered,
  totalOf
} from "../bench/cells-sizes.ts"

const door = { statements: 1, cpu_ms: { service: 100, directory: 0.1 } }
const figures: Figures = {
  ...{ commit: "00000000", date: "2026-01-01", queues: "redis", clients: 64, other_cores: 0.1 },
  cases: [
    {
      ...{ case: basis, runs_per_s: 1_000, p99_ms: 10, cpu_total: 2.2, of_one: 1, of_one_range: [1, 1] },
      cpu: { service: 1, postgres: 1, redis: 0.1, haproxy: 0.1 },
      ...{ wal_bytes_per_run: 5_000, wal_syncs_per_s: 100, commits_per_run: 0.5, connections: 8, busy: 1, failed: 0 }
    }
  ],
  disk_bytes_per_run: 5_000,
  cell: {
    idle_cores: { service: 0.01, postgres: 0, redis: 0 },
    started_mb: { service: 100, postgres: 50 },
    loaded_mb: { service: 200, postgres: 100 },
    ...{ router_mb: 10, connections: 5 }
  },
  directory: {
    ...{ sign_up: door, sign_in: door, look_up_us: { cells_4: 40, cells_64: 100 } },
    ...{ bytes_per_address: 100, connections_per_process: 1 }
  }
}
/** 1,000 runs/s on average, and 5,000 at peaks. */
const runs = 1_000 * assumptions.hours * 3_600
const of = { ...assumptions, runsPerCell: runs / 2 }
const sizes = sizesFor(runs, figures, of)

test("cores are those of peaks at 60 %, and more for several processes", () => {
  expect([sizes.perSecond, sizes.atPeaks, sizes.cells, sizes.underWay]).toEqual([1_000, 5_000, 2, 10_000])
  expect(sizes.serviceCores).toBeCloseTo((5_000 * 1 * 1.5) / 1_000 / 0.6)
  expect(sizes.databaseCores).toBeCloseTo(12.5)
  expect(sizes.providerCores).toBeCloseTo(5 / 0.6)
  expect(sizes.routersCores).toBeCloseTo((5 * 0.2) / 0.6)
  // (12.5 + 8.3) / 2 cells / 2 cores: 6 in each cell, of which 5 would do for the runs under way.
  expect(sizes.processes).toBe(12)
  expect([sizes.serverCores, sizes.servers, sizes.routers, sizes.connections]).toEqual([8, 6, 3, 108])
})

test("a process more for each 1,000 runs under way, and a router for each 20,000", () => {
  const slow = sizesFor(runs, figures, { ...of, providerSeconds: 20 })
  expect([slow.underWay, slow.processes, slow.routers]).toEqual([100_000, 100, 5])
})

test("storage: rows for three months, inputs and results for 30 days, on each of three servers", () => {
  expect(sizes.stored).toBeCloseTo(runs * (5_000 * 3 + (5_000 * 30) / (730 / 24)), -3)
  expect(sizes.diskOfServer).toBeCloseTo(sizes.stored / 0.7 / 2, -3)
  expect(sizes.grownMonthly).toBe(runs * 10_000)
  expect([sizes.walPerSecond, sizes.walMonthly]).toEqual([1e7, runs * 10_000])
  expect(sizes.diskPerSecond).toBe(2 * 2_500 * 10_000)
  expect(sizes.iopsOfServer).toBeCloseTo(2_500 * 0.5 + (2_500 * 10_000) / 8_192)
  expect(sizes.zoneBytes).toBeCloseTo(runs * (2 * 10_000 + (2 / 3) * (5_000 + 2_000 + 10_000)), -3)
})

test("the directory has a look-up for each sign-in, which more cells make dearer; one cell has no directory", () => {
  expect([sizes.signIns, sizes.directoryServers]).toEqual([0.5, 3])
  expect(sizes.directoryCores).toBeCloseTo((0.5 * 40) / 1e6 / 0.6)
  const many = sizesFor(runs, figures, { ...of, runsPerCell: runs / 34 })
  expect(many.directoryCores).toBeCloseTo((0.5 * 70) / 1e6 / 0.6)
  expect(sizesFor(runs, figures, { ...of, runsPerCell: runs }).directoryServers).toBe(0)
})

test("each part costs its list price, and providers' answers are apart", () => {
  const costs = costsOf(sizes, of)
  expect(costs.postgres).toBeCloseTo(6 * 8 * 730 * 0.05355)
  const [processes, ofProviders] = [12 * 2 * 730 * 0.0408, 5 / (5 + 7.5)]
  expect(costs.service).toBeCloseTo(processes * (1 - ofProviders))
  const [answers, requests] = [(runs * 5_000) / 1e9, (runs * 2_000) / 1e9]
  const internet = tiered(answers + requests, of.price.internetGb)
  expect(costs.answers).toBeCloseTo((internet * 5) / 7)
  expect(costs.providers).toBeCloseTo(processes * ofProviders + (internet * 2) / 7)
  expect(costs.zones).toBeCloseTo((sizes.zoneBytes / 1e9) * 0.02)
  expect(costs.disks).toBeCloseTo(6 * ((sizes.diskOfServer / 1e9) * 0.08 + (sizes.iopsOfServer - 3_000) * 0.005))
  expect(costs.router).toBeCloseTo(3 * 4 * 730 * 0.0408)
  expect(smallestCellOf(of)).toBeCloseTo(730 * (3 * 4 * 0.05355 + 8 * 0.0408))
  expect(totalOf(costs)).toBeCloseTo(Object.values(costs).reduce((a, b) => a + b, 0))
})

test("traffic is cheaper beyond each limit", () => {
  const { internetGb } = assumptions.price
  expect(tiered(10_000, internetGb)).toBeCloseTo(900)
  expect(tiered(60_000, internetGb)).toBeCloseTo(900 + 3_400 + 700)
  expect(tiered(200_000, internetGb)).toBeCloseTo(900 + 3_400 + 7_000 + 2_500)
})

test("numbers have three digits that count, and amounts the unit that fits", () => {
  expect([1_234_567, 12.345, 1, 0.012_34].map(rounded)).toEqual(["1,230,000", "12.3", "1", "0.0123"])
  expect([999, 1_500, 2.5e12].map(bytes)).toEqual(["999 B", "1.5 kB", "2.5 TB"])
})

describe("docs/scaling.md", () => {
  const text = readFileSync(page, "utf8")

  test("shows the model of the measured figures: bun test/bench/cells-model.ts writes it", () => {
    expect(text).toBe(written(text, storedFigures()))
  })

  test("would show other figures", () => {
    const other = written(text, figures)
    expect(other).toContain("| commit 00000000, 2026-01-01; other programs used 0.1 cores |")
    expect(other.split("\n## ").length).toBe(text.split("\n## ").length)
  })
})
