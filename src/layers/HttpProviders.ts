/**
 * Real providers: performs what adapters describe, over HTTP, with a deadline, a size cap and no redirects.
 *
 * The account's secret is added here and appears nowhere else: not in an error, a log or a stored payload. A call always
 * answers; what went wrong is an outcome.
 */
import { Cause, Clock, Effect, Layer, Redacted } from "effect"
import {
  type Auth,
  type Call,
  type Failure,
  failure,
  type Outcome,
  type Provider,
  type Reply
} from "../schema/Provider.ts"
import { measuredOf } from "../schema/Measured.ts"
import { runActor } from "./ActorRuns.ts"
import { Breakers } from "./Breakers.ts"
import type { RawProvider } from "./Endpoints.ts"
import { type Gate, gate } from "./Gates.ts"
import {
  type ProviderAnswer,
  type ProviderCall,
  Providers,
  type RawAnswer,
  type RawCall,
  type RawProviderAnswer
} from "./Providers.ts"
import { refusal } from "./providers/trouble.ts"
import { type Account, Settings } from "./Settings.ts"

/** After decompression: a small gzip can hide a gigabyte. */
export const replyBytesMax = 32 * 1024 * 1024
/** A provider that keeps saying "not yet" ends at the attempt's deadline, and at this many questions. */
const againMax = 400
/** A pause that the provider asked for is waited for no longer than this: another provider may deliver meanwhile. */
const patienceSeconds = 5
/** Statuses of a raw call that say something about the caller's request and nothing about the provider. */
const rejections = new Set([400, 404, 405, 406, 409, 410, 411, 413, 414, 415, 422])

const isFailure = (answer: { readonly _tag: string }): answer is Failure => answer._tag === "Failure"

const leaseLost = "another worker has taken over this run"
/** An actor is ended by its platform so long before the attempt's deadline: time to read what it wrote. */
const actorReserveSeconds = 30

const queryOf = (call: Call): string => {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(call.query ?? {})) {
    if (value === undefined) continue
    if (typeof value === "object") for (const one of value) query.append(name, one)
    else query.append(name, String(value))
  }
  return query.toString()
}

/** Where the secret goes: into headers or into the query, as the provider wants it. */
const authorize = (auth: Auth, secret: string): { headers: Record<string, string>; query: string } => {
  switch (auth.kind) {
    case "none":
      return { headers: {}, query: "" }
    case "contact":
      return { headers: { "user-agent": secret === "" ? "Rungate" : `Rungate (${secret})` }, query: "" }
    case "headers": {
      const [first, ...rest] = secret.split(":")
      return { headers: { [auth.names[0]]: first ?? "", [auth.names[1]]: rest.join(":") }, query: "" }
    }
    case "bearer":
      return { headers: { authorization: `Bearer ${secret}` }, query: "" }
    case "basic":
      return { headers: { authorization: `Basic ${Buffer.from(secret).toString("base64")}` }, query: "" }
    case "header":
      return { headers: { [auth.name]: `${auth.prefix ?? ""}${secret}` }, query: "" }
    case "query":
      return { headers: {}, query: new URLSearchParams({ [auth.name]: secret }).toString() }
  }
}

/** What the executor must know of a provider, with or without an adapter file. */
type Target = Pick<
  Provider,
  "slug" | "base_url" | "auth" | "headers" | "concurrency" | "spacingMillis" | "timeoutMillis"
>

/** A provider that only an import knows gets the bounds of an ordinary one. */
const targetOf = ({ slug, provider, document }: RawProvider): Target | null => {
  const base_url = document?.base_url ?? provider?.base_url ?? null
  if (base_url === null) return null
  const auth = provider?.auth ?? document?.auth ?? { kind: "none" }
  const { headers = {}, concurrency = 5, spacingMillis = 0, timeoutMillis = 60_000 } = provider ?? {}
  return { slug, base_url: provider?.base_url ?? base_url, auth, headers, concurrency, spacingMillis, timeoutMillis }
}

/** A request ready for the wire, but for the account. */
interface Outgoing {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | FormData | undefined
  /** Another host than the base URL's. */
  readonly origin: string | undefined
}

const fieldsOf = (input: unknown): ReadonlyArray<[string, string]> =>
  Object.entries(typeof input === "object" && input !== null ? input : {}).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((one: unknown): [string, string] => [
      name,
      typeof one === "object" ? JSON.stringify(one) : String(one)
    ])
  )

/** The body and the header that says what it is; a multipart body says so itself. */
const encoded = (
  body: unknown,
  encoding: "json" | "form" | "multipart"
): Pick<Outgoing, "body"> & { readonly type: Readonly<Record<string, string>> } => {
  if (body === undefined) return { body: undefined, type: {} }
  if (encoding === "form") {
    const form = new URLSearchParams([...fieldsOf(body)])
    return { body: form.toString(), type: { "content-type": "application/x-www-form-urlencoded" } }
  }
  if (encoding === "multipart") {
    const form = new FormData()
    for (const [name, value] of fieldsOf(body)) form.append(name, value)
    return { body: form, type: {} }
  }
  return { body: JSON.stringify(body), type: { "content-type": "application/json" } }
}

