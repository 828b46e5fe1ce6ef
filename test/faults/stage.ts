/**
 * Every single fault of a flow: one pass counts what may break, then one pass for each of these with the wire broken there.
 *
 * A stage is one process of the service behind breakable wires and a second one, without a worker, on unbroken ones, which
 * prepares, looks and audits. Several stages share the work, because most of a pass is waiting for something to recover.
 */
import { type App, type Backend, type Reply, startApp, type Tenant, until } from "../app.ts"
import { faultyPostgres } from "./postgres.ts"
import { faultyRedis } from "./redis.ts"
import { type Counts, type Moment, moments, type Passage, type Wire } from "./wire.ts"

/** What breaks: a statement of ours, or one of the queues. */
export type Part = "database" | "queues"

export interface Stage {
  /** The process whose wires break. */
  readonly app: App
  readonly direct: App
  readonly arm: (part: Part, k: number, moment: Moment) => void
  readonly struck: () => boolean
  readonly disarm: () => Passage
  readonly stop: () => Promise<void>
}

/**
 * What the service says of its own accord, every few seconds and in no flow. Everything else counts, also statements that
 * did not exist when this was written.
 */
const background = [
  /UPDATE workers SET expires_at/,
  /FROM mailbox\s+WHERE parked IS NULL GROUP BY lane/,
  /WITH lost AS/,
  /min\(since\)/,
  /FROM attempt_windows/,
  /SELECT provider, revision FROM catalog_documents/,
  /^\s*(UN)?LISTEN/,
  /DELETE FROM replies/,
  /DELETE FROM workers/
]
const ofTheService: Counts = ({ text, from }) => from === "rungate" && !background.some((one) => one.test(text))
/** Looks for stalled jobs come by themselves; a worker that waits asks again and again. */
const ofTheQueues: Counts = ({ text, from }) => from === "" && !/stalled|extend|LISTEN|-- Whether the queue/i.test(text)
const ofRedis: Counts = ({ text }) => /^(eval|evalsha|publish|del|hset|hdel)\b/i.test(text)

export interface StageOptions {
  readonly backend: Backend
  readonly settings?: Readonly<Record<string, string>>
}

export const openStage = async ({ backend, settings = {} }: StageOptions): Promise<Stage> => {
  const direct = await startApp({ role: "http", backend, settings })
  const postgres = await faultyPostgres(direct.databaseUrl)
  const redis = backend === "redis" ? await faultyRedis(direct.settings["REDIS_URL"] ?? "") : null
  const app = await startApp({
    beside: direct,
    settings: { ...settings, DATABASE_URL: postgres.url, ...(redis === null ? {} : { REDIS_URL: redis.url }) }
  })
  let armed: Wire = postgres
  return {
    app,
    direct,
    arm: (part, k, moment) => {
      armed = part === "queues" && redis !== null ? redis : postgres
      armed.arm(part === "database" ? ofTheService : redis === null ? ofTheQueues : ofRedis, k, moment)
    },
    struck: () => armed.struck(),
    disarm: () => armed.disarm(),
    stop: async () => {
      await app.stop()
      await direct.stop()
      await Promise.all([postgres.stop(), redis?.stop()])
    }
  }
}

/** A client that does not give up: what broke off or was refused with 5xx is asked again, the same way. */
export const patiently = async (ask: () => Promise<Reply>, secondsMax = stuckSeconds): Promise<Reply> => {
  for (const end = performance.now() + secondsMax * 1_000; ; await Bun.sleep(50)) {
    const reply = await ask().catch((error: unknown) => String(error))
    if (typeof reply !== "string" && reply.status < 500) return reply
    if (performance.now() > end)
      throw new Error(`refused for ${secondsMax} s: ${typeof reply === "string" ? reply : reply.text}`)
  }
}

/** Nothing is under way any more: no command in the mail, no run open. */
const quiet = (app: App) =>
  until(
    "every command applied and every run final",
    async () => (await app.sql("SELECT (SELECT count(*) FROM mailbox) + (SELECT count(*) FROM open_runs) AS left"))[0],
    (row) => Number(row?.["left"]) === 0,
    stuckSeconds
  )
