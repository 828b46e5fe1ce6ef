/**
 * The local Stripe: its HTTP API on loopback with idempotency keys honoured as Stripe does, and signed webhooks.
 *
 *   const stripe = await startStripe()                        // { live: true } for an account of real money
 *   startApp({ settings: { RUNGATE_MODE: "production", ...stripe.settings } })
 *
 * The world (account.ts): pay(session_id, {async, amount, currency}) → {payment_intent, customer, payment_method}; settleAsync, failAsync,
 * expire(session_id); refund(intent, cents?) → id; failRefund(id); dispute(intent, {cents, inquiry}) → id; escalate(id);
 * closeDispute(id, "won"|"lost"|"warning_closed"); card({decline: null | code | "requires_action" | "processing"}), settleCharge(intent),
 * failCharge(intent); customer() → {customer, payment_method}; removeCustomer, removeMethod; travel(seconds), now().
 *
 * What was asked: `calls` (all requests that arrived), `charges(payment_id?)` (succeeded intents made by our API calls, not by checkouts),
 * `sessionsOf(payment_id)`, `lists`.
 *
 * Faults: fault({on: "checkout"|"charge"|RegExp over "POST /v1/…", at: "before"|"after" the effect, how: "close"|"hang"|status,
 * skip: 0, times: 1}) → {hits(), struck: Promise, release(), lift()}. The SDK repeats a lost connection, a 409 and a 5xx once, so a caller sees one
 * only with `times: 2`, except that Stripe replays a 500 that came `after`. `hang` waits for release() or stop().
 *
 * Webhooks: `events` in order; deliver(url, event, {secret, timestamp, header, body}) and deliverAll(url, {order: "sent"|"reversed"|
 * "shuffled"|indices, times, parallel, only}) → {status, text}, an array of those.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Stripe } from "stripe"
import { apiError, type Fact, invalid, newAccount, type Thing } from "./account.ts"

export interface Call {
  readonly method: string
  readonly path: string
  readonly params: Thing
  readonly key: string | null
  /** 0 when the connection was closed. */
  status: number
  replayed: boolean
}

export interface FaultOptions {
  readonly on?: "checkout" | "charge" | RegExp
  readonly at?: "before" | "after"
  readonly how: "close" | "hang" | number
  readonly skip?: number
  readonly times?: number
}

export interface DeliverOptions {
  readonly secret?: string
  /** In seconds. */
  readonly timestamp?: number
  /** Null sends none. */
  readonly header?: string | null
  readonly body?: string
}

export interface DeliverAllOptions {
  readonly order?: "sent" | "reversed" | "shuffled" | ReadonlyArray<number>
  readonly times?: number
  readonly parallel?: boolean
  readonly only?: (event: Thing) => boolean
}

const doors = { checkout: /^POST \/v1\/checkout\/sessions$/, charge: /^POST \/v1\/payment_intents$/ }
const keySeconds = 24 * 60 * 60
export const webhookSecret = "whsec_local_stripe"

/** `a[b][0]=c` as Stripe reads it. */
const decodeForm = (text: string): Thing => {
  const root: Thing = {}
  for (const [name, value] of new URLSearchParams(text)) {
    const path = name.split(/\[|\]\[|\]/).filter((part, at) => at === 0 || part !== "")
    let into = root
    for (const part of path.slice(0, -1)) into = into[part] ??= {}
    into[path.at(-1)!] = value
  }
  const arrays = (value: unknown): any => {
    if (typeof value !== "object" || value === null) return value
    const entries = Object.entries(value).map(([key, one]) => [key, arrays(one)] as const)
    const list = entries.length > 0 && entries.every(([key], at) => key === String(at))
    return list ? entries.map(([, one]) => one) : Object.fromEntries(entries)
  }
  return arrays(root)
}

const bodyOf = async (request: IncomingMessage) => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

