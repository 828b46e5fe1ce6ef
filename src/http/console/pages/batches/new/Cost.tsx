/** What the batch may cost, its limit, and the button that runs it for at most that. */
import { useState } from "react"
import { onForm, useAction } from "../../../actions/Actions.tsx"
import { useGo } from "../../../data/address.ts"
import { queries } from "../../../data/api.ts"
import { amountOf, exactDollars, isLess, microsOf } from "../../../data/money.ts"
import { counted } from "../../../../client/Words.ts"
import { Allowed, Button, Loaded, TextLink } from "../../../parts/Page.tsx"
import { useWallet } from "../../../frame/Balance.tsx"
import { Amounts } from "../../../lists/Facts.tsx"
import { AmountField, FormProblem, problemOf } from "../../../parts/Field.tsx"
import { Money } from "../../../parts/Values.tsx"
import { keptFiles } from "../readFile.ts"
import type { CheckedRow } from "./Columns.tsx"
import { type Plan, type SampledCost, startBatch, useQuotes } from "./startBatch.ts"

const timesOf = (amount: string, count: number): string => amountOf((microsOf(amount) ?? 0n) * BigInt(count))

const Figures = ({ cost, count }: { readonly cost: SampledCost; readonly count: number }) => (
  <>
    <Amounts
      amounts={[
        ["A row, at most", cost.maximum],
        [`All ${count.toLocaleString("en")} rows, at most`, timesOf(cost.maximum, count)],
        ["Expected", timesOf(cost.expected, count)]
      ]}
    />
    <p className="mt-2 text-small text-muted">
      From quotes of {counted(cost.quoted, "row")} of the file. The limit below holds in any case.
    </p>
    {cost.refused.map((message) => (
      <p key={message} className="mt-2 break-words text-amber">
        The service refused a row of the file: {message}
      </p>
    ))}
    {cost.blocked !== null && <p className="mt-2 break-words text-amber">A row would be blocked now: {cost.blocked}</p>}
  </>
)

type Draft = Omit<Plan, "max_total" | "again">

/** `suggested`: the most that all rows cost by their quotes. */
const Runs = ({ plan, suggested }: { readonly plan: Draft; readonly suggested: string }) => {
  const count = plan.inputs.length
  const [typed, setTyped] = useState<string | null>(null)
  const [again, setAgain] = useState("")
  const go = useGo()
  const available = useWallet().data?.available
  const limit = (typed ?? suggested).trim()
  const isAmount = (microsOf(limit) ?? 0n) > 0n && !limit.startsWith("-")
  const start = useAction((token: string) => startBatch({ ...plan, max_total: limit, again: token }), {
    after: ({ isNew, id }) => {
      keptFiles.set(id, plan.sheet)
      void queries.invalidateQueries({ queryKey: ["batches"] })
      if (isNew) go(`/batches/${id}`)
    }
  })
  const runAgain = () => {
    // Another try after a lost connection sends the same token, so it joins what this one started.
    const token = crypto.randomUUID()
    setAgain(token)
    start.mutate(token)
  }
  return (
    <form onSubmit={onForm(() => start.mutate(again))} className="mt-4 space-y-4">
      <AmountField
        label="Limit of the whole batch in USD"
        name="max_total"
        required
        pattern="\d{1,7}(\.\d{1,6})?"
        value={typed ?? suggested}
        onChange={(event) => setTyped(event.target.value)}
        hint="All rows together never hold and charge more. Rows that it stops end as blocked and cost nothing."
        problem={problemOf(start.error, "max_total")}
        className="max-w-72"
      />
      {isAmount && isLess(limit, suggested) && (
        <p className="text-amber">The limit is below what all rows may cost. It may stop some of them.</p>
      )}
      {available !== undefined && isAmount && isLess(available, limit) && (
        <p className="text-amber">
          The wallet has <Money amount={available} /> available. Rows that it can't pay end as blocked.{" "}
          <TextLink to="/wallet">Top up</TextLink>
        </p>
      )}
      <FormProblem error={start.error} />
      {start.data?.isNew === false ? (
        // Running the file again is another purchase, so it is asked for in its own words.
        <div role="alert" className="rounded border border-amber p-4">
          <p className="font-medium">
            This file was run before, with the same columns. Nothing was started or paid now.
          </p>
          <div className="mt-3 flex flex-wrap items-center gap-4">
            <TextLink to={`/batches/${start.data.id}`}>Show that batch</TextLink>
            <Button look="danger" busy={start.isPending} onClick={runAgain}>
              Run it again, and pay again, at most {exactDollars(limit)}
            </Button>
          </div>
        </div>
      ) : (
        <Button type="submit" look="primary" busy={start.isPending} disabled={!isAmount}>
          Run {counted(count, "row")}
          {isAmount && ` for at most ${exactDollars(limit)}`}
        </Button>
      )}
    </form>
  )
}

export const Cost = ({ rows, plan }: { readonly rows: ReadonlyArray<CheckedRow>; readonly plan: Draft }) => {
  const good = rows.filter(({ problems }) => problems.length === 0)
  const cost = useQuotes(
    plan.capability,
    good.map(({ input }) => input)
  )
  if (good.length === 0) return <p className="text-muted">No row can be run yet. Choose the columns of its fields.</p>
  return (
    <Loaded query={cost}>
      {(data) => (
        <>
          <Figures cost={data} count={good.length} />
          {data.quoted > 0 && (
            <Allowed operation="batches.create">
              <Runs
                key={JSON.stringify([plan.sheet.name, plan.capability, plan.mapping])}
                plan={plan}
                suggested={timesOf(data.maximum, good.length)}
              />
            </Allowed>
          )}
        </>
      )}
    </Loaded>
  )
}
