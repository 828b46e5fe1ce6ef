/** All organizations with their wallets, newest first. The search lives in the address. */
import { keepPreviousData, useInfiniteQuery } from "@tanstack/react-query"
import type { AnswerOf } from "../../../client/Browser.ts"
import { onForm, textIn } from "../../account/forms.ts"
import { useFilters } from "../../data/address.ts"
import { api } from "../../data/api.ts"
import { Button } from "../../parts/Button.tsx"
import { inputLook } from "../../parts/Field.tsx"
import { TextLink } from "../../parts/Link.tsx"
import { Money } from "../../parts/Money.tsx"
import { PageHead } from "../../parts/Page.tsx"
import { Empty, Failed, Skeleton } from "../../parts/States.tsx"
import { type Column, DataTable } from "../../parts/Table.tsx"
import { Time } from "../../parts/Time.tsx"

type Listed = AnswerOf<"operatorOrganizations", "list">["items"][number]

const pageSize = 100

const pathOf = ({ org_id }: Listed) => `/operator/organizations/${org_id}`

const columns: ReadonlyArray<Column<Listed>> = [
  {
    title: "Organization",
    cell: (row) => (
      <>
        <TextLink to={pathOf(row)}>{row.name}</TextLink>
        <span className="block font-mono text-muted max-sm:hidden">{row.org_id}</span>
      </>
    )
  },
  { title: "Available", cell: ({ available }) => <Money amount={available} />, align: "right" },
  { title: "Reserved", cell: ({ reserved }) => <Money amount={reserved} />, align: "right", wide: true },
  { title: "Runs today", cell: ({ runs_today }) => runs_today, align: "right", wide: true },
  { title: "Charged today", cell: ({ charged_today }) => <Money amount={charged_today} />, align: "right" },
  { title: "Created", cell: ({ created_at }) => <Time at={created_at} short />, align: "right", wide: true }
]

const List = ({ search }: { readonly search: string }) => {
  const list = useInfiniteQuery({
    queryKey: ["operator", "organizations", search],
    queryFn: ({ pageParam }) =>
      api.operatorOrganizations.list({
        query: {
          limit: pageSize,
          ...(search === "" ? {} : { search }),
          ...(pageParam === "" ? {} : { cursor: pageParam })
        }
      }),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    placeholderData: keepPreviousData
  })
  if (list.data === undefined)
    return list.error === null ? (
      <Skeleton lines={8} height={32} />
    ) : (
      <Failed error={list.error} retry={() => void list.refetch()} />
    )
  const rows = list.data.pages.flatMap(({ items }) => items)
  if (rows.length === 0)
    return search === "" ? (
      <Empty title="Organizations will be here, newest first.">
        <p className="text-muted">The first sign-up makes one.</p>
      </Empty>
    ) : (
      <Empty title="No organization matches.">
        <TextLink to="/operator/organizations">Show all organizations</TextLink>
      </Empty>
    )
  return (
    <>
      <DataTable label="Organizations" rows={rows} columns={columns} keyOf={({ org_id }) => org_id} toOf={pathOf} />
      {list.hasNextPage && (
        <Button className="mt-3" busy={list.isFetchingNextPage} onClick={() => void list.fetchNextPage()}>
          Show more
        </Button>
      )}
    </>
  )
}

const Organizations = () => {
  const [{ search = "" }, change] = useFilters()
  return (
    <>
      <PageHead title="Organizations" />
      <form
        role="search"
        key={search}
        onSubmit={onForm((form) => change({ search: textIn(form, "search").trim() }))}
        className="mb-4 flex flex-wrap gap-2"
      >
        <label className="sr-only" htmlFor="find-organizations">
          Find organizations by name, a member's e-mail address, or id
        </label>
        <input
          id="find-organizations"
          name="search"
          data-search
          maxLength={254}
          defaultValue={search}
          placeholder="Name, e-mail address or id"
          className={`${inputLook} max-w-md`}
        />
        <Button type="submit">Search</Button>
      </form>
      <List search={search} />
    </>
  )
}

export default Organizations
