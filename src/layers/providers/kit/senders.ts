/** The sender's address as the inbox provider's paths have it, read by the same rules as the check of who owns it. */
import { readFrom } from "../../../schema/accounts/Sender.ts"

export { isInbox } from "../../../schema/accounts/Sender.ts"

/** "a@b.co" of "Name <a@b.co>" or of itself; letters keep their case. */
export const senderAddress = (from: string): string =>
  readFrom(from) === null ? from.trim() : (/<([^<>]*)>$/.exec(from.trim())?.[1] ?? from.trim())