const outgoing = (call: Call): Outgoing => {
  const { body, type } = encoded(call.body, call.encoding ?? "json")
  const { method, path, origin } = call
  return { method, path, query: queryOf(call), headers: { ...type, ...call.headers }, body, origin }
}

/** The caller's request as its plan fixed it; a task endpoint takes an array, also of one. */
const rawOutgoing = ({ raw, input }: RawCall): Outgoing => {
  const query = new URLSearchParams(raw.query.map(([name, value]): [string, string] => [name, value])).toString()
  const sent = raw.body_type === "task" && !Array.isArray(input) ? [input] : input
  const { body, type } = encoded(raw.has_body ? sent : undefined, raw.encoding)
  return { method: raw.method, path: raw.path, query, headers: type, body, origin: raw.origin }
}

/** The configured origin replaces the provider's own; its path prefix stays. */
const urlOf = (target: Target, account: Account | undefined, sent: Outgoing, authQuery: string): URL => {
  const base = new URL(target.base_url)
  // Another host has paths of its own.
  const prefix = sent.origin === undefined ? base.pathname.replace(/\/+$/, "") : ""
  const origin = account?.baseUrl ?? sent.origin ?? base.origin
  const query = [sent.query, authQuery].filter((part) => part !== "").join("&")
  return new URL(`${origin}${prefix}${sent.path}${query === "" ? "" : `?${query}`}`)
}

const readCapped = async (response: Response): Promise<string> => {
  const reader = response.body?.getReader()
  if (reader === undefined) return ""
  const decoder = new TextDecoder()
  let text = ""
  let size = 0
  while (true) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    size += value.byteLength
    if (size > replyBytesMax) {
      await reader.cancel()
      throw new Error(`the answer is larger than ${replyBytesMax} bytes`)
    }
    text += decoder.decode(value, { stream: true })
  }
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const clean = (reply: Reply, redact: (text: string) => string): Reply => {
  const text = redact(reply.text)
  return text === reply.text ? reply : { ...reply, text, body: parse(text) }
}

const send = (url: URL, { method, body }: Outgoing, headers: Record<string, string>) =>
  Effect.tryPromise({
    try: async (signal): Promise<Reply> => {
      const response = await fetch(url, {
        method,
        headers: { accept: "application/json", ...headers },
        ...(body === undefined ? {} : { body }),
        // A redirect would carry the account's key to another host.
        redirect: "manual",
        signal
      })
      const text = await readCapped(response)
      return { status: response.status, headers: Object.fromEntries(response.headers), body: parse(text), text }
    },
    catch: (error) => (error instanceof Error ? error : new Error("the call failed"))
  })

