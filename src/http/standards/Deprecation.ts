/** Says in the answer that the request used something deprecated (api/shapes/Deprecations.ts). Pure. */
import type { Deprecated, DeprecationTable } from "../api/shapes/Deprecations.ts"
import { isRecord } from "../../schema/json/Json.ts"

interface Concerned {
  readonly operation: Deprecated | null
  /** By the name of the field or parameter. */
  readonly fields: ReadonlyMap<string, Deprecated>
}

/** What is deprecated of an operation. Null if nothing is. */
export const concerning = (table: DeprecationTable, operation: string): Concerned | null => {
  const fields = new Map(
    Object.entries(table).flatMap(([name, one]) =>
      name.startsWith(`${operation} `) ? [[name.slice(operation.length + 1), one] as const] : []
    )
  )
  const whole = table[operation] ?? null
  return whole === null && fields.size === 0 ? null : { operation: whole, fields }
}

/** What a request used of it. `body` is the decoded JSON, or any text. */
export const usedOf = ({ operation, fields }: Concerned, url: string, body: unknown): ReadonlyArray<Deprecated> => {
  const query = new URLSearchParams(url.split("?")[1] ?? "")
  const sent = (name: string) => query.has(name) || (isRecord(body) && Object.hasOwn(body, name))
  return [
    ...(operation === null ? [] : [operation]),
    ...[...fields].flatMap(([name, one]) => (sent(name) ? [one] : []))
  ]
}

const secondsOf = (day: string) => Date.parse(day) / 1_000
const earliest = (days: ReadonlyArray<string>) => days.toSorted()[0]

/** The headers for what was used: the first deprecation and the first end. None for nothing. */
export const deprecationHeaders = (used: ReadonlyArray<Deprecated>): Record<string, string> => {
  const since = earliest(used.map((one) => one.since))
  const sunset = earliest(used.flatMap((one) => (one.sunset === null ? [] : [one.sunset])))
  if (since === undefined) return {}
  const pages = [...new Set(used.map(({ use }) => `<${use}>; rel="deprecation"; type="text/html"`))]
  return {
    deprecation: `@${secondsOf(since)}`,
    link: pages.join(", "),
    ...(sunset === undefined ? {} : { sunset: new Date(sunset).toUTCString() })
  }
}
