/**
 * Reads plans of past runs for a simulation. Few plans differ in anything but the measured health of their offers, so the rest is parsed once.
 *
 * 100,000 runs take a fraction of a second, where parsing each whole plan would take several.
 */
import { Schema } from "effect"
import { isRecord } from "../../schema/json/Json.ts"
import { anyDemand } from "../../schema/money/Pricing.ts"
import { Plan } from "../../schema/runs/Plan.ts"
import type { Health } from "../../schema/runs/Seen.ts"
import { type PastPlan, pastPlanOf, withHealth } from "../../schema/simulation/PastRun.ts"

/** More are parsed again. */
const knownMax = 20_000
/** The member as `JSON.stringify` wrote it. Names of providers have no braces, so it ends with the first one. */
const start = '"health":{'

const isRate = (one: unknown) => one === null || Number.isFinite(one)
const isPlan = Schema.is(Plan)

/** What `Schema.is(Health)` says, which takes ten times longer. */
const isHealth = (found: unknown): found is Health =>
  isRecord(found) &&
  Object.values(found).every(
    (one) => Array.isArray(one) && one.length === 3 && isRate(one[0]) && isRate(one[1]) && Number.isFinite(one[2])
  )

interface Parts {
  readonly rest: string
  readonly health: Health | null
}

const partsOf = (text: string): Parts => {
  const from = text.indexOf(start)
  const to = text.indexOf("}", from)
  if (from < 0 || to < 0) return { rest: text, health: null }
  const health: unknown = JSON.parse(text.slice(from + start.length - 1, to + 1))
  if (!isHealth(health)) return { rest: text, health: null }
  return { rest: `${text.slice(0, from + start.length)}${text.slice(to)}`, health }
}

/** Null for a plan that does not say what it was based on. */
export type PlanReader = (text: string) => PastPlan | null

/** Plans with the same text are the same object. */
export const planReader = (): PlanReader => {
  const wholes = new Map<string, PastPlan | null>()
  const rests = new Map<string, PastPlan | null>()
  const kept = <A>(map: Map<string, A>, key: string, value: A): A => {
    if (map.size < knownMax) map.set(key, value)
    return value
  }
  const parsed = (text: string): PastPlan | null => {
    const plan: unknown = JSON.parse(text)
    return isPlan(plan) ? pastPlanOf(plan, anyDemand) : null
  }
  return (text) => {
    const before = wholes.get(text)
    if (before !== undefined) return before
    const { rest, health } = partsOf(text)
    const known = rests.get(rest)
    const plan = known === undefined ? kept(rests, rest, parsed(rest)) : known
    return kept(wholes, text, plan === null || health === null ? plan : withHealth(plan, health))
  }
}
