/**
 * `bun run bench:history`: what a question about a subject takes with a year of runs in the store, and what the index adds to a run's cost.
 *
 * `--runs 20000` makes a smaller store. `--busy 32` asks each subject without and with so many clients that make runs as fast as they can, and ends. `--gin 1` compares with plain rows under a GIN index, over the same runs (history-versus.ts). Durable Postgres and a service process of its own, asked over HTTP from this process.
 */
import { measureCost } from "./history-cost.ts"
import { compareWithGin } from "./history-versus.ts"
import { type AskedKind, askedKinds } from "./history-runs.ts"
import { fill, type Sample, sharesNote } from "./history-store.ts"
import { fund, newDatabase, openStage, program, start } from "./stage.ts"

const option = (name: string, otherwise: number) => {
  const at = process.argv.indexOf(`--${name}`)
  return at < 0 ? otherwise : Number(process.argv[at + 1])
}
const count = option("runs", 1_000_000)
const asked = option("questions", 1_000)
const batches = option("batches", 100)
const costRuns = Math.min(option("cost-runs", 40_000), count)
const batchSize = 200
const limit = 50
const singleMillisMax = 20
const batchMillisMax = 250
const shareMax = 0.1

const say = (line: string) => process.stderr.write(`  ${line}\n`)

const stage = await openStage()
const database = await newDatabase(stage)
const settings: Record<string, string> = { DATABASE_URL: database, PORT: "0", RUNGATE_RATE_LIMIT: "0" }
if (stage.redis !== undefined) settings["REDIS_URL"] = stage.redis
const running = await start([await program(), "serve"], settings)
const keys = await fund(database, 5)
const orgs = keys.map((_, n) => `org_bench${String(n).padStart(21, "0")}`)
console.log(
  `${count.toLocaleString("en")} runs, ${sharesNote}; PostgreSQL durable; ${stage.redis === undefined ? "no Redis" : "Redis"}`
)
const began = performance.now()
const samples = await fill(database, orgs, count, say)
console.log(`written and indexed in ${Math.round((performance.now() - began) / 1000)} s`)

interface Answer {
  readonly millis: number
  readonly count: number
}
const headersOf = (org: number) => ({ authorization: `Bearer ${keys[org]}`, "content-type": "application/json" })

const ask = async ({ org, q }: Pick<Sample, "org" | "q">): Promise<Answer> => {
  const url = `${running.url}/v1/history?limit=${limit}&q=${encodeURIComponent(q)}`
  const sent = performance.now()
  const response = await fetch(url, { headers: headersOf(org) })
  const text = await response.text()
  const millis = performance.now() - sent
  if (response.status !== 200) throw new Error(`${q}: ${text}`)
  return { millis, count: JSON.parse(text).count }
}

const askBatch = async (org: number, of: ReadonlyArray<string>): Promise<Answer> => {
  const sent = performance.now()
  const body = JSON.stringify({ subjects: of })
  const response = await fetch(`${running.url}/v1/history`, { method: "POST", headers: headersOf(org), body })
  const text = await response.text()
  const millis = performance.now() - sent
  if (response.status !== 200) throw new Error(text)
  return { millis, count: JSON.parse(text).seen }
}

const at = (values: ReadonlyArray<number>, share: number) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0
const verdict = (met: boolean) => (met ? "met" : "MISSED")
const rows: Array<Record<string, unknown>> = []

const tell = (name: string, answers: ReadonlyArray<Answer>, target: number | null) => {
  const millis = answers.map((one) => one.millis)
  const [p50, p99, max] = [at(millis, 0.5), at(millis, 0.99), at(millis, 1)]
  const matches = answers.map((one) => one.count)
  rows.push({
    name,
    questions: answers.length,
    p50,
    p99,
    max,
    most_matches: at(matches, 1),
    target,
    met: target === null || p99 < target
  })
  const goal = target === null ? "" : `  p99 < ${target} ms: ${verdict(p99 < target)}`
  console.log(
    `${name.padEnd(34)} ${String(answers.length).padStart(5)}x  p50 ${p50.toFixed(1).padStart(6)}  p99 ${p99.toFixed(1).padStart(6)}  max ${max.toFixed(1).padStart(6)} ms  matches: p50 ${at(matches, 0.5)}, most ${at(matches, 1).toLocaleString("en")}${goal}`
  )
}

