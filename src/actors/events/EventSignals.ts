/** What processes tell each other about event logs, through Signals: an organization's id says that its log has grown. */
const prefix = "listen:"

/** Says that somebody begins to listen to the organization's log. */
export const listenSignal = (org_id: string): string => `${prefix}${org_id}`

/** The organization of such a signal; null for any other. */
export const listenedOrg = (id: string): string | null => (id.startsWith(prefix) ? id.slice(prefix.length) : null)
