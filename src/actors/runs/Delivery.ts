/**
 * Evaluates a provider's answer for its run: the delivery and its charge, the attempt's outcome, and the provider cost. Pure.
 */
import type { ProviderAnswer, RawProviderAnswer } from "../../layers/executor/Providers.ts"
import type { Capability } from "../../schema/catalog/Capability.ts"
import { accepted, agreementKey } from "../../schema/catalog/Acceptance.ts"
import { outcomeUnknown } from "../../schema/catalog/Doubt.ts"
import { failure } from "../../schema/catalog/Provider.ts"
import type { ReportedCost } from "../../schema/wallet/Loss.ts"
import * as Money from "../../schema/money/Money.ts"
import { marked, type Step } from "../../schema/accounts/OwnAccount.ts"
import { acts, type Plan } from "../../schema/runs/Plan.ts"
import { charge, type Price, providerCost, rawCharge } from "../../schema/money/Pricing.ts"
import type { RawPlan } from "../../schema/runs/RawPlan.ts"
import type { Attempt, RunStatus } from "../../schema/runs/Run.ts"
import { isOpenAttempt } from "../../schema/nouns/Run.ts"
import { storableJson } from "../../schema/json/StorableText.ts"

/** The outcome of an attempt whose worker died, so that the provider's part is unknown. The run may retry it. */
export const lost = "worker_lost"
const workerDied = "the process that made this call died; its outcome is unknown"
export const notRecorded = "the answer to this call could not be recorded; the operator can find it with rungate audit"
/** Closes attempts of a dead worker. With `final` the call is not retried, so its outcome stays unknown. */
export const closeLost = (
  attempts: ReadonlyArray<Attempt>,
  final: boolean,
  detail = workerDied
): ReadonlyArray<Attempt> =>
  attempts.map((one) => (isOpenAttempt(one) ? { ...one, outcome: final ? outcomeUnknown : lost, detail } : one))
export const isUnknown = (attempt: Attempt) => attempt.outcome === outcomeUnknown

export interface Delivered {
  readonly status: "succeeded" | "no_match"
  readonly provider: string
  readonly charge: Money.MicroUsd
  /** The charge by the offer's rate, with which a reported cost is compared. Null for raw runs. */
  readonly rated: Money.MicroUsd | null
  readonly billed: boolean
  /** JSON text. */
  readonly result: string | null
  readonly inconclusive: boolean
  /** It came through the organization's own account. */
  readonly own: boolean
  /** `accept` refused it, and the capability charges a miss: the run ends with it only if no other answer is accepted. */
  readonly refused?: true
  /** The values that another provider has to give too, if `accept` says so. */
  readonly agrees?: string
}

/** A delivery and the index of its attempt. */
export interface Kept {
  readonly at: number
  readonly delivered: Delivered
  /** The answer that agrees with it, which is charged as well. */
  readonly also?: Kept
}

const alone = { outcome: "no_match", detail: "it matches, and another provider has to give the same" }
const inconclusive = { outcome: "inconclusive", detail: "the answer is inconclusive; another provider is called" }

/** What an answer means for its run. */
export type Next =
  | { readonly _tag: "Ends"; readonly kept: Kept }
  /** The next provider is called. The run may end with one of `kept` if no later answer ends it. */
  | { readonly _tag: "Waits"; readonly kept: ReadonlyArray<Kept>; readonly marks: Partial<typeof alone> }

export const nextOf = (plan: Plan, earlier: ReadonlyArray<Kept>, latest: Kept): Next => {
  const { agrees, refused, provider } = latest.delivered
  const same = earlier.find(
    ({ delivered }) => agrees !== undefined && delivered.agrees === agrees && delivered.provider !== provider
  )
  if (same !== undefined) return { _tag: "Ends", kept: { ...same, also: latest } }
  const kept = [...earlier, latest]
  if (agrees !== undefined) return { _tag: "Waits", kept, marks: alone }
  if (refused === true) return { _tag: "Waits", kept, marks: {} }
  return plan.conclusive === true && latest.delivered.inconclusive
    ? { _tag: "Waits", kept, marks: inconclusive }
    : { _tag: "Ends", kept: latest }
}

/** The answer that a run ends with if it has no better one: an accepted one if there is any. An answer without a second one that agrees is a miss. */
export const lastResort = (kept: ReadonlyArray<Kept>, billsNoMatch: boolean): Kept | null => {
  const first =
    kept.find(({ delivered: { agrees, refused } }) => agrees === undefined && refused === undefined) ??
    kept.find(({ delivered }) => delivered.agrees === undefined || billsNoMatch)
  if (first === undefined || first.delivered.agrees === undefined) return first ?? null
  return { ...first, delivered: { ...first.delivered, status: "no_match" } }
}

