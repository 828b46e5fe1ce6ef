/** Fields of people and accounts that several requests share. */
import { Schema } from "effect"

/** PostgreSQL can't store this character. */
const withoutNul = Schema.makeFilter((text: string) => !text.includes("\u0000") || "must not contain NUL (\\u0000)")

export const Email = Schema.String.check(
  Schema.isMaxLength(254),
  Schema.isPattern(/^[^\s@]+@[^\s@]+\.[^\s@]+$/, { message: "expected an e-mail address" }),
  withoutNul
)
export const passwordLengthMin = 10
export const passwordLengthMax = 500
/** A password that somebody chooses now. */
export const NewPassword = Schema.String.check(
  Schema.isMinLength(passwordLengthMin),
  Schema.isMaxLength(passwordLengthMax),
  withoutNul
)
/** An existing password, which may be older than today's rules. */
export const Password = Schema.String.check(Schema.isMaxLength(passwordLengthMax), withoutNul)
export const OrganizationName = Schema.NonEmptyString.check(Schema.isMaxLength(200), withoutNul)
/** The token of a mailed link. */
export const LinkToken = Schema.NonEmptyString.check(Schema.isMaxLength(200), withoutNul)
