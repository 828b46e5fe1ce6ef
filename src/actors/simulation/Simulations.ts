/**
 * Rehearses another routing policy over an organization's own past runs. It is free, makes no run and calls no provider.
 *
 * Simulations of a process run one at a time, and an organization may have two of them waiting, or one while many wait. So they use at most
 * one connection, delay no run, and a few organizations keep no other one out.
 */
import { Context, Effect, Layer, Schema, Semaphore } from "effect"
import { Catalog } from "../../layers/catalog/Catalog.ts"
import { OfferOutcomes, type OfferCounts } from "../../layers/quotes/OfferOutcomes.ts"
import { inSlices } from "../../layers/platform/inSlices.ts"
import { Reads } from "../../layers/standby/Reads.ts"
import { planReader, type PlanReader } from "../../layers/simulation/PastPlans.ts"
import type { PastPage, PastRow } from "../../layers/simulation/PastRuns.ts"
import { isRecord } from "../../schema/json/Json.ts"
import * as Money from "../../schema/money/Money.ts"
import { offerSubject } from "../../schema/runs/Health.ts"
import { anyKind, inputKindOf } from "../../schema/runs/InputKind.ts"
import { countsFor } from "../../schema/runs/Quote.ts"
import type { PastRun } from "../../schema/simulation/PastRun.ts"
import type { Policy } from "../../schema/simulation/Policy.ts"
import type { CountsOf } from "../../schema/simulation/Rehearsal.ts"
import { makeReplayed, type Replay, type ReplayQuestion } from "./replayed.ts"
import { simulation, type Simulated } from "../../schema/simulation/Simulation.ts"

/** Runs of one simulation. They take between one and two seconds. */
export const runsMax = 100_000
/** Rows per statement, so that other requests are served in between. */
const pageRows = 5_000
/** Runs between two looks at the clock, so that looking costs little. They take about a tenth of a millisecond. */
const stepRuns = 8
/** Kinds of input whose measured outcomes are read. Runs of rarer kinds count by all inputs. */
const kindsMax = 50
/** Simulations of an organization, and of all, that run or wait for their turn in this process. The last half has one of each organization. */
const orgWaitingMax = 2
const waitingMax = 20
const busy = "Other simulations are running. Wait for those of your organization, then try again."
const slow = "The simulation took too long and was stopped. Choose a shorter time, or try again later."
const secondsMax = 20

export interface Question {
  readonly org_id: string
  readonly capability: string | null
  readonly from: Date
  readonly to: Date
  readonly policy: Policy
  /** That are replayed as well, beside opt-outs. Null: none. */
  readonly rules: ReplayQuestion["rules"] | null
}

export interface Simulation extends Simulated {
  /** Runs that no policy changes, or that can't be simulated. */
  readonly left_out: { readonly raw: number; readonly erased: number; readonly older: number }
  readonly limits: Replay | null
}

export class TooManyRuns extends Schema.TaggedError<TooManyRuns>()("TooManyRuns", {
  /** Creation time of the first run that was too many. */
  reached: Schema.Date
}) {}
export class SimulationBusy extends Schema.TaggedError<SimulationBusy>()("SimulationBusy", {
  message: Schema.String
}) {}

const isAttempt = (one: unknown) =>
  isRecord(one) &&
  typeof one["provider"] === "string" &&
  typeof one["outcome"] === "string" &&
  Number.isFinite(one["duration_ms"])

/** A schema would take ten times longer. */
const isAttempts = (value: unknown): value is PastRun["attempts"] => Array.isArray(value) && value.every(isAttempt)

type Attempts = PastRun["attempts"]
/** Attempts whose text is kept. Runs of a few providers that took as long have the same. */
const attemptsCachedMax = 20_000

/** Null for attempts of another shape. */
const attemptsReader = () => {
  const cache = new Map<string, Attempts | null>()
  return (text: string): Attempts | null => {
    const before = cache.get(text)
    if (before !== undefined) return before
    const parsed: unknown = JSON.parse(text)
    const attempts = isAttempts(parsed) ? parsed : null
    if (cache.size < attemptsCachedMax) cache.set(text, attempts)
    return attempts
  }
}

interface Readers {
  readonly plan: PlanReader
  readonly attempts: (text: string) => Attempts | null
}

interface Gathered {
  readonly runs: Array<PastRun>
  readonly left_out: { raw: number; erased: number; older: number }
}

/** Adds a row. `billsNoMatch` by capability. */
const gather = (
  { runs, left_out }: Gathered,
  row: PastRow,
  read: Readers,
  billsNoMatch: (capability: string) => boolean
) => {
  if (row.kind === "endpoint") {
    left_out.raw += 1
    return
  }
  if (row.plan === null) {
    left_out.erased += 1
    return
  }
  const plan = read.plan(row.plan)
  const attempts = read.attempts(row.attempts ?? "[]")
  if (plan === null || attempts === null) {
    left_out.older += 1
    return
  }
  runs.push({
    capability: row.capability,
    kind: row.input === null ? anyKind : inputKindOf(JSON.parse(row.input), plan.accept),
    plan,
    bills_no_match: billsNoMatch(row.capability),
    attempts,
    hit: row.status === "succeeded",
    provider: row.provider,
    charged: Money.MicroUsd(row.charged),
    duration_ms: row.duration_ms
  })
}

interface KindOfRuns {
  runs: number
  readonly providers: Set<string>
}

