/** Who changed what in the organization, when and from where. Nobody can change or delete an entry. */
import { setOnly, useFilters } from "../../data/address.ts"
import { api } from "../../data/api.ts"
import { utcDay } from "../../data/time.ts"
import { Allowed, PageHead, TextLink } from "../../parts/Page.tsx"
import { FilterSelect, Period, SearchBox } from "../../lists/Filters.tsx"
import { PagedTable, usePaged } from "../../lists/PagedList.tsx"
import { entryColumns } from "./Changes.tsx"

/** First parts of actions, which the API takes as a filter. */
const nouns = {
  key: "API keys",
  key_budget: "Budgets of keys",
  spend_guard: "Spend guard",
  auto_topup: "Automatic top-up",
  wallet: "Credits and refunds",
  member: "Members",
  invitation: "Invitations",
  sessions: "Sessions",
  password: "Passwords",
  sender: "Senders",
  webhook: "Webhooks",
  resource: "Resources at providers",
  outcome: "Unknown outcomes"
}
const actors = { person: "By people", key: "By API keys", operator: "By the operator", system: "By the service" }

/** The API's period ends before `to`. The page's period includes that day. */
const dayAfter = (day: string) => {
  const millis = Date.parse(day)
  return Number.isNaN(millis) ? day : utcDay(millis, -1)
}

const Log = () => {
  const [{ actor = "", action = "", from = "", to = "" }, change] = useFilters()
  const paged = usePaged(["audit log", actor, action, from, to], (cursor) =>
    api.auditLog.list({ query: { ...cursor, ...setOnly({ actor, action, from, to: dayAfter(to) }) } })
  )
  const isFiltered = [actor, action, from, to].some((one) => one !== "")
  return (
    <>
      <div className="mb-4 flex flex-wrap items-start gap-2">
        <FilterSelect name="action" label="What was changed" any="Everything" options={nouns} keeps />
        <FilterSelect name="actor" label="Kind of actor" any="By anybody" options={actors} />
        <SearchBox
          label="E-mail address or id of who changed something"
          placeholder="E-mail address, or id of a person or key"
          value={Object.hasOwn(actors, actor) ? "" : actor}
          onSearch={(text) => change({ actor: text })}
        />
        <Period />
      </div>
      <PagedTable
        paged={paged}
        label="Audit log"
        columns={entryColumns()}
        filtered={isFiltered && ["No change matches these filters.", "/settings/audit-log", "Show all changes"]}
        empty="Changes of keys, limits, members and senders will be here."
        hint={<TextLink to="/settings/keys/new">Create a key</TextLink>}
      />
    </>
  )
}

const AuditLog = () => (
  <>
    <PageHead>Entries can't be changed or deleted. Client addresses are deleted after 180 days.</PageHead>
    <Allowed operation="auditLog.list">
      <Log />
    </Allowed>
  </>
)

export default AuditLog
