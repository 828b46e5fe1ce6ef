/**
 * Compares a provider's bill with what the service recorded. Pure.
 *
 * A line that names a run is compared with that run. The other lines are compared by day, with the runs that no line names. So every amount is
 * in exactly one comparison, and the differences add up to the difference of the totals. Amounts are millionths of the bill's unit.
 */
export interface BillLine {
  /** In UTC, such as 2026-11-21. */
  readonly day: string
  readonly amount: bigint
  /** The provider's own reference. That of a run is its id. */
  readonly reference: string | null
}

export interface RecordedCost {
  readonly run_id: string
  readonly day: string
  readonly cost: bigint
}

export const billDifferences = ["not_recorded", "not_billed", "other_amount"] as const

export interface BillDifference {
  readonly kind: (typeof billDifferences)[number]
  readonly day: string
  /** The run. Null for a day. */
  readonly run_id: string | null
  readonly billed: bigint
  readonly recorded: bigint
}

const sum = (amounts: ReadonlyArray<bigint>): bigint => amounts.reduce((all, one) => all + one, 0n)

const compared = (
  day: string,
  run_id: string | null,
  billed: bigint,
  recorded: bigint
): ReadonlyArray<BillDifference> =>
  billed === recorded
    ? []
    : [
        {
          kind: recorded === 0n ? "not_recorded" : billed === 0n ? "not_billed" : "other_amount",
          day,
          run_id,
          billed,
          recorded
        }
      ]

export const matchBill = (lines: ReadonlyArray<BillLine>, costs: ReadonlyArray<RecordedCost>) => {
  const runs = new Map(costs.map((one) => [one.run_id, one]))
  const named = Map.groupBy(lines, ({ reference }) => (reference !== null && runs.has(reference) ? reference : null))
  const ofRuns = [...named].flatMap(([run_id, own]) => {
    const run = runs.get(run_id ?? "")
    return run === undefined ? [] : compared(run.day, run.run_id, sum(own.map(({ amount }) => amount)), run.cost)
  })
  const billedOn = Map.groupBy(named.get(null) ?? [], ({ day }) => day)
  const recordedOn = Map.groupBy(
    costs.filter(({ run_id }) => !named.has(run_id)),
    ({ day }) => day
  )
  const ofDays = [...new Set([...billedOn.keys(), ...recordedOn.keys()])].flatMap((day) =>
    compared(
      day,
      null,
      sum((billedOn.get(day) ?? []).map(({ amount }) => amount)),
      sum((recordedOn.get(day) ?? []).map(({ cost }) => cost))
    )
  )
  return {
    billed: sum(lines.map(({ amount }) => amount)),
    recorded: sum(costs.map(({ cost }) => cost)),
    differences: [...ofRuns, ...ofDays].toSorted((a, b) => (a.day < b.day ? -1 : a.day > b.day ? 1 : 0))
  }
}
