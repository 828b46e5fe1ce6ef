/** Settings of what the process says about itself: the request log, traces, the status page, and how often it checks the books. */
import { Redacted } from "effect"
import type { SettingsReader } from "./SettingsReader.ts"

export interface ObservabilitySettings {
  /** Whether each request has a line on standard output. */
  readonly requestLog: boolean
  /** Minutes between two checks of the books. 0: only `rungate audit` checks them. */
  readonly auditMinutes: number
  /** Whether everybody may read /status. */
  readonly statusPage: boolean
  /** The collector of traces and logs. Null: nothing is sent. */
  readonly otlp: { readonly url: string; readonly headers: Redacted.Redacted<Readonly<Record<string, string>>> } | null
}

/** `name=value,name=value`, as in OTEL_EXPORTER_OTLP_HEADERS. */
const headersOf = (read: SettingsReader, name: string) => {
  const pairs = (read.text(name) ?? "").split(",").filter((pair) => pair.trim() !== "")
  const headers = pairs.flatMap((pair) => {
    const [, key, value] = /^\s*([\w-]+)\s*=\s*([\x20-\x7e]+?)\s*$/.exec(pair) ?? []
    return key === undefined || value === undefined ? [] : [[key, value] as const]
  })
  if (headers.length < pairs.length)
    read.problems.push(`${name} must be a list such as authorization=Bearer …,x-team=a`)
  return Redacted.make(Object.fromEntries(headers))
}

/** `auto`: people who watch a terminal see no line per request; a file or a log collector does. */
const requestLogs = ["auto", "on", "off"] as const

export const observabilityOf = (read: SettingsReader, atTerminal: boolean): ObservabilitySettings => {
  const requestLog = read.oneOf("RUNGATE_REQUEST_LOG", "auto", requestLogs)
  const url = read.url("RUNGATE_OTLP_URL", ["http", "https"])
  const headers = headersOf(read, "RUNGATE_OTLP_HEADERS")
  return {
    otlp: url === null ? null : { url, headers },
    requestLog: requestLog === "on" || (requestLog === "auto" && !atTerminal),
    auditMinutes: read.int("RUNGATE_AUDIT_MINUTES", 60, 0, 10_080),
    statusPage: read.oneOf("RUNGATE_STATUS_PAGE", "off", ["on", "off"]) === "on"
  }
}
