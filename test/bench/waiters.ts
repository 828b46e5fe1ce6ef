/** 2,000 clients wait on one process for runs that end at about the same time: how late, and for how much memory. */
import { rssMb } from "./machine.ts"
import { fund, newDatabase, type Stage, start } from "./stage.ts"

export interface WaitersResult {
  readonly waiters: number
  readonly answered: number
  /** Milliseconds from a run's end, as the run says it, to its waiter's answer. */
  readonly p50_ms: number
  readonly max_ms: number
  readonly memory_mb: number
}

export const waiters = async (stage: Stage, count: number): Promise<WaitersResult> => {
  const database = await newDatabase(stage)
  const running = await start([new URL("../../src/main.ts", import.meta.url).pathname, "serve"], {
    DATABASE_URL: database,
    PORT: "0",
    RUNGATE_RATE_LIMIT: "0",
    RUNGATE_CONCURRENCY: "5000",
    RUNGATE_ORG_CONCURRENCY: "5000",
    RUNGATE_ORG_QUEUE: "5000",
    ...(stage.redis === undefined ? {} : { REDIS_URL: stage.redis })
  })
  const [key = ""] = await fund(database, 1)
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
  const post = (seconds: number, wait: number) =>
    fetch(`${running.url}/v1/run`, {
      method: "POST",
      headers,
      body: JSON.stringify({
        capability: "email.find",
        input: { full_name: `sandbox:slow_${seconds}`, company_domain: "example.com" },
        wait_seconds: wait
      })
    })
  // Warm up, so that what is measured is the waiting and not the first use of everything.
  await Promise.all(Array.from({ length: 200 }, () => post(0, 30).then((response) => response.text())))
  const before = rssMb(running.pid)
  const late: Array<number> = []
  let answered = 0
  let peak = before
  const timer = setInterval(() => {
    peak = Math.max(peak, rssMb(running.pid))
  }, 100)
  await Promise.all(
    Array.from({ length: count }, async () => {
      const response = await post(10, 60)
      const now = Date.now()
      const run: { status?: string; created_at?: string; timing?: { duration_ms?: number } } = JSON.parse(
        await response.text()
      )
      if (run.status !== "succeeded") return
      answered += 1
      late.push(now - (Date.parse(run.created_at ?? "") + (run.timing?.duration_ms ?? 0)))
    })
  )
  clearInterval(timer)
  await running.stop()
  late.sort((a, b) => a - b)
  const result = {
    waiters: count,
    answered,
    p50_ms: late[Math.floor(late.length / 2)] ?? -1,
    max_ms: late.at(-1) ?? -1,
    memory_mb: peak - before
  }
  console.log(
    `${result.answered} of ${count} waiters answered; p50 ${result.p50_ms} ms and at most ${result.max_ms} ms after their run's end; +${result.memory_mb} MB`
  )
  return result
}
