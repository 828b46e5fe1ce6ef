/** What processes tell each other about event logs, through Signals: an organization's id says that its log has grown. */
const listen = "listen:"
const changed = "alerts:"

/** Says that somebody begins to listen to the organization's log. */
export const listenSignal = (org_id: string): string => `${listen}${org_id}`

/** Says that a threshold or a limit changed, which may cause an alert. */
export const changedSignal = (org_id: string): string => `${changed}${org_id}`

const after = (prefix: string) => (id: string) => (id.startsWith(prefix) ? id.slice(prefix.length) : null)

/** The organization of such a signal; null for any other. */
export const listenedOrg: (id: string) => string | null = after(listen)
export const changedOrg: (id: string) => string | null = after(changed)
