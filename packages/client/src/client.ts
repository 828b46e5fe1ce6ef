/**
 * Makes the client of a table of operations, such as `"POST /v1/run body key"`: method, path, and what else the operation has.
 *
 * A method takes the parameters of the path in their order, then the body, then the query, each if it has one, and then `RequestOptions`.
 */
import { RungateError } from "./errors.ts"
import { type EventOptions, followEvents } from "./events.ts"
import { pagesOf, type Page } from "./pages.ts"
import { checked, type ConnectOptions, type Outgoing, type RequestOptions, segment, send } from "./transport.ts"

/**
 * Flags: `body` and `query` are arguments, a text in place of a `csv` body is CSV, `key` takes an Idempotency-Key, `read` changes nothing though it
 * is no GET, `pages` is a list of pages. `text:<type>` is a response that is no JSON.
 */
export type OperationTable = Readonly<Record<string, Readonly<Record<string, string>>>>

type Query = Readonly<Record<string, unknown>>

/** Unique, not secret. Node 18 and pages without TLS have no `randomUUID`. */
const newKey = (): string =>
  globalThis.crypto?.randomUUID?.() ??
  Array.from({ length: 4 }, () => Math.floor(Math.random() * 2 ** 32).toString(16)).join("-")

/** Objects are several parameters, such as `metadata: {campaign: "spring"}` for `metadata.campaign=spring`. */
const queryText = (query: Query): string => {
  const search = new URLSearchParams()
  const add = (name: string, value: unknown): void => {
    if (value === undefined || value === null) return
    if (typeof value !== "object") search.set(name, String(value))
    else for (const [inner, one] of Object.entries(value)) add(`${name}.${inner}`, one)
  }
  for (const [name, value] of Object.entries(query)) add(name, value)
  const text = search.toString()
  return text === "" ? "" : `?${text}`
}

const jsonOf = (text: string): unknown => {
  try {
    return text === "" ? undefined : JSON.parse(text)
  } catch {
    throw new RungateError({ code: "unexpected_answer", message: "The response is no JSON. Check the address." })
  }
}

const bodyOf = (body: unknown, flags: ReadonlyArray<string>): Outgoing["body"] => {
  if (flags.includes("csv") && typeof body === "string") return { type: "text/csv", text: body }
  return { type: "application/json", text: JSON.stringify(body ?? {}) }
}

const methodOf = (to: ConnectOptions, operation: string) => {
  const [method = "GET", template = "/", ...flags] = operation.split(" ")
  const names = Array.from(template.matchAll(/\{([a-z_]+)\}/g), ([, name = ""]) => name)
  const accept = flags.find((flag) => flag.startsWith("text:"))?.slice("text:".length)

  return (...given: ReadonlyArray<unknown>) => {
    const left = given.slice(names.length)
    const body = flags.includes("body") ? bodyOf(left.shift(), flags) : undefined
    const query = (flags.includes("query") ? left.shift() : undefined) as Query | undefined
    const { signal, idempotency_key } = (left.shift() ?? {}) as RequestOptions
    const path = () => names.reduce((all, name, at) => all.replace(`{${name}}`, segment(name, given[at])), template)
    // One key for all attempts.
    const key = flags.includes("key") ? (idempotency_key ?? newKey()) : undefined
    const request = async (more: Query): Promise<unknown> => {
      const answer = await send(
        to,
        {
          method,
          path: path() + queryText({ ...query, ...more }),
          accept: accept ?? "application/json",
          body,
          idempotency_key: key,
          repeatable: method === "GET" || key !== undefined || flags.includes("read")
        },
        signal
      )
      return accept === undefined ? jsonOf(answer.text) : answer.text
    }
    if (!flags.includes("pages")) return request({})
    return pagesOf((cursor) => request(cursor === null ? {} : { cursor }) as Promise<Page<unknown>>)
  }
}

/** Every operation of the table by group and name, and `events`. It sends nothing. */
export const clientOf = (given: ConnectOptions, table: OperationTable): object => {
  const to = checked(given)
  return {
    ...Object.fromEntries(
      Object.entries(table).map(([group, operations]) => [
        group,
        Object.fromEntries(Object.entries(operations).map(([name, operation]) => [name, methodOf(to, operation)]))
      ])
    ),
    events: (options: EventOptions = {}) => followEvents(to, options)
  }
}
