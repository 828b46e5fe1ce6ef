/**
 * A stage for one provider: a real HTTP server plays its answers, the service's own HTTP layer calls it, and a test sees what
 * was asked, what it was taken to mean, and what it was said to cost.
 */
import { afterAll } from "bun:test"
import { appendFileSync, readFileSync } from "node:fs"
import { Effect, Layer } from "effect"
import { ProviderAccounts } from "../../../src/layers/provideraccounts/ProviderAccounts.ts"
import { Breakers } from "../../../src/layers/executor/Breakers.ts"
import { HttpProviders } from "../../../src/layers/executor/HttpProviders.ts"
import { Providers } from "../../../src/layers/executor/Providers.ts"
import { aloneWithProviders } from "../../kit/provider-shares.ts"
import { Settings } from "../../../src/layers/platform/Settings.ts"
import type { Failure, Offer, Outcome, Provider } from "../../../src/schema/catalog/Provider.ts"

export interface Played {
  readonly status: number
  readonly body: string
  /** Sent in place of `body`: what is no text. */
  readonly bytes?: Uint8Array<ArrayBuffer>
  readonly headers?: Readonly<Record<string, string>>
}

export interface Asked {
  readonly method: string
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  /** The account's secret, as the provider's way of authorizing carries it. */
  readonly secret: string | null
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
}

export interface Scene {
  readonly asked: ReadonlyArray<Asked>
  /** Every outcome of the adapter, `Again` included. */
  readonly outcomes: ReadonlyArray<Outcome<unknown>>
  /** States that were stored, for a restart to go on from. */
  readonly kept: ReadonlyArray<unknown>
  /** The last one: what the waterfall gets to see. */
  readonly outcome: Outcome<unknown> | undefined
}

/** A scene that ended well, as a line of the file that RUNGATE_TEST_SCENES names: see scenes.ts. */
export interface Recorded {
  readonly provider: string
  readonly capability: string
  readonly input: unknown
  readonly answers: ReadonlyArray<Played>
  readonly asked: ReadonlyArray<Asked>
  readonly output: unknown
}
const recordTo = process.env["RUNGATE_TEST_SCENES"]
const record = (scene: Recorded) => {
  if (recordTo !== undefined) appendFileSync(recordTo, `${JSON.stringify(scene)}\n`)
}

export const runId = "run_01JTESTTESTTESTTESTTESTTE"
const secret = "s3cret-of-the/account"

/** An answer recorded in `fixtures/<provider>/<name>.json`. */
export const fixture = (
  provider: string,
  name: string,
  status = 200,
  headers: Record<string, string> = {}
): Played => ({
  status,
  body: readFileSync(new URL(`./fixtures/${provider}/${name}.json`, import.meta.url), "utf8"),
  headers: { "content-type": "application/json", ...headers }
})

export const answer = (status: number, body: unknown, headers: Record<string, string> = {}): Played => ({
  status,
  body: typeof body === "string" ? body : JSON.stringify(body),
  headers
})

/** The failure of a call, and whether its words say that the account has no credits left. */
export const failed = (reason: Failure["reason"], detail: string, words = detail): Failure => ({
  _tag: "Failure",
  reason,
  detail,
  ...(reason === "provider_account" && /^HTTP 4(02|29|32|33)|credit/i.test(words) ? { outOfCredits: true } : {})
})

/** The token that a provider of access tokens issues here. */
export const issuedToken = "t0ken-that-the-provider-issued"

/** The provider's answer to the exchange of an account's credentials for a token, or null if the request is another. */
export const tokenAnswer = ({ auth }: Pick<Provider, "auth">, path: string): Response | null =>
  auth.kind === "client_credentials" && path === auth.path
    ? Response.json({ access_token: issuedToken, token_type: "Bearer", expires_in: 3600 })
    : null

const secretOf = (provider: Pick<Provider, "auth">, request: Request, query: URLSearchParams) => {
  const { auth } = provider
  if (auth.kind === "query") return query.get(auth.name)
  if (auth.kind === "header") return request.headers.get(auth.name)
  return request.headers.get("authorization")?.replace(/^Bearer /, "bearer ") ?? null
}

