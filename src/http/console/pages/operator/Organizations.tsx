/** All organizations with their wallets, newest first. The search lives in the address. */
import { type AnswerOf, api } from "../../data/api.ts"
import { setOnly, useFilters } from "../../data/address.ts"
import { columnsOf } from "../../lists/nouns.tsx"
import { PagedTable, usePaged } from "../../lists/PagedList.tsx"
import { SearchBox } from "../../lists/Filters.tsx"
import { PageHead, TextLink } from "../../parts/Page.tsx"
import { Badge } from "../../parts/Values.tsx"

type Listed = AnswerOf<"operatorOrganizations", "list">["items"][number]

const pathOf = ({ org_id }: Listed) => `/operator/organizations/${org_id}`

/** The first violation that a check found. The organization's page has all. */
const whyOf = ({ violations: [first, ...others] }: NonNullable<Listed["suspension"]>) =>
  `${first ?? "Its books do not add up."}${others.length === 0 ? "" : ` (and ${others.length} more)`}`

const columns = columnsOf("OperatorOrganization", {
  name: (row) => (
    <>
      <span className="flex flex-wrap items-center gap-x-2">
        <TextLink to={pathOf(row)}>{row.name}</TextLink>
        {row.suspension !== null && <Badge tone="red">suspended</Badge>}
      </span>
      <span className="block font-mono text-muted max-sm:hidden">{row.org_id}</span>
      {row.suspension !== null && <span className="block max-w-md text-red break-words">{whyOf(row.suspension)}</span>}
    </>
  )
})

const Organizations = () => {
  const [{ search = "" }, change] = useFilters()
  const paged = usePaged(
    ["operator", "organizations", search],
    (from) => api.operatorOrganizations.list({ query: { ...setOnly({ search }), ...from } }),
    { pageSize: 100 }
  )
  return (
    <>
      <PageHead />
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
        toOf={pathOf}
        filtered={search !== "" && ["No organization matches.", "/operator/organizations", "Show all organizations"]}
        empty="Organizations will be here, newest first."
        hint={
          <p className="text-muted">
            The first sign-up makes one. <TextLink to="/operator/invitations">Invite somebody</TextLink>
          </p>
        }
      />
    </>
  )
}

export default Organizations
