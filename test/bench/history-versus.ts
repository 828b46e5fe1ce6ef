/**
 * Compares segments with plain rows under a GIN index (history-gin.ts), over the same runs in the same database and in one process, without HTTP.
 *
 * Each question is asked in one store only and for the first time there. The stores take turns.
 */
import { Effect, type ManagedRuntime } from "effect"
import { Client } from "pg"
import { HistoryStore } from "../../src/layers/history/HistoryStore.ts"
import { touchCapabilities } from "../../src/schema/runs/History.ts"
import { detect, type Subject } from "../../src/schema/subjects/Subject.ts"
import type { OtherIndex } from "./history-cost.ts"
import { ginStore, segmentStore, subjectArms, wordArms } from "./history-gin.ts"
import { type AskedKind, askedKinds } from "./history-runs.ts"
import type { Sample } from "./history-store.ts"
import { cpuSeconds } from "./machine.ts"
import type { Stage } from "./stage.ts"

const pageMax = 20_000
/** Written last, so that the pending list of the index with `fastupdate` is about half full. */
const pendingRuns = 4_000
/** A row with words has fifteen times as many terms, and a million of them would take hours. */
const wordRunsMax = 50_000
const batchSize = 200
const rounds = 5
const not = { capabilities: touchCapabilities, providers: ["resend"] }

interface Question {
  readonly org_id: string
  readonly subject: Subject
}
interface Store {
  readonly name: string
  readonly runtime: ManagedRuntime.ManagedRuntime<HistoryStore, unknown>
}
interface Comparison {
  readonly stage: Stage
  readonly database: string
  readonly orgs: ReadonlyArray<string>
  readonly samples: ReadonlyMap<AskedKind, ReadonlyArray<Sample>>
  readonly say: (line: string) => void
  readonly limit: number
  readonly asked: number
  readonly batches: number
}

const at = (values: ReadonlyArray<number>, share: number) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0
const median = (values: ReadonlyArray<number>) => at(values, 0.5)

const known = async ({ runtime }: Store, { org_id, subject }: Question, limit: number) =>
  runtime.runPromise(Effect.flatMap(HistoryStore, (store) => store.subjectHistory(org_id, subject, limit, not, null)))
const batch = async ({ runtime }: Store, org_id: string, subjects: ReadonlyArray<Subject>) =>
  runtime.runPromise(Effect.flatMap(HistoryStore, (store) => store.batch(org_id, subjects, not)))

/** CPU seconds of this process and of Postgres. They say more than times do when the machine has other work. */
type Cpu = () => number

/** Times of each store in turns of many questions. The median of the rounds' p50, p99 of all times, and CPU milliseconds for each question. */
const tell = async <A>(
  name: string,
  { stores, cpu }: { readonly stores: ReadonlyArray<Store>; readonly cpu: Cpu },
  questions: ReadonlyArray<A>,
  ask: (store: Store, one: A) => Promise<number>
) => {
  const block = Math.floor(questions.length / rounds / stores.length)
  const of = stores.map((store) => ({ store, p50: [] as Array<number>, all: [] as Array<number>, most: 0, spent: 0 }))
  for (let round = 0, from = 0; round < rounds; round++) {
    for (let turn = 0; turn < of.length; turn++, from += block) {
      const sums = of[(round + turn) % of.length]
      if (sums === undefined) continue
      const before = cpu()
      const times: Array<number> = []
      for (const question of questions.slice(from, from + block)) {
        const began = performance.now()
        sums.most = Math.max(sums.most, await ask(sums.store, question))
        times.push(performance.now() - began)
      }
      sums.spent += cpu() - before
      sums.p50.push(at(times, 0.5))
      sums.all.push(...times)
    }
  }
  console.log(`${name}, ${rounds} rounds of ${block} each:`)
  for (const { store, p50, all, most, spent } of of)
    console.log(
      `  ${store.name.padEnd(34)} p50 ${median(p50).toFixed(1)} p99 ${at(all, 0.99).toFixed(1)} ms, CPU ${((spent / rounds / block) * 1e3).toFixed(1)} ms, most matches ${most.toLocaleString("en")}`
    )
}

/** Both stores must tell the same, or their times mean nothing. */
const compared = async (one: Store, two: Store, questions: ReadonlyArray<Question>, limit: number) => {
  for (const question of questions) {
    const facts = await Promise.all([one, two].map(async (store) => (await known(store, question, limit)).facts))
    const texts = facts.map((summary) =>
      JSON.stringify({ ...summary, groups: summary.groups.map((g) => JSON.stringify(g, big)).sort() }, big)
    )
    if (texts[0] !== texts[1])
      throw new Error(`${one.name} and ${two.name} differ on ${question.subject.normalized}:\n${texts.join("\n")}`)
  }
}
const big = (_: string, value: unknown) => (typeof value === "bigint" ? String(value) : value)

