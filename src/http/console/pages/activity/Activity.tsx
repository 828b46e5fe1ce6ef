/** All runs, live: filtered, grouped, exported. */
import { useMemo } from "react"
import { firstRun } from "../../../client/Shell.ts"
import { type Search, useFilters } from "../../data/address.ts"
import { api, useRead } from "../../data/api.ts"
import { useKeyNames } from "../../data/lists.ts"
import { connection, refreshSoon, useLive } from "../../data/live.ts"
import { exactDollars, sumOf } from "../../data/money.ts"
import { useStore } from "../../data/store.ts"
import { Export } from "../../lists/Filters.tsx"
import { PagedList } from "../../lists/PagedList.tsx"
import { Button, Empty, Loaded, PageHead, TextLink } from "../../parts/Page.tsx"
import { DataTable } from "../../parts/Table.tsx"
import { Badge, CodeBlock } from "../../parts/Values.tsx"
import { usageColumns } from "../usage/UsageTable.tsx"
import { periodIn } from "../usage/groupings.ts"
import { Filters } from "./Filters.tsx"
import { RunTable } from "./RunTable.tsx"
import { queryOf, useRuns } from "./useRuns.ts"

const groupings = ["day", "capability", "provider", "key"] as const

const Groups = ({ search }: { readonly search: Search }) => {
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

const Live = () => (useStore(connection) === "live" ? <Badge tone="green">live</Badge> : null)

const Runs = ({ query }: { readonly query: Record<string, string> }) => {
  const { paged, changed, hasNew, show, hold } = useRuns(query)
  const { error, hasMore, more } = paged
  return (
    <PagedList
      // The table reads more by itself, but a page that was refused is asked for again by a person only.
      paged={{ ...paged, hasMore: false }}
      empty="Runs will be here, newest first."
      hint={
        <>
          <p className="text-muted">
            <TextLink to="/catalog">The catalog</TextLink> has forms that make the first. With a key, this command does:
          </p>
          <div className="w-full max-w-3xl">
            <CodeBlock label="the command" text={firstRun} />
          </div>
        </>
      }
      filtered={Object.keys(query).length > 0 && ["No run matches these filters.", "/activity", "Show all runs"]}
    >
      {(items) => (
        <div>
          {/* Over the rows, and without a height of its own: no row moves when it comes. */}
          <div className="sticky top-2 z-10 flex h-0 items-start justify-center max-lg:top-14">
            {hasNew && (
              <Button className="shadow-float" onClick={show}>
                Show new runs
              </Button>
            )}
          </div>
          <RunTable items={items} changed={changed} more={hasMore && error === null} loadMore={more} onHold={hold} />
        </div>
      )}
    </PagedList>
  )
}

const Activity = () => {
  const [search] = useFilters()
  const query = useMemo(() => queryOf(search), [search])
  return (
    <>
      <PageHead title="Activity" actions={<Export path="/v1/runs" query={query} name="runs.csv" />}>
        <Live />
      </PageHead>
      <Filters />
      {(search["group"] ?? "") === "" ? <Runs query={query} /> : <Groups search={search} />}
    </>
  )
}

export default Activity
