/** Plans of past runs are read in parts, which are kept. Whatever was read before, each plan is as if it was parsed whole. */
import { expect, test } from "bun:test"
import { Schema } from "effect"
import { planReader } from "../../../src/layers/simulation/PastPlans.ts"
import { anyDemand } from "../../../src/schema/money/Pricing.ts"
import { Plan } from "../../../src/schema/runs/Plan.ts"
import { pastPlanOf } from "../../../src/schema/simulation/PastRun.ts"

const base = {
  providers: ["leadmagic", "hunter"],
  attempts_max: 2,
  routing: "auto",
  include_raw: false,
  side_effect: false,
  prices: ["0.012", "0.0294"],
  excluded: [{ provider: "icypeas", reason: "max_cost", quote: "0.12" }]
}
const seen = { catalog: "cd32a321250ccd69" }
const spare = [["prospeo", "0.048"]]
const measurements = [
  { hunter: [0.5, 900, 50] },
  { hunter: [0.6, null, 50], leadmagic: [null, 10, 1], prospeo: [1, 2, 3], icypeas: [0.1, 5, 9] },
  {},
  { hunter: ["0.5", 900, 50] },
  { hunter: [0.5, 900] },
  []
]
const plans = [
  ...[seen, { ...seen, strategy: "cheapest", max_cost: "0.05" }].flatMap((one) => [
    { ...base, seen: one },
    ...measurements.map((health) => ({ ...base, seen: { ...one, health, spare } })),
    ...measurements.map((health) => ({ ...base, conclusive: true, seen: { ...one, health } }))
  ]),
  ...measurements.map((health) => ({ ...base, own: [], seen: { ...seen, health } })),
  ...measurements.map((health) => ({ ...base, providers: 5, seen: { ...seen, health } })),
  base,
  {}
]

test("a plan is read as if it was parsed whole, in any order", () => {
  const read = planReader()
  const texts = plans.map((plan) => JSON.stringify(plan))
  const whole = texts.map((text) => {
    const plan: unknown = JSON.parse(text)
    return Schema.is(Plan)(plan) ? pastPlanOf(plan, anyDemand) : null
  })
  expect(whole.filter((plan) => plan !== null).length).toBe(14)
  expect(texts.map(read)).toEqual(whole)
  expect(texts.toReversed().map(read)).toEqual(whole.toReversed())
  expect(texts.map(planReader())).toEqual(whole)
})

test("plans with the same text are the same object", () => {
  const read = planReader()
  for (const plan of plans) {
    const text = JSON.stringify(plan)
    expect(read(text)).toBe(read(` ${text}`.slice(1)))
  }
})