/** A form arrives as pairs of names and values: a name may come twice. */
const bodyOf = async (request: Request): Promise<unknown> => {
  if (request.headers.get("content-type")?.startsWith("application/json") !== true) {
    const form = await request.formData().catch(() => null)
    return form === null ? null : [...form.entries()]
  }
  return request.json()
}

/** What a request asks; `prefix` is what a configured base URL puts before the provider's own path. */
export const askedOf = async (provider: Pick<Provider, "auth">, request: Request, prefix = ""): Promise<Asked> => {
  const { pathname, searchParams } = new URL(request.url)
  return {
    method: request.method,
    path: pathname.slice(prefix.length),
    query: Object.fromEntries(searchParams),
    secret: secretOf(provider, request, searchParams),
    headers: Object.fromEntries(request.headers),
    body: await bodyOf(request)
  }
}

export const offerOf = (provider: Provider, capability: string): Offer => {
  const found = provider.offers.find((offer) => offer.capability === capability)
  if (found === undefined) throw new Error(`${provider.slug} does not serve ${capability}`)
  return found
}

export const stage = (provider: Provider) => {
  let script: Array<Played> = []
  let asked: Array<Asked> = []
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const issued = tokenAnswer(provider, new URL(request.url).pathname)
      if (issued !== null) return issued
      asked.push(await askedOf(provider, request))
      const next = script.shift() ?? { status: 599, body: "the script is at its end" }
      return new Response(next.body, { status: next.status, headers: { ...next.headers } })
    }
  })
  afterAll(() => server.stop(true))

  const name = `RUNGATE_PROVIDER_${provider.slug.toUpperCase()}`
  const layer = HttpProviders.pipe(
    Layer.provide(Layer.mergeAll(Breakers.layer, aloneWithProviders, Layer.mock(ProviderAccounts, {}))),
    Layer.provide(
      Settings.layerFrom({ [`${name}_API_KEY`]: secret, [`${name}_BASE_URL`]: `http://127.0.0.1:${server.port}` })
    )
  )

  /** Runs one attempt against these answers. The pauses between two questions are recorded and not waited for. */
  return async (capability: string, input: unknown, ...answers: ReadonlyArray<Played>): Promise<Scene> => {
    script = [...answers]
    asked = []
    const outcomes: Array<Outcome<unknown>> = []
    const kept: Array<unknown> = []
    const offer = offerOf(provider, capability)
    const heard: Offer = {
      ...offer,
      response: (reply, given, state) => {
        const outcome = offer.response(reply, given, state)
        outcomes.push(outcome)
        return outcome._tag === "Again" ? { ...outcome, afterMillis: 1 } : outcome
      }
    }
    await Effect.runPromise(
      Providers.use((providers) =>
        providers.call({
          run_id: runId,
          org_id: "org_1",
          own: false,
          offer: { provider, offer: heard, live: true, executable: true },
          capability,
          input,
          attempt: 1,
          include_raw: false,
          state: null,
          keep: (state) =>
            Effect.sync(() => {
              kept.push(state)
              return true
            })
        })
      ).pipe(Effect.provide(layer))
    )
    const outcome = outcomes.at(-1)
    if (outcome?._tag === "Match" && asked.length <= answers.length)
      record({
        provider: provider.slug,
        capability,
        input,
        answers: answers.slice(0, asked.length),
        asked,
        output: outcome.output
      })
    return { asked, outcomes, kept, outcome }
  }
}

/** What the server must have seen of a GET. */
export const get = (path: string, query: Readonly<Record<string, string>>) => ({
  method: "GET",
  path,
  query,
  body: null
})
/** What the server must have seen of a POST. */
export const post = (path: string, body: unknown) => ({ method: "POST", path, query: {}, body })

export const secretInHeader = secret
export const secretAsBearer = `bearer ${secret}`
