/**
 * Tells inboxes from verified senders: an inbox belongs to a workspace, and only the inbox provider may send from it.
 *
 * Reads `from` as email.send does when it asks whose inbox it is, so that nothing is sent from another one than was checked.
 */

/** "a@b.co" of "Name <a@b.co>" or of itself. */
export const senderAddress = (from: string): string => /<([^<>]*)>\s*$/.exec(from)?.[1] ?? from.trim()

export const isInbox = (from: string): boolean => {
  const address = senderAddress(from)
  return !address.includes("@") || /@agentmail\.to$/i.test(address)
}
