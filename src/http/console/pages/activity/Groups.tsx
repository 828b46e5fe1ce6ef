/** Finished runs and their charges in groups, from the same numbers that the ledger has. */
import { useQuery } from "@tanstack/react-query"
import { useCallback } from "react"
import type { AnswerOf } from "../../../client/Browser.ts"
import type { Search } from "../../data/address.ts"
import { api } from "../../data/api.ts"
import { useApiKeys } from "../../data/apiKeys.ts"
import { type LiveEvent, refreshSoon, useLive } from "../../data/live.ts"
import { exactDollars, sumOf } from "../../data/money.ts"
import { RowLink, TextLink } from "../../parts/Link.tsx"
import { Money } from "../../parts/Money.tsx"
import { Empty, Loaded } from "../../parts/States.tsx"
import { type Column, DataTable } from "../../parts/Table.tsx"

type Item = AnswerOf<"usage", "get">["items"][number]
type Grouping = "day" | "capability" | "provider" | "key"
const groupings: ReadonlyArray<Grouping> = ["day", "capability", "provider", "key"]

const titles: Readonly<Record<Grouping, string>> = {
  day: "Day (UTC)",
  capability: "Capability",
  provider: "Provider",
  key: "Key"
}
const none: Readonly<Record<Grouping, string>> = {
  day: "",
  capability: "raw endpoints",
  provider: "no provider",
  key: "without a key"
}

const addressOf = (by: Grouping, value: string) => {
  const text = encodeURIComponent(value)
  return by === "day" ? `/activity?from=${text}&to=${text}` : `/activity?${by}=${text}`
}

export const Groups = ({ search }: { readonly search: Search }) => {
  const by = groupings.find((one) => one === search["group"]) ?? "day"
  const period = Object.fromEntries(
    Object.entries(search).filter(([name, text]) => (name === "from" || name === "to") && text !== "")
  )
  const usage = useQuery({
    queryKey: ["usage", by, period],
    queryFn: () => api.usage.get({ query: { ...period, group_by: by, limit: 200 } })
  })
  const keys = useApiKeys({ enabled: by === "key" }).data
  useLive(
    useCallback(({ type }: LiveEvent) => {
      if (type === "run.finished") refreshSoon("usage")
    }, [])
  )
  const nameOf = (value: string) => (by === "key" ? (keys?.find(({ id }) => id === value)?.name ?? value) : value)
  const columns: ReadonlyArray<Column<Item>> = [
    {
      title: titles[by],
      cell: (item) => {
        const value = item[by] ?? null
        return value === null ? (
          <span className="text-muted">{none[by]}</span>
        ) : (
          <RowLink to={addressOf(by, value)}>{nameOf(value)}</RowLink>
        )
      }
    },
    { title: "Runs", cell: ({ runs }) => runs.toLocaleString("en"), align: "right" },
    { title: "Succeeded", cell: ({ succeeded }) => succeeded.toLocaleString("en"), align: "right", wide: true },
    { title: "No match", cell: ({ no_match }) => no_match.toLocaleString("en"), align: "right", wide: true },
    { title: "Failed", cell: ({ failed }) => failed.toLocaleString("en"), align: "right", wide: true },
    { title: "Charged", cell: ({ charged }) => <Money amount={charged} />, align: "right" }
  ]
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
              columns={columns}
              keyOf={(item) => String(item[by] ?? "")}
            />
            <p className="mt-3 text-muted">
              {next_cursor === null
                ? `${exactDollars(sumOf(items.map(({ charged }) => charged)))} in total.`
                : "The first 200 groups."}{" "}
              Finished runs by UTC day; other filters do not apply to groups.
            </p>
          </>
        )
      }
    </Loaded>
  )
}
