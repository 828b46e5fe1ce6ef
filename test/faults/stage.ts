/**
 * A stage for faults: one process of the service behind breakable wires, and a second one, without a worker, on unbroken ones,
 * which prepares, looks and audits.
 */
import { type App, type Backend, type Reply, startApp, type Tenant, until } from "../kit/app.ts"
import { faultyPostgres } from "./postgres.ts"
import { faultyRedis } from "./redis.ts"
import type { Counts, Moment, Passage, Wire } from "./wire.ts"

/** What breaks: a statement of ours, or one of the queues. */
export type Part = "database" | "queues"

export interface Stage {
  /** The process whose wires break. */
  readonly app: App
  readonly direct: App
  readonly arm: (flow: Pick<Flow, "own">, part: Part, k: number, moment: Moment) => void
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
  /SELECT lanes::int AS lanes, spread/,
  /WITH lost AS/,
  /min\(since\)/,
  /FROM attempt_windows/,
  /SELECT provider, revision FROM catalog_documents/,
  /^\s*(UN)?LISTEN/,
  /DELETE FROM replies/,
  /DELETE FROM workers/,
  /FROM auto_topups WHERE state = 'waiting'/,
  /FROM payments WHERE state = 'open' AND look_at/,
  /processor_cursors/,
  /FROM mails WHERE ended_at IS NULL/,
  /DELETE FROM mail(s|_tokens)/,
  /FROM referrals r JOIN wallets w/
]
const ofTheService =
  (own: ReadonlyArray<RegExp>): Counts =>
  ({ text, from }) =>
    from === "rungate" && (own.some((one) => one.test(text)) || !background.some((one) => one.test(text)))
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
    arm: ({ own = [] }, part, k, moment) => {
      armed = part === "queues" && redis !== null ? redis : postgres
      armed.arm(part === "database" ? ofTheService(own) : redis === null ? ofTheQueues : ofRedis, k, moment)
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
export const quiet = (app: App) =>
  until(
    "every command applied and every run final",
    async () => (await app.sql("SELECT (SELECT count(*) FROM mailbox) + (SELECT count(*) FROM open_runs) AS left"))[0],
    (row) => Number(row?.["left"]) === 0,
    stuckSeconds
  )
/** Longer than any recovery takes. */
export const stuckSeconds = 35

export interface Flow<S extends Stage = Stage> {
  readonly name: string
  /** Statements that come by themselves, and in this flow count all the same. */
  readonly own?: ReadonlyArray<RegExp>
  /** Does what must be there before anything may break, and answers the flow itself: with its clients' retries, to its end. */
  readonly prepare: (stage: S, tenant: Tenant) => Promise<() => Promise<void>>
  /** What is not as it must be, however the flow went. */
  readonly check: (stage: S, tenant: Tenant) => Promise<ReadonlyArray<string>>
}