/** What the run is charged: each answer that it ends with, together no more than it holds. */
export const chargeOf = ({ delivered, also }: Kept, hold: Money.MicroUsd): Money.MicroUsd =>
  Money.min(Money.plus(delivered.charge, also?.delivered.charge ?? Money.zero), hold)

/** The attempts with the outcomes of a run that ends with this answer. One that had succeeded keeps its note. */
export const endedAttempts = (
  attempts: ReadonlyArray<Attempt>,
  { at, delivered: { status }, also }: Kept
): ReadonlyArray<Attempt> =>
  status === "no_match"
    ? attempts
    : attempts.map((one, n) =>
        (n === at || n === also?.at) && one.outcome !== "succeeded"
          ? { ...one, outcome: "succeeded", detail: null }
          : one
      )

export const attemptOf = (
  { provider, own }: Step,
  answered: ProviderAnswer | RawProviderAnswer,
  delivered: Delivered | null,
  plan: Plan
): Attempt => {
  const { answer, duration_ms, doubt } = answered
  // Its members in the order of the schema, as an answer has them that was read from the database.
  const ended = (outcome: string, detail: string | null): Attempt => ({
    provider,
    outcome,
    duration_ms,
    detail,
    ...marked(own)
  })
  if (answer._tag === "Delivered") {
    const notes = [...(plan.raw?.filled ?? []), ...(answer.note === undefined ? [] : [answer.note])]
    return ended("succeeded", notes.length === 0 ? null : notes.join(" "))
  }
  if (answer._tag === "NoMatch") return ended("no_match", answer.detail)
  if (answer._tag === "Failure")
    return ended(doubt !== undefined && acts(plan) ? outcomeUnknown : answer.reason, answer.detail)
  if ("refused" in answered && answered.refused !== undefined) return ended("no_match", answered.refused)
  // For example an address that the provider found and reports as invalid: that is no match.
  return delivered === null || delivered.refused === true
    ? ended("no_match", "its result does not count as a match")
    : ended("succeeded", null)
}

const resultOf = (output: unknown, raw: string | null, sandbox: boolean): string | null => {
  if (output === null || typeof output !== "object") return null
  // An adapter may cut a string within a character. The raw payload stays as the provider wrote it.
  const text = storableJson(JSON.stringify(sandbox ? { ...output, sandbox: true } : output))
  return raw === null ? text : `${text.slice(0, -1)},"raw":${raw}}`
}

/** What the run may be charged. */
export interface Agreed {
  readonly provider: string
  readonly price: Price
  /** The price that follows from the offer's rate. The plan's may be another one. */
  readonly rated: Price
  /** It covers every price of the plan. A plan of an older version has none, and today's price may be above its hold. */
  readonly hold: Money.MicroUsd
  readonly own: boolean
}

/** An answer that breaks the capability's contract. Of a call that acts it does not say what the call did, so it counts as unreadable. */
export const checkedAnswer = (capability: Capability, answered: ProviderAnswer): ProviderAnswer =>
  capability.side_effect && answered.answer._tag === "Match" && !capability.output.accepts(answered.answer.output)
    ? {
        ...answered,
        answer: failure("invalid_response", "the answer does not have the fields of the capability's output"),
        doubt: "unreadable_answer"
      }
    : answered

/** The answer as far as `accept` of the run takes it. `now` in milliseconds since 1970. */
export const acceptedAnswer = (
  capability: Capability,
  { accept }: Plan,
  answered: ProviderAnswer,
  now: number
): ProviderAnswer => {
  const { answer } = answered
  const acceptable = capability.acceptable()
  if (accept === undefined || acceptable === null || answer._tag !== "Match") return answered
  // An output that breaks the contract is no delivery, whatever is accepted.
  if (!capability.output.accepts(answer.output)) return answered
  const taken = accepted(accept, acceptable, answer.output, now)
  if (taken._tag === "Refused") return { ...answered, refused: taken.why }
  if (taken.output === answer.output) return answered
  // The provider's own answer has the items that are not delivered, too.
  return { ...answered, answer: { _tag: "Match", output: taken.output }, raw: null }
}

