/** Reads the address of an inbox from a `from` field, by the same rules as the check that the organization owns the inbox. */
import { readFrom } from "../../../schema/accounts/Sender.ts"

export { isInbox } from "../../../schema/accounts/Sender.ts"

/** Returns "a@b.co" for "Name <a@b.co>" and for "a@b.co". Keeps upper case. */
export const senderAddress = (from: string): string =>
  readFrom(from) === null ? from.trim() : (/<([^<>]*)>$/.exec(from.trim())?.[1] ?? from.trim())