export const startStripe = async ({ live = false, secret = webhookSecret } = {}) => {
  const account = newAccount(live)
  const secretKey = `sk_${live ? "live" : "test"}_local`
  const calls: Array<Call> = []
  const faults: Array<{
    recordFailure: (call: Call, at: "before" | "after") => FaultOptions["how"] | null
    wait: Promise<void>
  }> = []
  const releases: Array<() => void> = []
  const answered = new Map<string, { request: string; fact: Fact; at: number }>()
  const working = new Set<string>()
  const made = new Set<string>()

  const page = (things: ReadonlyArray<Thing>, params: Thing, url: string): Fact => {
    const limit = Number(params.limit ?? 10)
    if (!(limit >= 1 && limit <= 100)) return invalid("parameter_invalid_integer", "Invalid limit", { param: "limit" })
    const start =
      params.starting_after === undefined ? 0 : things.findIndex(({ id }) => id === params.starting_after) + 1
    const data = things.slice(start, start + limit)
    return { status: 200, body: { object: "list", data, has_more: start + limit < things.length, url } }
  }

  const route = ({ method, path, params }: Call): Fact => {
    const [, , first = "", second, third] = path.split("/")
    const { lists, api } = account
    const since = Number(params.created?.gte ?? 0)
    const expand: ReadonlyArray<string> = params.expand ?? []
    if (path === "/v1/checkout/sessions") {
      if (method === "POST") return api.openSession(params)
      const { status } = params
      const found = lists.sessions().filter((one) => one.created >= since && (!status || one.status === status))
      return page(found, params, path)
    }
    if (path.startsWith("/v1/checkout/sessions/")) return api.retrieve("sessions", third ?? "", expand)
    if (path === "/v1/payment_intents") {
      if (method === "POST") {
        const fact = api.charge(params)
        const id = fact.body.id ?? fact.body.error?.payment_intent?.id
        if (id !== undefined) made.add(id)
        return fact
      }
      const { customer } = params
      const found = lists
        .payment_intents()
        .filter((one) => one.created >= since && (!customer || one.customer === customer))
      return page(found, params, path)
    }
    if (first === "payment_intents" && second !== undefined) {
      return method === "POST" && third === "cancel"
        ? api.cancel(second)
        : api.retrieve("payment_intents", second, expand)
    }
    if (path === "/v1/refunds" || path === "/v1/disputes") {
      const of = first === "refunds" ? lists.refunds() : lists.disputes()
      return page(
        of.filter((one) => one.payment_intent === params.payment_intent),
        params,
        path
      )
    }
    if (path === "/v1/events") {
      const types: ReadonlyArray<string> | undefined = params.types
      if ((types?.length ?? 0) > 20) return invalid("parameter_invalid", "At most 20 types")
      const found = lists.events().filter((one) => one.created >= since && (types?.includes(one.type) ?? true))
      return page(found, params, path)
    }
    return apiError(404, "invalid_request_error", { message: `Unrecognized request URL (${method}: ${path}).` })
  }

  /** Stripe keeps the first answer under a key, whatever it was, except when nothing was even begun. */
  const once = (call: Call, spoiled: number | null): Fact => {
    const failed = (status: number) => apiError(status, "api_error", { message: "An unknown error occurred." })
    if (call.key === null) {
      const fact = route(call)
      return spoiled === null ? fact : failed(spoiled)
    }
    const request = JSON.stringify([call.method, call.path, call.params])
    const before = answered.get(call.key)
    if (before !== undefined && account.now() - before.at < keySeconds) {
      if (before.request !== request) {
        return apiError(400, "idempotency_error", {
          message: "Keys for idempotent requests can only be used with the same parameters they were first used with."
        })
      }
      call.replayed = true
      return before.fact
    }
    const effect = structuredClone(route(call))
    const fact = spoiled === null ? effect : failed(spoiled)
    answered.set(call.key, { request, fact, at: account.now() })
    return fact
  }

  const answer = (response: ServerResponse, call: Call, { status, body }: Fact) => {
    call.status = status
    response.writeHead(status, {
      "content-type": "application/json",
      "request-id": `req_${calls.length}`,
      ...(call.key === null ? {} : { "idempotency-key": call.key }),
      ...(call.replayed ? { "idempotent-replayed": "true" } : {})
    })
    response.end(JSON.stringify(body))
  }

  const recordFailure = (call: Call, at: "before" | "after") => {
    for (const fault of faults) {
      const how = fault.recordFailure(call, at)
      if (how !== null) return { how, wait: fault.wait }
    }
    return null
  }

  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? "/", "http://stripe")
    const method = request.method ?? "GET"
    const params = decodeForm(method === "GET" ? url.search.slice(1) : await bodyOf(request))
    const header = request.headers["idempotency-key"]
    const key = method === "POST" && typeof header === "string" ? header : null
    const call: Call = { method, path: url.pathname, params, key, status: 0, replayed: false }
    calls.push(call)
    if (request.headers.authorization !== `Bearer ${secretKey}`) {
      return answer(response, call, apiError(401, "invalid_request_error", { message: `Invalid API Key provided` }))
    }
    if (key !== null && working.has(key)) {
      return answer(response, call, apiError(409, "idempotency_error", { code: "idempotency_key_in_use", message: "" }))
    }
    if (key !== null) working.add(key)
    try {
      const before = recordFailure(call, "before")
      if (before?.how === "close") return request.socket.destroy()
      if (before?.how === "hang") await before.wait
      else if (before !== null)
        return answer(response, call, apiError(Number(before.how), "api_error", { message: "" }))
      const after = recordFailure(call, "after")
      const fact = once(call, typeof after?.how === "number" ? after.how : null)
      if (after?.how === "close") return request.socket.destroy()
      if (after?.how === "hang") await after.wait
      return answer(response, call, fact)
    } finally {
      if (key !== null) working.delete(key)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const fault = ({ on = /./, at = "before", how, skip = 0, times = 1 }: FaultOptions) => {
    const pattern = on instanceof RegExp ? on : doors[on]
    const struck = Promise.withResolvers<void>()
    const wait = Promise.withResolvers<void>()
    releases.push(wait.resolve)
    let seen = 0
    let hits = 0
    faults.push({
      wait: wait.promise,
      recordFailure: (call, when) => {
        if (when !== at || !pattern.test(`${call.method} ${call.path}`)) return null
        if (seen++ < skip || hits >= times) return null
        hits++
        struck.resolve()
        return how
      }
    })
    const lift = () => {
      hits = times
    }
    return { hits: () => hits, struck: struck.promise, release: wait.resolve, lift }
  }

  const deliver = async (url: string, event: Thing, options: DeliverOptions = {}) => {
    // As Stripe prints it. Who parses and prints it again breaks the signature.
    const sent = JSON.stringify(event, null, 2)
    const timestamp = options.timestamp ?? Math.floor(Date.now() / 1000)
    const signed = { payload: sent, secret: options.secret ?? secret, timestamp }
    const header =
      options.header === undefined ? await Stripe.webhooks.generateTestHeaderStringAsync(signed) : options.header
    const response = await fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/json; charset=utf-8",
        ...(header === null ? {} : { "stripe-signature": header })
      },
      body: options.body ?? sent
    })
    return { status: response.status, text: await response.text() }
  }

  const arranged = (things: ReadonlyArray<Thing>, order: NonNullable<DeliverAllOptions["order"]>) => {
    if (order === "sent") return things
    if (order === "reversed") return things.toReversed()
    if (order !== "shuffled") return order.map((at) => things[at]!)
    const all = [...things]
    for (let at = all.length - 1; at > 0; at--) {
      const other = Math.floor(Math.random() * (at + 1))
      ;[all[at], all[other]] = [all[other]!, all[at]!]
    }
    return all
  }
  const deliverAll = async (url: string, options: DeliverAllOptions = {}) => {
    const { order = "sent", times = 1, parallel = false, only = () => true } = options
    const chosen = account.events.filter(only)
    const sent = arranged(Array.from({ length: times }, () => chosen).flat(), order)
    if (parallel) return Promise.all(sent.map((event) => deliver(url, event)))
    const replies: Array<{ status: number; text: string }> = []
    for (const event of sent) replies.push(await deliver(url, event))
    return replies
  }

  return {
    ...account.world,
    url: base,
    settings: { STRIPE_SECRET_KEY: secretKey, STRIPE_WEBHOOK_SECRET: secret, STRIPE_API_BASE: base },
    /** Its clock, in seconds. */
    now: account.now,
    calls,
    events: account.events as ReadonlyArray<Thing>,
    lists: account.lists,
    charges: (payment_id?: string) =>
      account.lists.payment_intents().filter(({ id, status, metadata }) => {
        const ours = payment_id === undefined || metadata.payment_id === payment_id
        return made.has(id) && status === "succeeded" && ours
      }),
    sessionsOf: (payment_id: string) =>
      account.lists.sessions().filter(({ metadata }) => metadata.payment_id === payment_id),
    fault,
    deliver,
    deliverAll,
    stop: async () => {
      for (const release of releases) release()
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    }
  }
}

export type LocalStripe = Awaited<ReturnType<typeof startStripe>>
