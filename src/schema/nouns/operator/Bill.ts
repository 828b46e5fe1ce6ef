/**
 * A provider's bill, compared with what the service recorded.
 *
 * A line that names a run is compared with that run. The other lines are compared by day, with the runs that no line names. So every amount is
 * in exactly one comparison, and the differences add up to the difference of the totals. Amounts are millionths of the bill's unit.
 */
import { Schema } from "effect"
import { withColumns } from "../../Columns.ts"
import { component, amount, amountAs, dayAs, nullableText, provider } from "../Noun.ts"
import { ProviderCredits } from "./Credits.ts"

export const BillDifference = Schema.Struct({
  kind: Schema.Literals(["not_recorded", "not_billed", "other_amount"]),
  day: dayAs(),
  run_id: nullableText.annotate({ description: "The run that the line names. Null for a day." }),
  billed: amount,
  recorded: amount
}).pipe(
  withColumns({
    list: ["day", "run_id", "kind", "billed", "recorded"],
    titles: { kind: "Difference" },
    kinds: { billed: "count", recorded: "count" }
  })
)

export const BillMatch = component("BillMatch", {
  provider,
  unit: ProviderCredits.fields.unit,
  billed: amount,
  recorded: amountAs("What runs that the provider delivered have cost, in the unit of the bill."),
  differences: Schema.Array(BillDifference)
})

export interface BillLine {
  /** In UTC, such as 2026-11-21. */
  readonly date: string
  readonly amount: bigint
  /** The provider's own reference. That of a run is its id. */
  readonly reference?: string | null
}

export interface RecordedCost {
  readonly run_id: string
  readonly day: string
  readonly cost: bigint
}

type Difference = typeof BillDifference.Type
type Amounts = Pick<Difference, "billed" | "recorded">
const added = <A extends Amounts>(one: A, { billed, recorded }: Amounts): A => ({
  ...one,
  billed: one.billed + billed,
  recorded: one.recorded + recorded
})

/** The differences are in the order of their days, those of runs first. `run_id` is null for a day. */
export const matchBill = (lines: ReadonlyArray<BillLine>, costs: ReadonlyArray<RecordedCost>) => {
  const runs = new Map(costs.map((one) => [one.run_id, one]))
  const named = new Set(lines.map(({ reference }) => reference))
  const amounts = [
    ...lines.map(({ date, amount, reference }) => {
      const { day = date, run_id = null } = runs.get(reference ?? "") ?? {}
      return { day, run_id, billed: amount, recorded: 0n }
    }),
    ...costs.map(({ day, run_id, cost }) => {
      return { day, run_id: named.has(run_id) ? run_id : null, billed: 0n, recorded: cost }
    })
  ]
  const differences = Array.from(Map.groupBy(amounts, ({ day, run_id }) => run_id ?? day).values(), (compared) =>
    compared.reduce(added)
  )
    .filter(({ billed, recorded }) => billed !== recorded)
    .map(({ billed, recorded, ...of }) => {
      const kind: Difference["kind"] = recorded === 0n ? "not_recorded" : billed === 0n ? "not_billed" : "other_amount"
      return { kind, ...of, billed, recorded }
    })
    .toSorted((a, b) =>
      a.day === b.day ? Number(a.run_id === null) - Number(b.run_id === null) : a.day < b.day ? -1 : 1
    )
  return { ...amounts.reduce<Amounts>(added, { billed: 0n, recorded: 0n }), differences }
}
