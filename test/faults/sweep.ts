/**
 * Every single fault of a flow: undisturbed passes count what may break, then one pass for each of these breaks it there.
 *
 * Several stages share the work, because most of a pass is waiting for something to recover.
 */
import type { Tenant } from "../kit/app.ts"
import { exhaustive, sampleSeed } from "../kit/input-samples.ts"
import type { LocalStripe } from "../layers/payments/standin.ts"
import { type Flow, type Part, quiet, type Stage } from "./stage.ts"
import { type Moment, moments, type Passage } from "./wire.ts"

/** One fault, on the stage where it happens. */
interface Disturbance {
  readonly begin: () => void
  readonly struck: () => boolean
  readonly end: () => Passage
  /** How long the flow may take from the fault to its end. */
  readonly recoverySecondsMax: number
  /** The last statements of a flow come after its answer. */
  readonly lastMillis: number
}

const pass = async <S extends Stage>(
  stage: S,
  flow: Flow<S>,
  { lastMillis, recoverySecondsMax, ...fault }: Disturbance
) => {
  const tenant: Tenant = await stage.direct.tenant("5.00")
  await quiet(stage.direct)
  const go = await flow.prepare(stage, tenant)
  await quiet(stage.direct)
  const violations: Array<string> = []
  const say = (error: unknown) => void violations.push(String(error).slice(0, 300))
  fault.begin()
  await go().catch(say)
  await quiet(stage.direct).catch(say)
  const last = performance.now() + lastMillis
  while (!fault.struck() && performance.now() < last) await Bun.sleep(5)
  if (fault.struck()) await quiet(stage.direct).catch(say)
  const passage = fault.end()
  const recovery_s = passage.struck === null ? 0 : (performance.now() - passage.struck.at) / 1_000
  if (recovery_s > recoverySecondsMax) say(`recovered after ${recovery_s.toFixed(1)} s only`)
  await flow.check(stage, tenant).then((found) => violations.push(...found), say)
  await stage.direct.books().catch(say)
  return { ...passage, recovery_s, violations }
}

/** A run that was leased in a commit whose answer was lost is taken over after five seconds; everything else is quicker. */
const recoverySecondsMax = 9
const broken = <S extends Stage>(stage: S, flow: Flow<S>, part: Part, k: number, moment: Moment): Disturbance => ({
  begin: () => stage.arm(flow, part, k, moment),
  struck: stage.struck,
  end: stage.disarm,
  recoverySecondsMax,
  // The queues never rest, so what is counted of them ends with the flow.
  lastMillis: part === "queues" && k === 0 ? 0 : 150
})

/** What the processor does to one of our calls. */
export interface ProcessorFault {
  readonly on: "checkout" | "charge" | RegExp
  readonly at: Moment
  readonly how: "close" | "hang" | number
}

/** How long the SDK waits for an answer. */
const sdkMillisMax = 15_000

const processorFails = (stripe: LocalStripe, { on, at, how }: ProcessorFault): Disturbance => {
  // The SDK tries a lost call once more, so a fault that is to be seen comes twice; one that hangs, it gives up by itself.
  let fault: ReturnType<LocalStripe["fault"]> | undefined
  let struckAt = 0
  return {
    begin: () => {
      fault = stripe.fault({ on, at, how, times: how === "hang" ? 1 : 2 })
      void fault.struck.then(() => {
        struckAt = performance.now()
        // The call goes on after the SDK has given it up, so its effect comes late.
        if (how === "hang") setTimeout(() => fault?.release(), sdkMillisMax + 1_000)
      })
    },
    struck: () => struckAt > 0,
    end: () => {
      fault?.lift()
      fault?.release()
      const text = `${on} ${how}`
      return { counted: [], struck: struckAt === 0 ? null : { text, at: struckAt } }
    },
    recoverySecondsMax: how === "hang" ? 2 * (sdkMillisMax / 1_000) : recoverySecondsMax,
    lastMillis: 0
  }
}

export interface Swept {
  readonly points: number
  /** Points at which something did break. A flow of the queues may be over before its last. */
  readonly struck: number
  readonly recovery_s_max: number
  readonly slowest: string
  readonly violations: ReadonlyArray<string>
}

interface Point<S> {
  readonly name: string
  readonly on: (stage: S) => Disturbance
}

const brief = (text: string) => text.replace(/--.*$/gm, "").replace(/\s+/g, " ").trim().slice(0, 60)
const triesMax = 3

const sweep = async <S extends Stage>(
  stages: ReadonlyArray<S>,
  flow: Flow<S>,
  points: ReadonlyArray<Point<S>>
): Promise<Swept> => {
  const left = [...points]
  const violations: Array<string> = []
  let struck = 0
  let slowest = { recovery_s: 0, what: "" }
  await Promise.all(
    stages.map(async (stage) => {
      for (let point = left.shift(); point !== undefined; point = left.shift()) {
        let went = await pass(stage, flow, point.on(stage))
        for (let tries = 1; went.struck === null && went.violations.length === 0 && tries < triesMax; tries += 1)
          went = await pass(stage, flow, point.on(stage))
        const what = `${point.name}: ${brief(went.struck?.text ?? "not reached")}`
        if (went.struck !== null) struck += 1
        if (went.recovery_s > slowest.recovery_s) slowest = { recovery_s: went.recovery_s, what }
        violations.push(...went.violations.map((one) => `${what}: ${one}`))
      }
    })
  )
  const recovery_s_max = Number(slowest.recovery_s.toFixed(1))
  return { points: points.length, struck, recovery_s_max, slowest: slowest.what, violations }
}

/** Every statement, before and after it; in a sample before or after it, by the day. */
export const sweepStatements = async <S extends Stage>(
  stages: ReadonlyArray<S>,
  flow: Flow<S>,
  part: Part
): Promise<Swept & { readonly statements: number }> => {
  const clean = await Promise.all(stages.map((stage) => pass(stage, flow, broken(stage, flow, part, 0, "before"))))
  const undisturbed = clean.flatMap((one) => one.violations.map((what) => `undisturbed: ${what}`))
  const statements = Math.max(...clean.map((one) => one.counted.length))
  const all = Array.from({ length: statements }, (_, at) => at + 1).flatMap((k) =>
    moments
      .filter((_, turn) => exhaustive || turn === (k + sampleSeed) % moments.length)
      .map((moment) => ({ k, moment }))
  )
  const points = all.map(
    ({ k, moment }): Point<S> => ({
      name: `${moment} ${k}`,
      on: (stage) => broken(stage, flow, part, k, moment)
    })
  )
  const swept = await sweep(stages, flow, points)
  return { statements, ...swept, violations: [...undisturbed, ...swept.violations] }
}

export const sweepProcessor = <S extends Stage & { readonly stripe: LocalStripe }>(
  stages: ReadonlyArray<S>,
  flow: Flow<S>,
  faults: ReadonlyArray<ProcessorFault>
): Promise<Swept> =>
  sweep(
    stages,
    flow,
    faults.map((fault) => ({
      name: `${fault.on} ${fault.how} ${fault.at}`,
      on: ({ stripe }) => processorFails(stripe, fault)
    }))
  )
