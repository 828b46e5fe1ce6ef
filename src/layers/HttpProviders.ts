/**
 * Real providers: performs what adapters describe, over HTTP, with a deadline, a size cap and no redirects.
 *
 * The account's secret is added here and appears nowhere else: not in an error, a log or a stored payload. A call always
 * answers; what went wrong is an outcome.
 */
import { Cause, Clock, Effect, Layer, Redacted, Semaphore } from "effect"
import { type Auth, type Call, failure, type Outcome, type Provider, type Reply } from "../schema/Provider.ts"
import type { CatalogOffer } from "./Catalog.ts"
import { type Answer, type ProviderAnswer, type ProviderCall, Providers } from "./Providers.ts"
import { type Account, Settings } from "./Settings.ts"

/** After decompression: a small gzip can hide a gigabyte. */
export const replyBytesMax = 32 * 1024 * 1024
/** A provider that keeps saying "not yet" ends at the attempt's deadline, and at this many questions. */
const againMax = 40

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

/** The configured origin replaces the provider's own; its path prefix stays. */
const urlOf = (provider: Provider, account: Account | undefined, call: Call, authQuery: string): URL => {
  const base = new URL(provider.base_url)
  const prefix = base.pathname.replace(/\/+$/, "")
  const origin = account?.baseUrl ?? base.origin
  const query = [queryOf(call), authQuery].filter((part) => part !== "").join("&")
  return new URL(`${origin}${prefix}${call.path}${query === "" ? "" : `?${query}`}`)
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

const send = (url: URL, call: Call, headers: Record<string, string>) =>
  Effect.tryPromise({
    try: async (signal): Promise<Reply> => {
      const body = call.body === undefined ? undefined : JSON.stringify(call.body)
      const response = await fetch(url, {
        method: call.method,
        headers: {
          accept: "application/json",
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers
        },
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
    const permits = new Map<string, Semaphore.Semaphore>()
    const permitsOf = (provider: Provider) => {
      const found = permits.get(provider.slug) ?? Semaphore.makeUnsafe(provider.concurrency)
      permits.set(provider.slug, found)
      return found
    }

    const exchange = (offer: CatalogOffer, call: Call) => {
      const { provider } = offer
      const account = accounts.get(provider.slug)
      const secret = account?.apiKey === undefined || account.apiKey === null ? "" : Redacted.value(account.apiKey)
      const auth = authorize(provider.auth, secret)
      const url = urlOf(provider, account, call, auth.query)
      // Some providers repeat the key in their errors: it must not reach an attempt's detail or a stored payload.
      const redact = (text: string) => {
        if (secret === "") return text
        const parts = provider.auth.kind === "basic" ? [secret, ...secret.split(":").slice(1)] : [secret]
        return parts.reduce(
          (rest, part) => rest.replaceAll(part, "<redacted>").replaceAll(encodeURIComponent(part), "<redacted>"),
          text
        )
      }
      return send(url, call, { ...provider.headers, ...call.headers, ...auth.headers }).pipe(
        Effect.map((reply): Reply | Answer =>
          reply.status >= 300 && reply.status < 400
            ? failure("provider_error", `HTTP ${reply.status}: redirects are not followed`)
            : clean(reply, redact)
        ),
        Effect.catch((error) => Effect.succeed<Answer>(failure("provider_error", redact(error.message))))
      )
    }

    const converse = Effect.fnUntraced(function* (asked: ProviderCall) {
      let call = asked.offer.offer.request(asked.input, { run_id: asked.run_id })
      for (let question = 0; question < againMax; question++) {
        const reply = yield* exchange(asked.offer, call)
        if ("_tag" in reply) return { answer: reply, raw: null }
        const outcome: Outcome<unknown> = asked.offer.offer.response(reply, asked.input)
        if (outcome._tag !== "Again")
          return { answer: outcome, raw: asked.include_raw && reply.body !== undefined ? reply.text : null }
        yield* Effect.sleep(`${outcome.afterMillis} millis`)
        call = outcome.call
      }
      return { answer: failure("provider_timeout", "the provider never finished its answer"), raw: null }
    })

    const call = Effect.fnUntraced(function* (asked: ProviderCall) {
      const { provider } = asked.offer
      const began = yield* Clock.currentTimeMillis
      const said = yield* permitsOf(provider)
        .withPermits(1)(converse(asked))
        .pipe(
          Effect.timeoutOrElse({
            duration: `${provider.timeoutMillis} millis`,
            orElse: () =>
              Effect.succeed({
                answer: failure("provider_timeout", `no answer within ${provider.timeoutMillis} ms`),
                raw: null
              })
          }),
          Effect.catchCause((cause) =>
            Cause.hasInterruptsOnly(cause)
              ? Effect.failCause(cause)
              : Effect.as(Effect.logError(`${provider.slug}: adapter failed`, cause), {
                  answer: failure("invalid_response", "the adapter could not read the answer"),
                  raw: null
                })
          )
        )
      return { ...said, duration_ms: (yield* Clock.currentTimeMillis) - began } satisfies ProviderAnswer
    })
    return Providers.of({ call })
  })
)