const fillArm = async (
  store: ReturnType<typeof ginStore>,
  {
    client,
    orgs,
    max,
    cpu,
    say
  }: { client: Client; orgs: ReadonlyArray<string>; max: number; cpu: () => number; say: (line: string) => void }
) => {
  await store.create()
  const began = performance.now()
  const spent = cpu()
  let written = 0
  const put = async (runs: ReadonlyArray<{ readonly org_id: string; readonly run_id: string }>) => {
    for (const org_id of orgs)
      await store.write(
        org_id,
        runs.flatMap((run) => (run.org_id === org_id ? [run.run_id] : []))
      )
    written += runs.length
  }
  for (let last = "", all = 0; all < max; ) {
    const left = Math.min(pageMax, max - all)
    const { rows } = await client.query("SELECT org_id, run_id FROM runs WHERE run_id > $1 ORDER BY run_id LIMIT $2", [
      last,
      left
    ])
    if (rows.length === 0) break
    all += rows.length
    last = rows.at(-1).run_id
    const tail = rows.length < left || all >= max ? pendingRuns : 0
    await put(rows.slice(0, rows.length - tail))
    if (tail > 0) {
      await store.clean()
      await put(rows.slice(rows.length - tail))
    } else if (all % 100_000 === 0)
      say(`${all.toLocaleString("en")} rows, ${Math.round((performance.now() - began) / 1000)} s`)
  }
  return { written, micros: Math.round(((cpu() - spent) / written) * 1e6) }
}

/** Prints the comparison. Returns what else to write for each run when the cost of a run is measured. */
export const compareWithGin = async ({
  stage,
  database,
  orgs,
  samples,
  say,
  limit,
  asked,
  batches
}: Comparison): Promise<ReadonlyArray<OtherIndex>> => {
  const client = new Client({ connectionString: database })
  await client.connect()
  await client.query("CREATE INDEX IF NOT EXISTS bench_runs ON runs (run_id) INCLUDE (org_id)")
  const { rows: counted } = await client.query("SELECT count(*)::int AS n FROM runs")
  const cpu = () => cpuSeconds([stage.postgresPid]) + (process.cpuUsage().user + process.cpuUsage().system) / 1e6
  const stores: Array<Store> = [{ name: "segments", ...segmentStore(database) }]
  const others: Array<OtherIndex> = []
  for (const arm of [...subjectArms, ...wordArms]) {
    const store = ginStore(database, arm)
    const { written, micros } = await fillArm(store, {
      client,
      orgs,
      max: arm.words ? Math.min(wordRunsMax, counted[0].n) : counted[0].n,
      cpu,
      say
    })
    // Statistics as autovacuum keeps them; a vacuum would empty the pending list.
    await client.query(`ANALYZE ${arm.table}`)
    const { rows, index } = await store.size()
    console.log(
      `${arm.name}: ${written.toLocaleString("en")} runs at ${micros} us of CPU; rows ${rows} MB, GIN index ${index} MB`
    )
    if (!arm.words) stores.push({ name: arm.name, runtime: store.runtime })
    others.push({
      name: arm.name,
      write: async (org_id, run_ids) => {
        await store.write(org_id, run_ids)
        await store.clean()
      }
    })
  }
  const { rows: sizes } = await client.query(
    `SELECT s.family, round(sum(octet_length(b.bytes) + 40) / 1e6) AS mb FROM history_segments s JOIN history_blocks b USING (segment) GROUP BY 1`
  )
  const { rows: whole } = await client.query(
    "SELECT t, round(pg_total_relation_size(t::regclass) / 1e6) AS mb FROM unnest(ARRAY['history_blocks', 'history_classes', 'history_docs', 'runs']) AS t"
  )
  console.log(`segments: ${JSON.stringify(sizes)} ${JSON.stringify(whole)}`)
  await client.query("DROP INDEX bench_runs")
  await client.query("CHECKPOINT")
  await client.end()

  const questionsOf = (kind: AskedKind) =>
    (samples.get(kind) ?? []).flatMap(({ org, q }) => {
      const subject = detect(q)
      return subject === null || subject.kind === "text" ? [] : [{ org_id: orgs[org] ?? "", subject }]
    })
  const kinds = askedKinds.filter((kind) => kind !== "text")
  const [segments, ...gins] = stores
  const everything = kinds.flatMap(questionsOf)
  for (const gin of gins)
    if (segments !== undefined)
      await compared(
        segments,
        gin,
        [...everything.filter((_, n) => n % Math.ceil(everything.length / 60) === 0), hot(orgs)],
        limit
      )
  const stages = { stores, cpu }
  const ask = async (store: Store, one: Question) => (await known(store, one, limit)).facts.count
  for (const kind of kinds) await tell(kind, stages, questionsOf(kind).slice(-asked * stores.length), ask)
  await tell(
    "the commonest domain",
    stages,
    Array.from({ length: 90 }, () => hot(orgs)),
    ask
  )
  const unseen = Array.from({ length: asked }, (_, n) => ({
    org_id: orgs[n % orgs.length] ?? "",
    subject: detect(`nobody${n}@unknown${n % 7}.example`)
  }))
  await tell(
    "unknown e-mails",
    stages,
    unseen.flatMap(({ org_id, subject }) => (subject === null ? [] : [{ org_id, subject }])),
    ask
  )
  for (const [name, of] of [
    ["mixed", kinds],
    ["e-mails", ["email"]],
    ["domains", ["domain"]]
  ] as const) {
    const pool = of.map((kind) => questionsOf(kind).filter((one) => one.org_id === orgs[0]))
    const asks = Array.from({ length: batches }, (_, n) =>
      Array.from({ length: batchSize }, (_, m) => {
        const list = pool[m % pool.length] ?? []
        return list[(n * 7_919 + m * 104_729) % list.length]?.subject
      }).filter((subject) => subject !== undefined)
    )
    await tell(
      `${batchSize} subjects, ${name}`,
      stages,
      asks,
      async (store, subjects) => (await batch(store, orgs[0] ?? "", subjects)).size
    )
  }
  return others
}

const hot = (orgs: ReadonlyArray<string>): Question => ({
  org_id: orgs[0] ?? "",
  subject: detect("linkedin.com") ?? { kind: "domain", normalized: "linkedin.com" }
})
