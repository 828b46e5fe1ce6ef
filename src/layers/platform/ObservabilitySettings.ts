/** Settings of what the process says about itself: the request log, the status page, and how often it checks the books. */
import type { SettingsReader } from "./SettingsReader.ts"

export interface ObservabilitySettings {
  /** Whether each request has a line on standard output. */
  readonly requestLog: boolean
  /** Minutes between two checks of the books. 0: only `rungate audit` checks them. */
  readonly auditMinutes: number
  /** Whether everybody may read /status. */
  readonly statusPage: boolean
}

/** `auto`: people who watch a terminal see no line per request; a file or a log collector does. */
const requestLogs = ["auto", "on", "off"] as const

export const observabilityOf = (read: SettingsReader, atTerminal: boolean): ObservabilitySettings => {
  const requestLog = read.oneOf("RUNGATE_REQUEST_LOG", "auto", requestLogs)
  return {
    requestLog: requestLog === "on" || (requestLog === "auto" && !atTerminal),
    auditMinutes: read.int("RUNGATE_AUDIT_MINUTES", 60, 0, 10_080),
    statusPage: read.oneOf("RUNGATE_STATUS_PAGE", "off", ["on", "off"]) === "on"
  }
}
