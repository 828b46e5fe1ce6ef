/**
 * `bun test/bench/start.ts <program> …`: how long the service takes until it is ready, on an existing database with Redis.
 *
 * Programs (`src/main.ts`, `dist/service/rungate.js`, those of another version) take turns, and the figures are medians. CPU is steadier than time.
 */
import { cpuSeconds, rssMb } from "./machine.ts"
import { newDatabase, openStage, start } from "./stage.ts"

const rounds = 5
/** Until the last work of the start has ended. */
const settledMillis = 1_500

const stage = await openStage()
const DATABASE_URL = await newDatabase(stage)
const env = { DATABASE_URL, PORT: "0", ...(stage.redis === undefined ? {} : { REDIS_URL: stage.redis }) }

const once = async (program: string) => {
  const began = performance.now()
  const running = await start([program, "serve"], env)
  const ready_ms = performance.now() - began
  const cpu_ms = cpuSeconds([running.pid]) * 1_000
  const ready_mb = rssMb(running.pid)
  await Bun.sleep(settledMillis)
  const idle_mb = rssMb(running.pid)
  await running.stop()
  return { ready_ms, cpu_ms, ready_mb, idle_mb }
}
type Figures = Awaited<ReturnType<typeof once>>

const programs = process.argv.slice(2)
// Once without counting: files come from the disk, and the first start migrates.
for (const program of programs) await once(program)
const taken = new Map<string, Array<Figures>>(programs.map((program) => [program, []]))
for (let round = 0; round < rounds; round++) {
  for (const [program, all] of taken) all.push(await once(program))
}
for (const [program, all] of taken) {
  const median = (name: keyof Figures) =>
    Math.round(all.map((one) => one[name]).sort((a, b) => a - b)[Math.floor(all.length / 2)] ?? 0)
  console.log(
    `${program}: ready after ${median("ready_ms")} ms, ${median("cpu_ms")} ms of CPU, ${median("ready_mb")} MB, then ${median("idle_mb")} MB`
  )
}
process.exit(0)