const each = async <A>(of: ReadonlyArray<A>, question: (one: A) => Promise<Answer>) => {
  const answers: Array<Answer> = []
  for (const one of of) answers.push(await question(one))
  return answers
}

const ofKind = (kind: AskedKind) => (samples.get(kind) ?? []).slice(0, asked)
const everything = askedKinds.flatMap((kind) => samples.get(kind) ?? [])

// In a service that has been up for a while statements are prepared and its code is compiled.
for (let n = 0; n < 200; n++)
  await ask(everything[Math.floor((n * everything.length) / 200)] ?? { org: 0, q: "nobody" })
await askBatch(
  0,
  everything.slice(0, batchSize).map((one) => one.q)
)

/** All that is asked, once; subjects come up as often as they do in the runs. */
const round = async (name: string, target: boolean) => {
  console.log(name)
  const all: Array<Answer> = []
  for (const kind of askedKinds) {
    const answers = await each(ofKind(kind), ask)
    all.push(...answers)
    tell(kind, answers, target ? singleMillisMax : null)
  }
  tell("all kinds", all, target ? singleMillisMax : null)
}
await round("One subject:", true)
const busyClients = option("busy", 0)
if (busyClients > 0) {
  const path = new URL("load.ts", import.meta.url).pathname
  // Until it is stopped: an hour is longer than all questions take.
  const args = [running.url, keys.join(","), String(busyClients), "3600"]
  const load = Bun.spawn([process.execPath, path, ...args], { stdout: "ignore", stderr: "inherit" })
  // Its code is compiled, and the history worker has begun to follow.
  await Bun.sleep(5_000)
  await round(`One subject, while ${busyClients} clients make runs:`, false)
  load.kill()
  console.log(JSON.stringify({ runs: count, rows }))
  process.exit(0)
}
const unknown = Array.from({ length: asked }, (_, n) => ({
  org: n % orgs.length,
  q: `nobody${n}@unknown${n % 7}.example`
}))
tell("unknown e-mails", await each(unknown, ask), singleMillisMax)

const batchesOf = (kinds: ReadonlyArray<AskedKind>) =>
  Array.from({ length: batches }, (_, n) =>
    Array.from({ length: batchSize }, (_, m) => {
      const of = (samples.get(kinds[m % kinds.length] ?? "email") ?? []).filter((one) => one.org === 0)
      return of[(n * 7_919 + m * 104_729) % of.length]?.q ?? ""
    })
  )
console.log(`${batchSize} subjects:`)
const named = askedKinds.filter((kind) => kind !== "text")
for (const [name, kinds] of [
  ["mixed, a seventh of them phrases", askedKinds],
  ["mixed, no phrases", named],
  ["e-mails", ["email"]],
  ["domains", ["domain"]]
] as const) {
  tell(name, await each(batchesOf(kinds), (of) => askBatch(0, of)), batchMillisMax)
}

console.log("The hottest, apart:")
for (const [q, times] of [
  ["linkedin.com", 50],
  ["gmail.com", 50],
  ["the growth of", 3],
  ["the", 3],
  ["growth", 3]
] as const) {
  await ask({ org: 0, q })
  tell(
    `"${q}"`,
    await each(
      Array.from({ length: times }, () => ({ org: 0, q })),
      ask
    ),
    null
  )
}
const others =
  option("gin", 0) === 0 ? [] : await compareWithGin({ stage, database, orgs, samples, say, limit, asked, batches })
const cost = await measureCost(
  stage,
  database,
  running,
  { org_id: orgs[0] ?? "", key: keys[0] ?? "" },
  costRuns,
  others
)
const percent = (share: number) => `${(100 * share).toFixed(1)} %`
console.log(
  `A run's cost, ${cost.runs.toLocaleString("en")} runs of everyday capabilities, 32 clients: ${cost.service} us of CPU; of these the index: its queue ${cost.queue} + ${cost.index} + Postgres ${cost.index_postgres} us, ${percent(cost.share)} of what a run costs without them  under ${percent(shareMax)}: ${verdict(cost.share < shareMax)}`
)
for (const { name, own, postgres } of cost.others)
  console.log(
    `${name}: ${own} + Postgres ${postgres} us, ${percent((own + postgres) / (cost.service - cost.index - cost.index_postgres - cost.queue))}`
  )
console.log(JSON.stringify({ runs: count, rows, cost }))
process.exit(0)
