/** Who changed what, in every organization and in the service. The filters live in the address. */
import { type AnswerOf, api } from "../../../data/api.ts"
import { onForm, textIn } from "../../../actions/Actions.tsx"
import { setOnly, useFilters } from "../../../data/address.ts"
import { PagedTable, usePaged } from "../../../lists/PagedList.tsx"
import { Button, PageHead, TextLink } from "../../../parts/Page.tsx"
import { Field } from "../../../parts/Field.tsx"
import { entryColumns } from "../../auditlog/Changes.tsx"

type Entry = AnswerOf<"operatorAuditLog", "list">["items"][number]

const fields = [
  ["actor", "Who", "operator, person, key, or an id"],
  ["action", "What", "such as key or wallet.credited"],
  ["org_id", "Organization", "its id"]
] as const

const columns = entryColumns<Entry>(({ org_id }) => (
  <p>
    {org_id === null ? (
      "of the service"
    ) : (
      <TextLink to={`/operator/organizations/${org_id}`}>its organization</TextLink>
    )}
  </p>
))

const AuditLog = () => {
  const [{ actor = "", action = "", org_id = "" }, change] = useFilters()
  const typed = { actor, action, org_id }
  const query = setOnly(typed)
  const isFiltered = Object.keys(query).length > 0
  const paged = usePaged(
    ["operator", "log", query],
    (from) => api.operatorAuditLog.list({ query: { ...query, ...from } }),
    { pageSize: 100 }
  )
  return (
    <>
      <PageHead>Who changed what. Nobody can change or delete an entry.</PageHead>
      <form
        role="search"
        key={JSON.stringify(query)}
        onSubmit={onForm((form) =>
          change(Object.fromEntries(fields.map(([name]) => [name, textIn(form, name).trim()])))
        )}
        className="mb-4 flex flex-wrap items-start gap-3"
      >
        {fields.map(([name, label, hint]) => (
          <Field key={name} label={label} name={name} defaultValue={typed[name]} maxLength={254} hint={hint} />
        ))}
        <Button type="submit" className="mt-6">
          Filter
        </Button>
      </form>
      <PagedTable
        paged={paged}
        label="Changes"
        columns={columns}
        filtered={isFiltered && ["No change matches.", "/operator/audit-log", "Show all changes"]}
        empty="What people and operators change will be here, newest first."
      />
    </>
  )
}

export default AuditLog