/** Longer than any recovery takes. */
const stuckSeconds = 25

export interface Flow {
  readonly name: string
  /** Does what must be there before anything may break, and answers the flow itself: with its clients' retries, to its end. */
  readonly prepare: (stage: Stage, tenant: Tenant) => Promise<() => Promise<void>>
  /** What is not as it must be, however the flow went. */
  readonly check: (stage: Stage, tenant: Tenant) => Promise<ReadonlyArray<string>>
}

interface Passed extends Passage {
  readonly recovery_s: number
  readonly violations: ReadonlyArray<string>
}

const pass = async (stage: Stage, flow: Flow, part: Part, k: number, moment: Moment): Promise<Passed> => {
  const tenant = await stage.direct.tenant("5.00")
  await quiet(stage.direct)
  const go = await flow.prepare(stage, tenant)
  const violations: Array<string> = []
  const say = (error: unknown) => void violations.push(String(error).slice(0, 300))
  stage.arm(part, k, moment)
  await go().catch(say)
  await quiet(stage.direct).catch(say)
  // The last statements of a flow come after its answer. The queues never rest, so theirs end here.
  const last = performance.now() + (part === "queues" && k === 0 ? 0 : lastMillis)
  while (!stage.struck() && performance.now() < last) await Bun.sleep(5)
  if (stage.struck()) await quiet(stage.direct).catch(say)
  const passage = stage.disarm()
  const recovery_s = passage.struck === null ? 0 : (performance.now() - passage.struck.at) / 1_000
  if (recovery_s > recoverySecondsMax) say(`recovered after ${recovery_s.toFixed(1)} s only`)
  await flow.check(stage, tenant).then((found) => violations.push(...found), say)
  await stage.direct.books().catch(say)
  return { ...passage, recovery_s, violations }
}
const lastMillis = 150
/** A run that was leased in a commit whose answer was lost is taken over after five seconds; everything else is quicker. */
const recoverySecondsMax = 9
const triesMax = 3

export interface Swept {
  /** Statements of a flow that nobody disturbs. */
  readonly statements: number
  readonly points: number
  /** Points at which the wire did break. A flow of the queues may be over before its last. */
  readonly struck: number
  readonly recovery_s_max: number
  readonly slowest: string
  readonly violations: ReadonlyArray<string>
}

const brief = (text: string) => text.replace(/--.*$/gm, "").replace(/\s+/g, " ").trim().slice(0, 60)

/** Every `stride`-th fault point, from `offset` on; all of them with stride 1. */
export const sweep = async (
  stages: ReadonlyArray<Stage>,
  flow: Flow,
  part: Part,
  { stride = 1, offset = 0 } = {}
): Promise<Swept> => {
  const violations: Array<string> = []
  const clean = await Promise.all(stages.map((stage) => pass(stage, flow, part, 0, "before")))
  for (const one of clean) violations.push(...one.violations.map((what) => `undisturbed: ${what}`))
  const statements = Math.max(...clean.map((one) => one.counted.length))
  const points = Array.from({ length: statements }, (_, at) => at + 1)
    .flatMap((k) => moments.map((moment) => ({ k, moment })))
    .filter((_, at) => at % stride === offset % stride)
  const left = [...points]
  let struck = 0
  let slowest = { recovery_s: 0, what: "" }
  await Promise.all(
    stages.map(async (stage) => {
      for (let point = left.shift(); point !== undefined; point = left.shift()) {
        const { k, moment } = point
        let went = await pass(stage, flow, part, k, moment)
        for (let tries = 1; went.struck === null && tries < triesMax; tries += 1)
          went = await pass(stage, flow, part, k, moment)
        const what = `${moment} ${k}: ${brief(went.struck?.text ?? "not reached")}`
        if (went.struck !== null) struck += 1
        if (went.recovery_s > slowest.recovery_s) slowest = { recovery_s: went.recovery_s, what }
        violations.push(...went.violations.map((one) => `${what}: ${one}`))
      }
    })
  )
  return {
    statements,
    points: points.length,
    struck,
    recovery_s_max: Number(slowest.recovery_s.toFixed(1)),
    slowest: slowest.what,
    violations
  }
}
