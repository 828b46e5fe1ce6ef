/** Fields of people and accounts that several requests share. */
import { Schema } from "effect"

/** Postgres has no such character in a text. */
const withoutNul = Schema.makeFilter((text: string) => !text.includes("\u0000") || "must not contain NUL (\\u0000)")

export const Email = Schema.String.check(
  Schema.isMaxLength(254),
  Schema.isPattern(/^[^\s@]+@[^\s@]+\.[^\s@]+$/, { message: "expected an e-mail address" }),
  withoutNul
)
export const passwordLengthMin = 10
export const passwordLengthMax = 500
/** One that is chosen now. */
export const NewPassword = Schema.String.check(
  Schema.isMinLength(passwordLengthMin),
  Schema.isMaxLength(passwordLengthMax),
  withoutNul
)
/** One that somebody remembers, which may be older than today's rules. */
export const Password = Schema.String.check(Schema.isMaxLength(passwordLengthMax), withoutNul)
export const OrganizationName = Schema.NonEmptyString.check(Schema.isMaxLength(200), withoutNul)
/** Of a link. */
export const LinkToken = Schema.NonEmptyString.check(Schema.isMaxLength(200), withoutNul)
