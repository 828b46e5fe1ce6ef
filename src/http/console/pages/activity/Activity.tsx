/** All runs, live: filtered, grouped, exported. */
import { useMemo } from "react"
import { firstRun } from "../../../client/Shell.ts"
import { type Search, useFilters } from "../../data/address.ts"
import { api } from "../../data/api.ts"
import { useKeyNames } from "../../data/lists.ts"
import { connection, refreshSoon, useLive } from "../../data/live.ts"
import { exactDollars, sumOf } from "../../data/money.ts"
import { useStore } from "../../data/store.ts"
import { Export } from "../../lists/Filters.tsx"
import { PagedList, PagedTable, usePaged } from "../../lists/PagedList.tsx"
import { Button, PageHead, TextLink } from "../../parts/Page.tsx"
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
  const paged = usePaged(
    ["usage", by, period],
    (from) => api.usage.get({ query: { ...period, group_by: by, ...from } }),
    { pageSize: 200 }
  )
  const { items, hasMore } = paged
  const names = useKeyNames(by === "key")
  useLive(({ type }) => {
    if (type === "run.finished") refreshSoon("usage")
  })
  return (
    <>
      <PagedTable
        paged={paged}
        label={`Runs by ${by}`}
        columns={usageColumns([by], {}, names)}
        keyOf={(item) => String(item[by] ?? "")}
        empty="No run ended in this time."
        hint={<TextLink to="/activity">Show runs one by one</TextLink>}
      />
      {items !== null && items.length > 0 && (
        <p className="mt-3 text-muted">
          {!hasMore && `${exactDollars(sumOf(items.map(({ charged }) => charged)))} in total. `}
          Finished runs by day of the time zone; other filters do not apply to groups.
        </p>
      )}
    </>
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
  const { group = "" } = search
  const query = useMemo(() => queryOf(search), [search])
  return (
    <>
      <PageHead title="Activity" actions={<Export path="/v1/runs" query={query} name="runs.csv" />}>
        <Live />
      </PageHead>
      <Filters />
      {group === "" ? <Runs query={query} /> : <Groups key={group} search={search} />}
    </>
  )
}

export default Activity
