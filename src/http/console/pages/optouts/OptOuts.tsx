/** Whom no run of the organization may contact. */
import { OptOutLists } from "./OptOutLists.tsx"

const OptOuts = () => (
  <OptOutLists group="optOuts" path="/v1/opt-outs/export">
    Addresses, domains and profiles that no run of the organization may contact.
  </OptOutLists>
)

export default OptOuts
