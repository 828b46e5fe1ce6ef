/** All organizations with their wallets, newest first. The search lives in the address. */
import type { AnswerOf } from "../../../client/Browser.ts"
import { useFilters } from "../../data/address.ts"
import { api } from "../../data/api.ts"
import { PagedTable, usePaged } from "../../lists/PagedList.tsx"
import { SearchBox } from "../../lists/SearchBox.tsx"
import { TextLink } from "../../parts/Link.tsx"
import { Empty, PageHead } from "../../parts/Page.tsx"
import type { Column } from "../../parts/Table.tsx"
import { Badge, Money, Time } from "../../parts/Values.tsx"

type Listed = AnswerOf<"operatorOrganizations", "list">["items"][number]

const pageSize = 100

const pathOf = ({ org_id }: Listed) => `/operator/organizations/${org_id}`

/** The first violation that a check found. The organization's page has all. */
const Why = ({ violations }: { readonly violations: ReadonlyArray<string> }) => (
  <span className="block max-w-md text-red break-words">
    {violations[0] ?? "Its books do not add up."}
    {violations.length > 1 && ` (and ${violations.length - 1} more)`}
  </span>
)

const columns: ReadonlyArray<Column<Listed>> = [
  {
    title: "Organization",
    cell: (row) => (
      <>
        <span className="flex flex-wrap items-center gap-x-2">
          <TextLink to={pathOf(row)}>{row.name}</TextLink>
          {row.suspension !== null && <Badge tone="red">suspended</Badge>}
        </span>
        <span className="block font-mono text-muted max-sm:hidden">{row.org_id}</span>
        {row.suspension !== null && <Why violations={row.suspension.violations} />}
      </>
    )
  },
  { title: "Available", cell: ({ available }) => <Money amount={available} />, align: "right" },
  { title: "Held", cell: ({ reserved }) => <Money amount={reserved} />, align: "right", wide: true },
  { title: "Runs today", cell: ({ runs_today }) => runs_today, align: "right", wide: true },
  { title: "Charged today", cell: ({ charged_today }) => <Money amount={charged_today} />, align: "right", wide: true },
  { title: "Created", cell: ({ created_at }) => <Time at={created_at} short />, align: "right", wide: true }
]

const Organizations = () => {
  const [{ search = "" }, change] = useFilters()
  const paged = usePaged(["operator", "organizations", search], (from) =>
    api.operatorOrganizations.list({ query: { limit: pageSize, ...(search === "" ? {} : { search }), ...from } })
  )
  return (
    <>
      <PageHead title="Organizations" />
      <div className="mb-4 flex max-w-xl">
        <SearchBox
          label="Find organizations by name, a member's e-mail address, or id"
          placeholder="Name, e-mail address or id"
          value={search}
          onSearch={(text) => change({ search: text })}
        />
      </div>
      <PagedTable
        paged={paged}
        label="Organizations"
        columns={columns}
        keyOf={({ org_id }) => org_id}
        toOf={pathOf}
        empty={
          search === "" ? (
            <Empty title="Organizations will be here, newest first.">
              <p className="text-muted">
                The first sign-up makes one. <TextLink to="/operator/invitations">Invite somebody</TextLink>
              </p>
            </Empty>
          ) : (
            <Empty title="No organization matches.">
              <TextLink to="/operator/organizations">Show all organizations</TextLink>
            </Empty>
          )
        }
      />
    </>
  )
}

export default Organizations
