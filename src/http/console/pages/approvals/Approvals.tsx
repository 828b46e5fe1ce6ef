/** Runs that wait for a member's yes, and the rules that make runs wait. An agent's words link here, with the run in the address. */
import { useFilters } from "../../data/address.ts"
import { api } from "../../data/api.ts"
import { useMay } from "../../data/session.ts"
import { columnsOf } from "../../lists/nouns.tsx"
import { PagedTable, usePaged } from "../../lists/PagedList.tsx"
import { Empty, PageHead, Panel } from "../../parts/Page.tsx"
import { type Approval, Decide } from "./Decide.tsx"
import { Rules } from "./Rules.tsx"

const Approvals = () => {
  const may = useMay("approvals.approve")
  const [{ run = "" }] = useFilters()
  const paged = usePaged(
    ["approvals", "pending"],
    (from) => api.approvals.list({ query: { state: "pending", ...from } }),
    { changing: () => true }
  )
  // The run of the address comes first.
  const items = paged.items?.toSorted((a, b) => Number(b.run_id === run) - Number(a.run_id === run)) ?? null
  const decide = { title: "Decide", cell: (one: Approval) => <Decide approval={one} />, align: "right" as const }
  return (
    <>
      <PageHead title="Approvals">Runs that wait for the yes of a member. Their money is held.</PageHead>
      <Panel title="Waiting">
        <PagedTable
          paged={{ ...paged, items }}
          label="Runs that wait"
          columns={[...columnsOf("Approval"), ...(may ? [decide] : [])]}
          empty={<Empty title="No run waits for an approval.">A rule below says which runs wait.</Empty>}
        />
      </Panel>
      <Rules />
    </>
  )
}

export default Approvals
