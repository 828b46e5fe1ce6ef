/** Whom no organization's run may contact. Organizations see an entry only as the reason of a refused run. */
import { api } from "../../data/api.ts"
import { PageHead } from "../../parts/Page.tsx"
import { OptOutLists } from "../optouts/OptOutLists.tsx"

const OptOuts = () => (
  <>
    <PageHead title="Opt-outs">Addresses, domains and profiles that no organization&apos;s run may contact.</PageHead>
    <OptOutLists lists={api.operatorOptOuts} name="operator" path="/v1/operator/opt-outs/export" mayAdd mayRemove />
  </>
)

export default OptOuts
