/**
 * `bun test/bench/actor-store.ts [actors]`: `rungate catalog import apify` of a stand-in store into a running service, 20,000 actors unless told
 * otherwise. Prints the import's time and memory, what the service grew by, its longest stall, and discover over HTTP before and after.
 */
import { spawn } from "node:child_process"
import { catalogDocuments } from "../layers/search/corpus.ts"
import { actorStore, needle } from "../layers/catalog/actor-store.ts"
import { syntheticQueries } from "./corpus.ts"
import { cpuSeconds, peakRssMb, rssMb } from "./machine.ts"
import { newDatabase, openStage, program, start } from "./stage.ts"

const actors = Number(process.argv[2] ?? 20_000)
const asked = 1_000
const settledMillis = 3_000
const seenMillisMax = 60_000

const store = actorStore(actors)
const stage = await openStage()
const env = {
  DATABASE_URL: await newDatabase(stage),
  PORT: "0",
  RUNGATE_PROVIDER_APIFY_BASE_URL: store.url,
  RUNGATE_PROVIDER_APIFY_API_KEY: "bench",
  RUNGATE_RATE_LIMIT: "0"
}
const service = await start([await program(), "serve"], env)
const discover = async (query: string) => {
  const began = performance.now()
  const answer = await fetch(`${service.url}/v1/discover`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ query, kind: "endpoint", limit: 10 })
  })
  const body: { readonly items?: ReadonlyArray<{ readonly endpoint: string }> } = JSON.parse(await answer.text())
  if (answer.status !== 200) throw new Error(`discover answered ${answer.status}: ${JSON.stringify(body)}`)
  return { millis: performance.now() - began, first: body.items?.[0]?.endpoint }
}
const queries = syntheticQueries(catalogDocuments(), asked)
const searched = async () => {
  const times: Array<number> = []
  for (const query of queries) times.push((await discover(query)).millis)
  const sorted = times.sort((a, b) => a - b)
  const at = (share: number) => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(1)
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`
}

const before = await searched()
await Bun.sleep(settledMillis)
const idle = rssMb(service.pid)
const cpuBefore = cpuSeconds([service.pid])

/** How long the slowest answer of /livez took, while the service took up the import. */
let stall = 0
let watching = true
const watch = (async () => {
  while (watching) {
    const began = performance.now()
    await fetch(`${service.url}/livez`)
    stall = Math.max(stall, performance.now() - began)
    await Bun.sleep(2)
  }
})()

const began = performance.now()
const importing = spawn(
  process.execPath,
  [new URL("../../src/main.ts", import.meta.url).pathname, "catalog", "import", "apify"],
  {
    env: { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", ...env },
    stdio: ["ignore", "ignore", "inherit"]
  }
)
let peak = 0
const memory = setInterval(() => {
  if (importing.pid !== undefined && importing.exitCode === null)
    try {
      peak = Math.max(peak, peakRssMb(importing.pid))
    } catch {}
}, 50)
const code = await new Promise((resolve) => importing.once("exit", resolve))
clearInterval(memory)
const importSeconds = (performance.now() - began) / 1_000
if (code !== 0) throw new Error(`the import ended with ${code}`)
for (
  const end = performance.now() + seenMillisMax;
  (await discover(needle.query)).first !== needle.path;
  await Bun.sleep(50)
)
  if (performance.now() > end) throw new Error("the service does not see the import")
const seenSeconds = (performance.now() - began) / 1_000 - importSeconds
watching = false
await watch
const cpu = cpuSeconds([service.pid]) - cpuBefore
const after = await searched()
await Bun.sleep(settledMillis)
console.log(`import of ${actors} actors: ${importSeconds.toFixed(1)} s, ${peak} MB at most`)
console.log(
  `service: seen after ${seenSeconds.toFixed(1)} s more, ${cpu.toFixed(1)} s of CPU, slowest /livez ${stall.toFixed(0)} ms`
)
console.log(`service: ${idle} MB before, ${rssMb(service.pid)} MB after`)
console.log(`discover: ${before} before; ${after} after`)
await service.stop()
await store.stop()
process.exit(0)
