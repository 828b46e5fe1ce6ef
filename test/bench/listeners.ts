/**
 * `bun run bench:listeners`: 2,000 clients listen to the events of 20 organizations on one process, and each organization runs.
 *
 * It prints the memory that the streams take, and how late the ends of runs arrive.
 */
import { rssMb } from "./machine.ts"
import { fund, loadIn, newDatabase, openStage, program, start } from "./stage.ts"
import type { Listened } from "./listening-clients.ts"

const listeners = Number(process.argv[2] ?? "2000")
const organizations = 20
const runsEach = 5

const stage = await openStage()
const database = await newDatabase(stage)
const running = await start([await program(), "serve"], {
  DATABASE_URL: database,
  PORT: "0",
  RUNGATE_RATE_LIMIT: "0",
  RUNGATE_ORG_STREAMS: String(Math.ceil(listeners / organizations)),
  ...(stage.redis === undefined ? {} : { REDIS_URL: stage.redis })
})
const keys = await fund(database, organizations)
// Warm up, so that what is measured is the streams and not the first use of everything.
await loadIn(running.url, keys, 32, 5)

const listening = (count: number, expected: number) => {
  const path = new URL("listening-clients.ts", import.meta.url).pathname
  const args = [running.url, keys.join(","), String(count), String(expected)]
  return Bun.spawn([process.execPath, path, ...args], { stdout: "pipe", stderr: "inherit" })
}
const lines = async function* (stream: ReadableStream<Uint8Array>) {
  let rest = ""
  const decoder = new TextDecoder()
  for await (const chunk of stream) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n")
    rest = parts.pop() ?? ""
    yield* parts
  }
}
const run = async (key: string) => {
  const body = JSON.stringify({ capability: "email.verify", input: { email: "ada@example.com" } })
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
  const response = await fetch(`${running.url}/v1/run`, { method: "POST", headers, body })
  if (!response.ok) throw new Error(`a run answered ${response.status}`)
}

const measure = async (count: number) => {
  const before = rssMb(running.pid)
  const child = listening(count, count * runsEach)
  const said = lines(child.stdout)
  await said.next()
  const opened = rssMb(running.pid)
  let peak = opened
  const timer = setInterval(() => {
    peak = Math.max(peak, rssMb(running.pid))
  }, 50)
  for (let round = 0; round < runsEach; round++) {
    await Promise.all(keys.map(run))
    await Bun.sleep(500)
  }
  const result: Listened = JSON.parse((await said.next()).value ?? "{}")
  clearInterval(timer)
  await child.exited
  return { before, opened, peak, result }
}

await measure(200)
const { before, opened, peak, result } = await measure(listeners)
const late = result.late.toSorted((a, b) => a - b)
const at = (share: number) => late[Math.min(late.length - 1, Math.floor(late.length * share))] ?? -1
console.log(
  `${result.open} of ${listeners} streams open; ${result.events} of ${listeners * runsEach} events arrived, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms and at most ${at(1)} ms after their run's end; +${opened - before} MB open, +${peak - before} MB at most (from ${before} MB)`
)
await running.stop()
process.exit(0)
