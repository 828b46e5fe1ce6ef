/**
 * The conformance suite of the Model Context Protocol asks `POST /mcp` what each revision requires. Many of its checks call tools of a test
 * server. They are listed as exceptions, and each must still fail: so a check that begins to concern the service is noticed.
 */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { withApp } from "../kit/app.ts"
import { exceptionsOf, isExtension } from "./mcp-exceptions.ts"

const suite = join(
  dirname(Bun.resolveSync("@modelcontextprotocol/conformance/package.json", import.meta.dir)),
  "dist",
  "index.js"
)
const folder = mkdtempSync(join(tmpdir(), "rungate-conformance-"))
const app = withApp()

/** The suite sends no credential, so one is added on the way. */
let door: Bun.Server<unknown>
beforeAll(async () => {
  const { key } = await app.tenant("1.00")
  door = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 60,
    fetch: (request) => {
      const headers = new Headers(request.headers)
      headers.set("authorization", `Bearer ${key}`)
      headers.set("accept-encoding", "identity")
      return fetch(`${app.url}${new URL(request.url).pathname}`, {
        method: request.method,
        headers,
        body: request.body
      })
    }
  })
})
afterAll(async () => {
  await door?.stop(true)
  rmSync(folder, { recursive: true, force: true })
})

interface Check {
  readonly id: string
  readonly status: string
  readonly errorMessage?: string
}

test.each(["2025-11-25", "2026-07-28"])(
  "every requirement of revision %s that concerns the service holds",
  async (revision) => {
    const output = join(folder, revision)
    const words = ["server", "--url", `http://127.0.0.1:${door.port}/mcp`, "--requirements", revision, "-o", output]
    const ran = Bun.spawn([process.execPath, suite, ...words], { cwd: folder, stdout: "ignore", stderr: "pipe" })
    await ran.exited
    const scenarios = readdirSync(output).filter((name) => !isExtension(name.replace(/^server-/, "")))
    const checks = scenarios.flatMap(
      (name): ReadonlyArray<Check> => JSON.parse(readFileSync(join(output, name, "checks.json"), "utf8"))
    )
    const failed = checks.filter(({ status }) => status === "FAILURE")
    const unexpected = failed.filter(({ id }) => !exceptionsOf(revision).includes(id))
    expect(unexpected.map(({ id, errorMessage }) => `${id}: ${errorMessage}`)).toEqual([])
    expect(new Set(failed.map(({ id }) => id))).toEqual(new Set(exceptionsOf(revision)))
    expect(checks.filter(({ status }) => status === "SUCCESS").length).toBeGreaterThan(30)
  }
)
