/** Whom no run of the organization may contact. */
import { api } from "../../data/api.ts"
import { useMay } from "../../data/session.ts"
import { PageHead } from "../../parts/Page.tsx"
import { OptOutLists } from "./OptOutLists.tsx"

const OptOuts = () => (
  <>
    <PageHead title="Opt-outs">Addresses, domains and profiles that no run of the organization may contact.</PageHead>
    <OptOutLists
      lists={api.optOuts}
      name="opt-outs"
      path="/v1/opt-outs/export"
      mayAdd={useMay("optOuts.add")}
      mayRemove={useMay("optOuts.remove")}
    />
  </>
)

export default OptOuts
