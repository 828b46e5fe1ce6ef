/** Who changes something, and from which client address, as the audit log keeps it. */
import { Schema } from "effect"

export const Actor = Schema.Struct({
  /** `link`: whoever has the link of an e-mail to the user that is changed. */
  kind: Schema.Literals(["person", "key", "operator", "link"]),
  /** The id of the user or key. Null for an operator and a link. */
  id: Schema.NullOr(Schema.String),
  /** The operator's name at the operating system, if it is known. */
  name: Schema.NullOr(Schema.String),
  /** Null for an operator, except at the sign-in to the operator console. */
  address: Schema.NullOr(Schema.String)
})
export type Actor = typeof Actor.Type
