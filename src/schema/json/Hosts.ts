/** Takes the host of an address where the schema of an input has a domain: lists of companies have websites. */
import { isRecord } from "./Json.ts"

/** Any other text is returned as it is. */
const hostOf = (value: unknown): unknown =>
  typeof value === "string" && /^https?:\/\//i.test(value) ? (URL.parse(value)?.hostname ?? value) : value

const isHost = (schema: unknown) => isRecord(schema) && schema["format"] === "hostname"

/** The input with a host in place of each address in a field of the format `hostname`, or in a list of such. */
export const withHosts = (schema: Readonly<Record<string, unknown>>, input: unknown): unknown => {
  const fields = schema["properties"]
  if (!isRecord(input) || !isRecord(fields)) return input
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => {
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined
      if (isHost(field)) return [name, hostOf(value)]
      return [name, isRecord(field) && isHost(field["items"]) && Array.isArray(value) ? value.map(hostOf) : value]
    })
  )
}
