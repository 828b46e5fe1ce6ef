/** Fields that several of the operator's operations have. */
import { Schema } from "effect"
import { withoutNul } from "../shapes/AccountFields.ts"

/** Why the operator does something. Somebody else reads it. */
export const Note = Schema.NonEmptyString.annotate({ examples: ["Checked by hand."] }).check(
  Schema.isMaxLength(500),
  withoutNul,
  Schema.makeFilter((text: string) => text.trim() !== "" || "must say why")
)
/** A filter of a list. */
export const Word = Schema.NonEmptyString.check(Schema.isMaxLength(254), withoutNul)
export const orgFilter = { org_id: Schema.optionalKey(Schema.NonEmptyString.check(Schema.isMaxLength(200))) }
