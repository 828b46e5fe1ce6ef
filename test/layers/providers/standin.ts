/**
 * Stands in for every provider at once: one server on loopback, where each provider's configured base URL has a path of its
 * own, so that what arrives says whose adapter sent it.
 *
 * Answers are scripted per provider. A request that nobody scripted is answered 599, and found in `heard`.
 */
import { spyOn } from "bun:test"
import { Context } from "effect"
import { Endpoints } from "../../../src/layers/catalog/Endpoints.ts"
import { providers } from "../../../src/layers/providers/index.ts"
import type { Provider } from "../../../src/schema/catalog/Provider.ts"
import { type Asked, askedOf, issuedToken, type Played, tokenAnswer } from "./stage.ts"

/** Whom it stands in for. */
type Party = Pick<Provider, "slug" | "auth">

export interface Heard extends Asked {
  readonly provider: string
  /** The body as it travelled. */
  readonly text: string
}

/** An answer whose body is no text. */
export interface PlayedBytes extends Omit<Played, "body"> {
  readonly body: string | Uint8Array<ArrayBuffer>
}

/** An answer, or what makes one; what it makes may wait. */
export type Line = PlayedBytes | ((request: Heard) => PlayedBytes | Promise<PlayedBytes>)

/** As long as real ones: a short one would be found, and removed, in the middle of an answer's words. */
const account: Readonly<Record<Provider["auth"]["kind"], string>> = {
  header: "s3cret-of-the/account",
  query: "s3cret-of-the/account",
  bearer: "s3cret-of-the/account",
  basic: "l0gin-of-it:pa55word-of-it",
  headers: "f1rst-of-two:s3cond-of-two",
  client_credentials: "cl1ent-of-it:s3cret-of-it",
  contact: "operator@example.com",
  none: ""
}

/** What a provider must have found in its request, as the headers or the query say it. */
const credentials = ({ auth }: Party): { readonly headers: Record<string, string>; readonly query: string | null } => {
  const secret = account[auth.kind]
  const [first = "", second = ""] = secret.split(":")
  switch (auth.kind) {
    case "header":
      return { headers: { [auth.name.toLowerCase()]: `${auth.prefix ?? ""}${secret}` }, query: null }
    case "query":
      return { headers: {}, query: secret }
    case "bearer":
      return { headers: { authorization: `Bearer ${secret}` }, query: null }
    case "basic":
      return { headers: { authorization: `Basic ${btoa(secret)}` }, query: null }
    case "headers":
      return { headers: { [auth.names[0].toLowerCase()]: first, [auth.names[1].toLowerCase()]: second }, query: null }
    case "client_credentials":
      return { headers: { authorization: `Bearer ${issuedToken}` }, query: null }
    case "contact":
      return { headers: { "user-agent": `Rungate (${secret})` }, query: null }
    case "none":
      return { headers: {}, query: null }
  }
}

const nobody: Played = { status: 599, body: "nobody scripted this" }

/** `others` are providers that only an import knows. */
export const standIn = (...others: ReadonlyArray<Party>) => {
  const parties: ReadonlyArray<Party> = [...providers, ...others]
  const lines = new Map<string, Array<Line>>()
  let heard: Array<Heard> = []
  const strays: Array<string> = []
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 60,
    fetch: async (request) => {
      const slug = new URL(request.url).pathname.split("/")[1] ?? ""
      const provider = parties.find((one) => one.slug === slug)
      if (provider === undefined || request.headers.get("host") !== host) strays.push(request.url)
      if (provider === undefined) return new Response("no such provider", { status: 404 })
      const issued = tokenAnswer(provider, new URL(request.url).pathname.slice(slug.length + 1))
      if (issued !== null) return issued
      const text = await request.clone().text()
      const one = { provider: slug, text, ...(await askedOf(provider, request, `/${slug}`)) }
      heard.push(one)
      const { headers, query } = credentials(provider)
      for (const [name, value] of Object.entries(headers))
        if (one.headers[name] !== value) strays.push(`${request.url}: ${name} is ${one.headers[name]}`)
      if (query !== null && one.secret !== query) strays.push(`${request.url}: its key is ${one.secret}`)
      const line = lines.get(slug)?.shift() ?? nobody
      const played = typeof line === "function" ? await line(one) : line
      return new Response(played.bytes ?? played.body, { status: played.status, headers: { ...played.headers } })
    }
  })
  const host = `127.0.0.1:${server.port}`
  const variables = parties.flatMap(({ slug, auth }): ReadonlyArray<[string, string]> => {
    const name = `RUNGATE_PROVIDER_${slug.toUpperCase()}`
    return [
      [`${name}_API_KEY`, account[auth.kind]],
      [`${name}_BASE_URL`, `http://${host}/${slug}`]
    ]
  })
  const fetched = spyOn(globalThis, "fetch")
  return {
    /** Production, with an account at every provider. */
    settings: { RUNGATE_MODE: "production", RUNGATE_DRAIN_SECONDS: "0", ...Object.fromEntries(variables) },
    /** The next answers of a provider; what was scripted before and not asked for is dropped. */
    play: (slug: string, ...script: ReadonlyArray<Line>) => lines.set(slug, [...script]),
    /** Every request since the last `forget`, in the order of arrival. */
    heard: (slug?: string) => heard.filter((one) => slug === undefined || one.provider === slug),
    forget: () => {
      heard = []
      lines.clear()
    },
    /** Requests that reached the wrong place or had the wrong key, and all that this process asked elsewhere. */
    astray: (app: string) => [
      ...strays,
      ...fetched.mock.calls.flatMap(([target]) => {
        const url = new URL(target instanceof Request ? target.url : String(target))
        return url.host === host || url.origin === app ? [] : [url.href]
      })
    ],
    stop: () => {
      fetched.mockRestore()
      return server.stop(true)
    }
  }
}

/**
 * Shortens what real providers must be given: pauses between two questions, distances between two calls. Gives the function
 * that takes all of it back.
 */
export const hasten = () => {
  const undo = providers.flatMap((provider) => {
    const { spacingMillis } = provider
    Object.assign(provider, { spacingMillis: 0 })
    const offers = provider.offers.map((offer) => {
      const { response } = offer
      Object.assign(offer, {
        response: (...given: Parameters<typeof response>) => {
          const outcome = response(...given)
          return outcome._tag === "Again" ? { ...outcome, afterMillis: 1 } : outcome
        }
      })
      return () => Object.assign(offer, { response })
    })
    return [() => Object.assign(provider, { spacingMillis }), ...offers]
  })
  return () => {
    for (const back of undo) back()
  }
}

/** Gives one provider so long to answer, while something is done. An app whose settings price the provider has its own copy of it. */
export const withDeadline = async <A>(
  slug: string,
  millis: number,
  work: () => Promise<A>,
  app?: { readonly context: Context.Context<Endpoints> }
): Promise<A> => {
  const copy = app === undefined ? null : Context.get(app.context, Endpoints).snapshot().providers.get(slug)?.provider
  const provider = copy ?? providers.find((one) => one.slug === slug)
  if (provider === undefined) throw new Error(`there is no ${slug}`)
  const { timeoutMillis } = provider
  Object.assign(provider, { timeoutMillis: millis })
  try {
    return await work()
  } finally {
    Object.assign(provider, { timeoutMillis })
  }
}
