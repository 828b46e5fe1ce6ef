/** Settings of what the process says about itself: the request log. */
import type { SettingsReader } from "./SettingsReader.ts"

export interface ObservabilitySettings {
  /** Whether each request has a line on standard output. */
  readonly requestLog: boolean
}

/** `auto`: people who watch a terminal see no line per request; a file or a log collector does. */
const requestLogs = ["auto", "on", "off"] as const

export const observabilityOf = (read: SettingsReader, atTerminal: boolean): ObservabilitySettings => {
  const requestLog = read.oneOf("RUNGATE_REQUEST_LOG", "auto", requestLogs)
  return { requestLog: requestLog === "on" || (requestLog === "auto" && !atTerminal) }
}
