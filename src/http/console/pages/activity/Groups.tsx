/** Finished runs and their charges in groups, from the same numbers that the ledger has. */
import { useMemo } from "react"
import type { Search } from "../../data/address.ts"
import { api, useRead } from "../../data/api.ts"
import { useKeyNames } from "../../data/lists.ts"
import { refreshSoon, useLive } from "../../data/live.ts"
import { exactDollars, sumOf } from "../../data/money.ts"
import { Empty, Loaded, TextLink } from "../../parts/Page.tsx"
import { DataTable } from "../../parts/Table.tsx"
import { periodIn } from "../usage/groupings.ts"
import { usageColumns } from "../usage/UsageTable.tsx"

const groupings = ["day", "capability", "provider", "key"] as const

export const Groups = ({ search }: { readonly search: Search }) => {
  const by = groupings.find((one) => one === search["group"]) ?? "day"
  const period = useMemo(() => periodIn(search), [search])
  const usage = useRead(["usage", by, period], () => api.usage.get({ query: { ...period, group_by: by, limit: 200 } }))
  const names = useKeyNames(by === "key")
  useLive(({ type }) => {
    if (type === "run.finished") refreshSoon("usage")
  })
  return (
    <Loaded query={usage}>
      {({ items, next_cursor }) =>
        items.length === 0 ? (
          <Empty title="No run ended in this time.">
            <TextLink to="/activity">Show runs one by one</TextLink>
          </Empty>
        ) : (
          <>
            <DataTable
              label={`Runs by ${by}`}
              rows={items}
              columns={usageColumns([by], {}, names)}
              keyOf={(item) => String(item[by] ?? "")}
            />
            <p className="mt-3 text-muted">
              {next_cursor === null
                ? `${exactDollars(sumOf(items.map(({ charged }) => charged)))} in total.`
                : "The first 200 groups."}{" "}
              Finished runs by day of the time zone; other filters do not apply to groups.
            </p>
          </>
        )
      }
    </Loaded>
  )
}