/** Runs and offered providers by capability, and there by kind of input. */
const kindsOf = function* (runs: ReadonlyArray<PastRun>) {
  const kinds = new Map<string, Map<string, KindOfRuns>>()
  for (const [n, { capability, kind, plan }] of runs.entries()) {
    const ofCapability = kinds.get(capability) ?? new Map<string, KindOfRuns>()
    kinds.set(capability, ofCapability)
    const runsOfKind = ofCapability.get(kind) ?? { runs: 0, providers: new Set() }
    ofCapability.set(kind, runsOfKind)
    runsOfKind.runs += 1
    for (const { provider } of plan.offers) runsOfKind.providers.add(provider)
    if (n % stepRuns === 0) yield
  }
  return kinds
}

export class Simulations extends Context.Service<
  Simulations,
  {
    readonly simulate: (question: Question) => Effect.Effect<Simulation, TooManyRuns | SimulationBusy>
    /** What the rules would have done with the runs since `from`. Null without any rule. */
    readonly replay: (question: ReplayQuestion) => Effect.Effect<Replay | null, SimulationBusy>
  }
>()("rungate/actors/simulation/Simulations") {
  static readonly layer = Layer.effect(
    Simulations,
    Effect.gen(function* () {
      const reads = yield* Reads
      const replayed = yield* makeReplayed
      const outcomes = yield* OfferOutcomes
      const catalog = yield* Catalog
      const billsNoMatch = (slug: string) => catalog.find(slug)?.capability.billing.bills_no_match ?? false

      const gathered = Effect.fnUntraced(function* ({ org_id, capability, from, to }: Question) {
        const all: Gathered = { runs: [], left_out: { raw: 0, erased: 0, older: 0 } }
        const read: Readers = { plan: planReader(), attempts: attemptsReader() }
        const add = function* ({ rows }: PastPage) {
          let n = 0
          for (const row of rows()) {
            gather(all, row, read, billsNoMatch)
            n += 1
            if (n % stepRuns === 0) yield
          }
        }
        const pageAfter = (after: string) => reads.pastRuns({ org_id, capability, from, to, after, limit: pageRows })
        let page = yield* pageAfter("")
        let count = 0
        for (;;) {
          const { last } = page
          count += page.count
          if (last !== null && count > runsMax) return yield* new TooManyRuns({ reached: last.created_at })
          if (last === null || page.count < pageRows) {
            yield* inSlices(add(page))
            return all
          }
          // The database reads the next page while this process parses one.
          ;[page] = yield* Effect.all([pageAfter(last.run_id), inSlices(add(page))], { concurrency: 2 })
        }
      })

      /** The measured outcomes of all offers of the runs, by kind of input. */
      const countsOf = Effect.fnUntraced(function* (runs: ReadonlyArray<PastRun>) {
        const kinds = yield* inSlices(kindsOf(runs))
        const wanted = [...kinds]
          .flatMap(([capability, ofCapability]) =>
            [...ofCapability].map(([kind, runsOfKind]) => ({ capability, kind, ...runsOfKind }))
          )
          .sort((a, b) => b.runs - a.runs)
        const countsBySubject = new Map<string, OfferCounts>()
        for (const [n, { capability, kind, providers }] of wanted.entries()) {
          const measuredKind = n < kindsMax ? kind : anyKind
          const subjects = [...providers].map((provider) => offerSubject(capability, provider))
          const counted = yield* outcomes.measured(subjects, measuredKind)
          for (const [subject, counts] of counted) countsBySubject.set(`${subject}\n${kind}`, counts)
        }
        const read: CountsOf = (capability, kind, provider) => {
          const counts = countsBySubject.get(`${offerSubject(capability, provider)}\n${kind}`)
          return countsFor(counts?.kind ?? null, counts?.all ?? null)
        }
        return read
      })

      const run = (question: Question) =>
        Effect.gen(function* () {
          const { runs, left_out } = yield* gathered(question)
          const counts = yield* countsOf(runs)
          const simulated = yield* inSlices(simulation(runs, question.policy, counts))
          const { rules } = question
          const limits = rules === null ? null : yield* replayed({ ...question, rules })
          return { ...simulated, left_out, limits } satisfies Simulation
        }).pipe(
          Effect.timeoutOrElse({
            duration: `${secondsMax} seconds`,
            orElse: () => new SimulationBusy({ message: slow })
          })
        )

      const oneAtATime = Semaphore.makeUnsafe(1)
      const waiting = new Map<string, number>()
      const count = (org_id: string, by: number) =>
        Effect.sync(() => {
          const now = (waiting.get(org_id) ?? 0) + by
          if (now === 0) waiting.delete(org_id)
          else waiting.set(org_id, now)
        })

      const inTurn = <A, E>(org_id: string, work: Effect.Effect<A, E>) =>
        Effect.suspend((): Effect.Effect<A, E | SimulationBusy> => {
          const all = [...waiting.values()].reduce((sum, one) => sum + one, 0)
          const own = waiting.get(org_id) ?? 0
          if (own >= (all < waitingMax / 2 ? orgWaitingMax : 1) || all >= waitingMax)
            return new SimulationBusy({ message: busy })
          return Effect.acquireUseRelease(
            count(org_id, 1),
            () => oneAtATime.withPermit(work),
            () => count(org_id, -1)
          )
        })

      return Simulations.of({
        simulate: (question) => inTurn(question.org_id, run(question)),
        replay: (question) => inTurn(question.org_id, replayed(question))
      })
    })
  )
}
