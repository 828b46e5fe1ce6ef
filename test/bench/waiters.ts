/** 10,000 clients wait on one process for runs that end at about the same time: how late they are answered, and for how much memory. */
import { rssMb } from "./machine.ts"
import { fund, newDatabase, program, type Stage, start } from "./stage.ts"
import type { Waited } from "./waiting-clients.ts"

export interface WaitersResult {
  readonly waiters: number
  readonly answered: number
  /** Milliseconds from a run's end, as the run says it, to its waiter's answer. */
  readonly p50_ms: number
  readonly p99_ms: number
  readonly max_ms: number
  readonly memory_mb: number
}

/** All wait before the first run ends; a provider that takes longer is given up. */
const slowSeconds = 30
const waitSeconds = 120
const processes = 2

const clients = (url: string, key: string, count: number, slow: number) =>
  Promise.all(
    Array.from({ length: processes }, async (): Promise<Waited> => {
      const path = new URL("waiting-clients.ts", import.meta.url).pathname
      const args = [url, key, String(Math.ceil(count / processes)), String(slow), String(waitSeconds)]
      const child = Bun.spawn([process.execPath, path, ...args], { stdout: "pipe", stderr: "inherit" })
      return JSON.parse(await new Response(child.stdout).text())
    })
  )

export const waiters = async (stage: Stage, count: number): Promise<WaitersResult> => {
  const database = await newDatabase(stage)
  const room = String(2 * count)
  const running = await start([await program(), "serve"], {
    DATABASE_URL: database,
    PORT: "0",
    RUNGATE_RATE_LIMIT: "0",
    RUNGATE_CONCURRENCY: room,
    RUNGATE_ORG_CONCURRENCY: room,
    RUNGATE_ORG_QUEUE: room,
    ...(stage.redis === undefined ? {} : { REDIS_URL: stage.redis })
  })
  const [key = ""] = await fund(database, 1)
  // Warm up, so that what is measured is the waiting and not the first use of everything.
  for (let round = 0; round < 10; round++) await clients(running.url, key, 200, 0)
  const before = rssMb(running.pid)
  let peak = before
  const timer = setInterval(() => {
    peak = Math.max(peak, rssMb(running.pid))
  }, 100)
  const waited = await clients(running.url, key, count, slowSeconds)
  clearInterval(timer)
  await running.stop()
  const late = waited.flatMap((one) => one.late).sort((a, b) => a - b)
  const at = (share: number) => late[Math.min(late.length - 1, Math.floor(late.length * share))] ?? -1
  const result = {
    waiters: count,
    answered: waited.reduce((sum, one) => sum + one.answered, 0),
    p50_ms: at(0.5),
    p99_ms: at(0.99),
    max_ms: at(1),
    memory_mb: peak - before
  }
  console.log(
    `${result.answered} of ${count} waiters answered; p50 ${result.p50_ms} ms, p99 ${result.p99_ms} ms and at most ${result.max_ms} ms after their run's end; +${result.memory_mb} MB (from ${before} MB)`
  )
  return result
}
