/**
 * slowhttptest holds hundreds of connections open: with headers that never end, with bodies that trickle in, and with answers that are read
 * byte by byte. Meanwhile the service answers everybody else. It needs Debian's package, and runs in the long form only.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { spawn } from "node:child_process"
import { type App, figures, startApp, type Tenant } from "../kit/app.ts"
import { exhaustive } from "../kit/input-samples.ts"

const program = Bun.which("slowhttptest")
if (exhaustive && program === null) console.log("SKIPPED: slow requests, because slowhttptest is not installed")

const connections = 400
const seconds = 25

describe.skipIf(!exhaustive || program === null)("slowhttptest", () => {
  let app: App
  let org: Tenant
  beforeAll(async () => {
    app = await startApp()
    org = await app.tenant("5.00")
  })
  afterAll(() => app.stop())

  test.each([
    ["headers that never end", ["-H", "-i", "3"], "/v1/wallet"],
    ["bodies that trickle in", ["-B", "-i", "3", "-s", "8192", "-f", "application/json"], "/v1/auth/sign-in"],
    ["answers that are read byte by byte", ["-X", "-k", "3", "-n", "3"], "/openapi.json"]
  ])(
    "%s keep nobody else from an answer",
    async (what, flags, path) => {
      const limits = ["-c", String(connections), "-r", "200", "-l", String(seconds), "-p", "10"]
      const child = spawn(program ?? "", [...flags, ...limits, "-u", `${app.url}${path}`])
      let said = ""
      child.stdout.on("data", (text) => (said += String(text)))
      let ended = false
      const end = new Promise<number | null>((done) =>
        child.once("close", (code) => {
          ended = true
          done(code)
        })
      )
      const statuses = new Map<number, number>()
      while (!ended) {
        const { status } = await org.get("/v1/wallet")
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
      }
      await end
      expect([...statuses.keys()]).toEqual([200])
      expect(said).toMatch(/service available:.*YES/)
      figures("slow requests", { what, connections, answered: statuses.get(200) ?? 0 })
    },
    300_000
  )
})
