/** Whom no organization's run may contact. Organizations see an entry only as the reason of a refused run. */
import { OptOutLists } from "../optouts/OptOutLists.tsx"

const denied = { add: null, import: null, remove: null }

const OptOuts = () => (
  <OptOutLists group="operatorOptOuts" name="operator" path="/v1/operator/opt-outs/export" denied={denied}>
    Addresses, domains and profiles that no organization&apos;s run may contact.
  </OptOutLists>
)

export default OptOuts
