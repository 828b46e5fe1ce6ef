/**
 * Reads plans of past runs for a simulation. Few plans differ in anything but the measured health of their offers, so the rest is parsed once.
 *
 * 100,000 runs take a fraction of a second, where parsing each whole plan would take several.
 */
import { Schema } from "effect"
import { isRecord } from "../../schema/json/Json.ts"
import { anyDemand } from "../../schema/money/Pricing.ts"
import { Plan } from "../../schema/runs/Plan.ts"
import type { Health } from "../../schema/runs/Plan.ts"
import { type PastPlan, pastPlanOf, withHealth } from "../../schema/simulation/PastRun.ts"

/** More are parsed again. */
const plansMax = 20_000
/** Measurements of one plan that are kept. */
const healthsMax = 1_000
/** The member as `JSON.stringify` wrote it. Names of providers have no braces, so it ends with the first one. */
const start = '"health":{'

const isRate = (one: unknown) => one === null || Number.isFinite(one)
const isPlan = Schema.is(Plan)

/** What `Schema.is(Health)` says, which takes ten times longer. */
const isHealth = (value: unknown): value is Health =>
  isRecord(value) &&
  Object.values(value).every(
    (one) => Array.isArray(one) && one.length === 3 && isRate(one[0]) && isRate(one[1]) && Number.isFinite(one[2])
  )

interface Parts {
  readonly before: string
  readonly health: string
  readonly after: string
}

/** Null for a plan without measurements. */
const partsOf = (text: string): Parts | null => {
  const position = text.indexOf(start)
  const from = position + start.length - 1
  const to = position < 0 ? -1 : text.indexOf("}", from) + 1
  return to <= 0 ? null : { before: text.slice(0, from), health: text.slice(from, to), after: text.slice(to) }
}

/** Null for a plan that does not say what it was based on. */
export type PlanReader = (text: string) => PastPlan | null

/** Reads plans that differ only in their measurements. */
const restReader = (rest: PastPlan, parsed: (health: string) => PastPlan | null): PlanReader => {
  const plans = new Map<string, PastPlan | null>()
  return (text) => {
    const before = plans.get(text)
    if (before !== undefined) return before
    const health: unknown = JSON.parse(text)
    const plan = isHealth(health) ? withHealth(rest, health) : parsed(text)
    if (plans.size < healthsMax) plans.set(text, plan)
    return plan
  }
}

/** Most plans with the same text are the same object. */
export const planReader = (): PlanReader => {
  const wholes = new Map<string, PastPlan | null>()
  /** By the text before the measurements, then by the text after them. */
  const rests = new Map<string, Map<string, PlanReader>>()
  let restsCount = 0
  const parsed = (text: string): PastPlan | null => {
    const plan: unknown = JSON.parse(text)
    return isPlan(plan) ? pastPlanOf(plan, anyDemand) : null
  }
  const wholeOf: PlanReader = (text) => {
    const cached = wholes.get(text)
    if (cached !== undefined) return cached
    const plan = parsed(text)
    if (wholes.size < plansMax) wholes.set(text, plan)
    return plan
  }
  const readerOf = ({ before, after }: Parts): PlanReader => {
    const cached = rests.get(before)?.get(after)
    if (cached !== undefined) return cached
    const whole = (health: string) => parsed(before + health + after)
    const rest = whole("{}")
    const reader = rest === null ? () => null : restReader(rest, whole)
    if (restsCount < plansMax) {
      restsCount += 1
      const same = rests.get(before) ?? new Map<string, PlanReader>()
      rests.set(before, same.set(after, reader))
    }
    return reader
  }
  return (text) => {
    const parts = partsOf(text)
    return parts === null ? wholeOf(text) : readerOf(parts)(parts.health)
  }
}