export const HttpProviders = Layer.effect(
  Providers,
  Effect.gen(function* () {
    const { accounts } = yield* Settings
    const breakers = yield* Breakers
    const gates = new Map<string, Gate>()
    const gateOf = (target: Target) => {
      const found = gates.get(target.slug) ?? gate(target)
      gates.set(target.slug, found)
      return found
    }

    const exchange = (target: Target, sent: Outgoing) => {
      const account = accounts.get(target.slug)
      const secret = account?.apiKey === undefined || account.apiKey === null ? "" : Redacted.value(account.apiKey)
      const auth = authorize(target.auth, secret)
      const url = urlOf(target, account, sent, auth.query)
      // Some providers repeat the key in their errors: it must not reach an attempt's detail or a stored payload.
      const redact = (text: string) => {
        if (secret === "") return text
        const parts =
          target.auth.kind === "contact"
            ? []
            : target.auth.kind === "basic"
              ? [secret, ...secret.split(":").slice(1)]
              : target.auth.kind === "headers"
                ? [secret, ...secret.split(":")]
                : [secret]
        return parts.reduce(
          (rest, part) => rest.replaceAll(part, "<redacted>").replaceAll(encodeURIComponent(part), "<redacted>"),
          text
        )
      }
      const way = gateOf(target)
      const sending = send(url, sent, { ...target.headers, ...sent.headers, ...auth.headers }).pipe(
        Effect.map((reply): Reply | Failure =>
          reply.status >= 300 && reply.status < 400
            ? failure("provider_error", `HTTP ${reply.status}: redirects are not followed`)
            : clean(reply, redact)
        ),
        Effect.catch((error) => Effect.succeed<Failure>(failure("provider_error", redact(error.message))))
      )
      return Effect.flatMap(way.closedSeconds, (seconds) =>
        seconds > patienceSeconds
          ? Effect.succeed<Reply | Failure>(failure("provider_rate_limited", `it asked for a pause of ${seconds} s`))
          : way.pass(sending)
      )
    }

    /** What a failed attempt says about the provider: pauses that it asked for, and whether it had better be left alone. */
    const note = (target: Target, subject: string, answer: { readonly _tag: string }) => {
      const failed = isFailure(answer) ? answer : null
      // Nobody is to blame but the caller's own request.
      if (failed?.reason === "provider_rejected") return Effect.void
      const pause =
        failed?.reason === "provider_rate_limited" && failed.retryAfterSeconds !== undefined
          ? gateOf(target).pause(failed.retryAfterSeconds)
          : Effect.void
      return Effect.andThen(pause, breakers.record(target.slug, subject, failed))
    }

    /** One attempt as a conversation: question, answer, and on from the state that an answer leaves, until it is a result. */
    const converse = Effect.fnUntraced(function* (asked: ProviderCall) {
      const { offer, provider } = asked.offer
      const context = { run_id: asked.run_id }
      let state = asked.state
      for (let question = 0; question < againMax; question++) {
        const call = state === null ? offer.request(asked.input, context) : offer.next(state, asked.input, context)
        const reply = yield* exchange(provider, outgoing(call))
        if ("_tag" in reply) return { answer: reply, raw: null }
        const outcome: Outcome<unknown> = offer.response(reply, asked.input, state)
        if (outcome._tag !== "Again")
          return { answer: outcome, raw: asked.include_raw && reply.body !== undefined ? reply.text : null }
        state = outcome.state
        if (outcome.job && !(yield* asked.keep(state)))
          return { answer: failure("provider_error", leaseLost), raw: null }
        yield* Effect.sleep(`${outcome.afterMillis} millis`)
      }
      return { answer: failure("provider_timeout", "the provider never finished its answer"), raw: null }
    })

    /** Within its deadline, waiting for the gate included, and answered whatever an adapter does. */
    const bounded = <A>(target: Target, millis: number, work: Effect.Effect<A>, failed: (failure: Failure) => A) =>
      Effect.gen(function* () {
        const began = yield* Clock.currentTimeMillis
        const said = yield* work.pipe(
          Effect.timeoutOrElse({
            duration: `${millis} millis`,
            orElse: () => Effect.succeed(failed(failure("provider_timeout", `no answer within ${millis} ms`)))
          }),
          Effect.catchCause((cause) =>
            Cause.hasInterruptsOnly(cause)
              ? Effect.failCause(cause)
              : Effect.as(
                  Effect.logError(`${target.slug}: adapter failed`, cause),
                  failed(failure("invalid_response", "the adapter could not read the answer"))
                )
          )
        )
        return { said, duration_ms: (yield* Clock.currentTimeMillis) - began }
      })

    const call = (asked: ProviderCall): Effect.Effect<ProviderAnswer> => {
      const failed = (answer: Failure): Pick<ProviderAnswer, "answer" | "raw"> => ({ answer, raw: null })
      const work: Effect.Effect<Pick<ProviderAnswer, "answer" | "raw">> = converse(asked)
      const { provider, offer } = asked.offer
      const millis = offer.timeoutMillis ?? provider.timeoutMillis
      return bounded(provider, millis, work, failed).pipe(
        Effect.tap(({ said }) => note(provider, asked.capability, said.answer)),
        Effect.map(({ said, duration_ms }) => ({ ...said, duration_ms }))
      )
    }

    const rawExchange = (target: Target, asked: RawCall): Effect.Effect<RawAnswer> =>
      Effect.map(exchange(target, rawOutgoing(asked)), (reply): RawAnswer => {
        if ("_tag" in reply) return reply
        if (reply.status < 200 || reply.status >= 300)
          return rejections.has(reply.status) ? refusal(reply, "provider_rejected") : refusal(reply)
        // What is no JSON (a page, a file's text) is delivered as one JSON string.
        const data = reply.body === undefined ? JSON.stringify(reply.text) : reply.text
        const { provider } = asked.provider
        const measured = provider === null ? null : measuredOf(provider.measured(reply), provider.credit)
        return { _tag: "Delivered", data, measured }
      })

    const rawActor = (target: Target, asked: RawCall): Effect.Effect<RawAnswer> =>
      runActor((call) => exchange(target, outgoing(call)), asked, {
        seconds: Math.max(1, Math.floor(target.timeoutMillis / 1000) - actorReserveSeconds),
        charactersMax: replyBytesMax
      })

    const callRaw = (asked: RawCall): Effect.Effect<RawProviderAnswer> => {
      const target = targetOf(asked.provider)
      if (target === null) {
        const answer = failure("provider_error", "the catalog does not know this provider's address")
        return Effect.succeed({ answer, duration_ms: 0 })
      }
      const work = asked.raw.body_type === "actor_input" ? rawActor(target, asked) : rawExchange(target, asked)
      const answered = bounded<RawAnswer>(target, target.timeoutMillis, work, (answer) => answer)
      return answered.pipe(
        Effect.tap(({ said }) => note(target, asked.raw.endpoint, said)),
        Effect.map(({ said, duration_ms }) => ({ answer: said, duration_ms }))
      )
    }

    return Providers.of({ call, callRaw })
  })
)
