/** Whom no organization's run may contact. Organizations see an entry only as the reason of a refused run. */
import { OptOutLists } from "../optouts/OptOutLists.tsx"

const OptOuts = () => (
  <OptOutLists group="operatorOptOuts" path="/v1/operator/opt-outs/export">
    Addresses, domains and profiles that no organization&apos;s run may contact.
  </OptOutLists>
)

export default OptOuts
