/**
 * One HTTP request to a provider, and how an offer names the provider's endpoints that it calls.
 */

/** One HTTP request to the provider. The path is relative to the provider's base URL and starts with "/". */
export interface Call {
  readonly method: "GET" | "POST" | "PUT" | "DELETE"
  readonly path: string
  readonly query?: Readonly<Record<string, string | number | boolean | ReadonlyArray<string> | undefined>>
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON, or as the fields of a form. */
  readonly body?: unknown
  readonly encoding?: "json" | "form" | "multipart"
  /** JSON text that is sent unchanged instead of `body`. */
  readonly text?: string
  /** A request other than GET that changes nothing, such as a search by POST. */
  readonly reads?: true
  /** Another host of the same provider, such as `https://efts.sec.gov`; a configured base URL replaces it too. */
  readonly origin?: string
}

/** A call to the first endpoint that its offer wraps, without the method and the path. */
export type CallParts = Omit<Call, "method" | "path"> & { readonly method?: never; readonly path?: never }

export interface Wraps {
  readonly method: Call["method"]
  /** The provider's own path, verbatim, as its raw endpoint is named. */
  readonly path: string
}

/** "POST /v1/search": an endpoint that an offer wraps, as adapters name it. */
export type EndpointName = `${Call["method"]} ${string}`

const methods = ["GET", "POST", "PUT", "DELETE"] as const

export const wrapsOf = (name: EndpointName): Wraps => {
  const method = methods.find((one) => name.startsWith(`${one} `)) ?? "GET"
  return { method, path: name.slice(method.length + 1) }
}

/** The whole call. One without a path goes to the first endpoint that the offer wraps. */
export const wholeCall = (call: Call | CallParts, wraps: ReadonlyArray<Wraps>): Call => {
  if (call.path !== undefined) return call
  const [first] = wraps
  if (first === undefined) throw new Error("the call has no path, and its offer wraps no endpoint")
  return { ...call, ...first }
}