/** The delivery of an answer, or null when the next provider should be called. */
export const deliveryOf = (
  capability: Capability,
  { provider, price, rated, hold, own }: Agreed,
  input: unknown,
  { answer, raw, refused }: ProviderAnswer,
  { accept }: Pick<Plan, "accept">,
  sandbox: boolean
): Delivered | null => {
  if (answer._tag !== "Match" && answer._tag !== "NoMatch") return null
  const judgement =
    answer._tag === "Match"
      ? capability.judge(answer.output)
      : { matched: false, results: 0, unbilled: false, inconclusive: false }
  if (judgement === null) return null
  const judged = refused === undefined ? judgement : { ...judgement, matched: false }
  const output = answer._tag === "Match" ? answer.output : null
  const demand = capability.demand(input)
  const charged = Money.min(charge(price, capability.billing, demand, judged), hold)
  const byRate = charge(rated, capability.billing, demand, judged)
  const about = { provider, charge: charged, rated: byRate, billed: true, inconclusive: judged.inconclusive, own }
  if (judged.matched) {
    const agrees = accept?.agree === undefined ? {} : { agrees: agreementKey(accept, output) }
    return { ...about, status: "succeeded", result: resultOf(output, raw, sandbox), ...agrees }
  }
  if (!capability.billing.bills_no_match) return null
  if (accept !== undefined)
    return { ...about, status: "no_match", result: resultOf(output, raw, sandbox), refused: true }
  // A billed miss with an output, such as "unknown", succeeds. Without an output it is a billed no-match.
  if (output === null) return { ...about, status: "no_match", result: null }
  return { ...about, status: "succeeded", result: resultOf(output, raw, sandbox) }
}

/** A raw run delivers any answer of the provider. Its charge comes from the measured cost or the rate card. */
export const rawDeliveryOf = (
  { provider, own }: Step,
  raw: RawPlan,
  /** What a call through the organization's own account is charged. */
  fee: Money.MicroUsd,
  markup: string | undefined,
  { answer }: RawProviderAnswer,
  sandbox: boolean
): Delivered | null => {
  if (answer._tag !== "Delivered") return null
  const rates = raw.estimate === null ? null : { estimate: Money.dollars(raw.estimate) }
  return {
    status: "succeeded",
    provider,
    charge: own ? fee : rawCharge(rates, answer.measured, Money.dollars(raw.hold), markup),
    own,
    rated: null,
    billed: true,
    inconclusive: false,
    result: `{"data":${answer.data},"raw":true${sandbox ? ',"sandbox":true' : ""}}`
  }
}

/** Provider cost per attempt, by the attempt's index. Attempts that report no cost have no entry. */
export type Reports = ReadonlyMap<number, Money.MicroUsd>
export const reportOf = (answered: ProviderAnswer | RawProviderAnswer): Money.MicroUsd | null => {
  if ("measured" in answered) return answered.measured
  return answered.answer._tag === "Delivered" ? answered.answer.measured : null
}
/** The reported costs as a settlement holds them; no member when there are none, as for most runs. */
export const costsOf = (attempts: ReadonlyArray<Attempt>, kept: Kept | null, reports: Reports) => {
  const costs = [...reports].map(([number, cost]): ReportedCost => {
    const attempt = attempts[number]
    if (attempt === undefined) throw new Error(`Attempt ${number} of ${attempts.length} reported a cost.`)
    return { provider: attempt.provider, cost, delivering: number === kept?.at || number === kept?.also?.at }
  })
  return costs.length === 0 ? {} : { costs }
}
/** `kept` is what the run is charged for; null for a run without a charge. */
export const costOf = (kept: Kept | null, reports: Reports, markup: string | undefined): Money.MicroUsd => {
  const answers = kept === null ? [] : [kept, ...(kept.also === undefined ? [] : [kept.also])]
  const others = [...reports].flatMap(([number, cost]) => (answers.some(({ at }) => at === number) ? [] : [cost]))
  const [first = Money.zero, ...more] = answers.map(({ at, delivered: { own, charge } }, n) =>
    // The provider bills the organization for a call through its own account.
    providerCost(own ? Money.zero : charge, reports.get(at) ?? null, n === 0 ? others : [], markup)
  )
  return answers.length === 0 ? providerCost(Money.zero, null, others, markup) : Money.plus(first, Money.sum(more))
}

export const finalStatus = (attempts: ReadonlyArray<Attempt>): RunStatus => {
  if (attempts.some(isUnknown)) return "failed"
  if (attempts.some((one) => one.outcome === "no_match")) return "no_match"
  return attempts.length > 0 && attempts.every((one) => one.outcome === "provider_timeout") ? "timed_out" : "failed"
}
