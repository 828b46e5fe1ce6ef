/** Fields of people and accounts that several requests share. */
import { Schema } from "effect"
import { such } from "../../../schema/nouns/Noun.ts"
import { isPrintable } from "../../../schema/json/StorableText.ts"

/** PostgreSQL can't store this character. */
export const withoutNul = Schema.makeFilter(
  (text: string) => !text.includes("\u0000") || "must not contain NUL (\\u0000)"
)

/** Such as a line feed, which would forge a line of a mail or a log. `name_is_printable` is that rule for names a second time. */
export const printable = Schema.makeFilter(
  (text: string) => isPrintable(text) || "must be one line of printable characters, without control characters"
)

const textSuchAs = (example: string) => Schema.NonEmptyString.annotate({ examples: [example] })

/** The name of an organization, a key or an allowance. */
export const Name = textSuchAs("Acme").check(Schema.isMaxLength(200), printable)
/** A mail program takes them out, so many such texts would be one mailbox, which gets a few mails of each. */
const withoutBrackets = Schema.makeFilter(
  (text: string) => !/[<>]/.test(text) || "must be an e-mail address without < and >"
)
/**
 * An account is found by its address in lower case. In lower case İ is i and the Kelvin sign is k, but `gİt.example` is another domain than
 * `git.example`. So an address with one of them would stand for somebody else's.
 */
const ownLowerCase = Schema.makeFilter(
  (text: string) => !/[\u0130\u212a]/.test(text) || "must not contain İ or the Kelvin sign: write i or k in its place"
)
export const Email = such("jane@acme.example").check(
  // A longer text is not compared with the pattern, which would take half an hour for a megabyte of dots.
  Schema.isMaxLength(254).abort(),
  Schema.isPattern(/^[^\s@]+@[^\s@]+\.[^\s@]+$/, { message: "must be an e-mail address" }),
  printable,
  withoutBrackets,
  ownLowerCase
)
export const passwordLengthMin = 10
export const passwordLengthMax = 500
const password = such("correct horse battery")
/** A password that somebody chooses now. */
export const NewPassword = password.check(
  Schema.isMinLength(passwordLengthMin),
  Schema.isMaxLength(passwordLengthMax),
  withoutNul
)
/** An existing password, which may be older than today's rules. */
export const Password = password.check(Schema.isMaxLength(passwordLengthMax), withoutNul)
/** Of an authenticator app, or a recovery code. */
export const Code = Schema.NonEmptyString.check(Schema.isMaxLength(40), withoutNul)
/** The token of a mailed link. */
export const LinkToken = textSuchAs("TOKEN_OF_THE_LINK").check(Schema.isMaxLength(200), withoutNul)
