/** The units in deploy/systemd, read by systemd's own tools. They are left out where it is not installed, and nothing is started. */
import { afterAll, describe, expect, test } from "bun:test"
import { cpSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const units = join(import.meta.dir, "..", "..", "..", "deploy", "systemd")
const text = (name: string) => readFileSync(join(units, name), "utf8")
const valuesOf = (unit: string, name: string) =>
  Array.from(text(unit).matchAll(new RegExp(`^${name}=(.*)$`, "gm")), ([, value = ""]) => value)
const both = ["rungate.service", "rungate-worker@.service"]
/** 10 is a service without any limit, 0 one that can do nothing. Both are at 1.3; what is left is the network, and code that is compiled while it runs. */
const exposureMax = 15

test.each(both)("%s lets the process stop what it started, in more time than running calls have by default", (unit) => {
  // Else systemd would stop the embedded PostgreSQL under the runs that still write.
  expect(valuesOf(unit, "KillMode")).toEqual(["mixed"])
  expect(Number(valuesOf(unit, "TimeoutStopSec")[0])).toBeGreaterThan(30)
  expect(valuesOf(unit, "Restart")).toEqual(["always"])
  expect(valuesOf(unit, "EnvironmentFile")).toEqual(["-/etc/rungate/rungate.env"])
})

test("workers of one machine have a metrics port each", () => {
  const [start = ""] = valuesOf("rungate-worker@.service", "ExecStart")
  expect(start).toContain("RUNGATE_METRICS_PORT=$((9470 + %i))")
})

const analyze = Bun.which("systemd-analyze")
if (analyze === null) console.log("skipped: no systemd-analyze is installed here, so the units are not verified")
describe.if(analyze !== null)("systemd", () => {
  const folder = mkdtempSync(join(tmpdir(), "rungate-units-"))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  const analyzed = (...words: ReadonlyArray<string>) => {
    const { exitCode, stdout, stderr } = Bun.spawnSync([analyze ?? "", ...words], { env: { PATH: "/usr/bin:/bin" } })
    return { exitCode, out: `${stdout}`, problems: `${stderr}` }
  }

  test.each(both)("accepts %s and finds it hardened", (unit) => {
    const file = join(folder, unit.replace("@", "@1"))
    cpSync(join(units, unit), file)
    // It also reads units of this machine. Problems of those are not ours.
    const own = analyzed("verify", "--man=no", file)
    expect(own.problems.split("\n").filter((line) => line.includes("rungate"))).toEqual([])
    const { exitCode, out } = analyzed("security", "--offline=yes", `--threshold=${exposureMax}`, "--no-pager", file)
    expect([exitCode, exitCode === 0 ? "" : out]).toEqual([0, ""])
  })
})
