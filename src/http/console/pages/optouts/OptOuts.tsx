/** Whom no run of the organization may contact. */
import { useDenied } from "../../data/session.ts"
import { OptOutLists } from "./OptOutLists.tsx"

const OptOuts = () => {
  const denied = {
    add: useDenied("optOuts.add"),
    import: useDenied("optOuts.import"),
    remove: useDenied("optOuts.remove")
  }
  return (
    <OptOutLists group="optOuts" name="optOuts" path="/v1/opt-outs/export" denied={denied}>
      Addresses, domains and profiles that no run of the organization may contact.
    </OptOutLists>
  )
}

export default OptOuts
