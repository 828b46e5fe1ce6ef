/** Drives the real executor against any address: one capability call or one raw call of a provider that a test makes up. */
import { Effect, Layer, Logger, ManagedRuntime, Redacted } from "effect"
import type { CatalogOffer } from "../../src/layers/catalog/Catalog.ts"
import type { RawProvider } from "../../src/layers/catalog/Endpoints.ts"
import { ProviderAccounts } from "../../src/layers/provideraccounts/ProviderAccounts.ts"
import { Breakers } from "../../src/layers/executor/Breakers.ts"
import { HttpProviders } from "../../src/layers/executor/HttpProviders.ts"
import {
  type ProviderAnswer,
  Providers,
  type RawCall,
  type RawProviderAnswer
} from "../../src/layers/executor/Providers.ts"
import { httpErrors, match, unreadable } from "../../src/layers/providers/kit/outcome.ts"
import { flag, text } from "../../src/layers/providers/kit/read.ts"
import { aloneWithProviders } from "../kit/provider-shares.ts"
import { Settings } from "../../src/layers/platform/Settings.ts"
import { emailVerify } from "../../src/schema/capabilities/email.verify.ts"
import { inUsd } from "../../src/schema/money/Rates.ts"
import { type Call, offer, type Provider, provider } from "../../src/schema/catalog/Provider.ts"

export const secret = "s3cret/of-the:account"
/** The limit of a provider that a test lets wait. */
export const timeoutMillis = 500

/** A provider of one capability that answers `{"ok":true}`; `call` is what its adapter asks beside the usual. Busy machines get time. */
export const providerOf = (
  slug: string,
  changes: Partial<Pick<Provider, "auth" | "concurrency" | "spacingMillis" | "timeoutMillis" | "base_url">> = {},
  call: Partial<Call> = {}
): Provider =>
  provider({
    slug,
    title: slug,
    homepage: "https://example.com",
    base_url: "https://api.example.com",
    auth: { kind: "header", name: "X-API-Key" },
    concurrency: 20,
    timeoutMillis: 30_000,
    httpErrors: httpErrors(),
    ...changes,
    offers: [
      offer(emailVerify, {
        price: inUsd.flat("0.0025"),
        wraps: [],
        request: () => ({ method: "POST", path: "/good", body: { a: 1 }, ...call }),
        response: (reply, input) => {
          if (flag(reply.body, "ok") !== true) return unreadable("ok")
          return match({
            email: text(reply.body, "email") ?? input.email,
            email_status: "valid",
            score: null,
            is_disposable: null,
            is_role: null,
            is_free: null,
            mx_found: null,
            did_you_mean: null,
            provider_status: null
          })
        }
      })
    ]
  })

const rawPlan: RawCall["raw"] = {
  method: "GET",
  endpoint: "/good",
  path: "/good",
  query: [],
  body_type: "json",
  encoding: "json",
  has_body: false,
  hold: "1.00",
  estimate: "0.01"
}

const rawProvider = (one: Provider): RawProvider => ({
  slug: one.slug,
  title: one.title,
  homepage: one.homepage,
  status: "live",
  excluded: null,
  free: false,
  provider: one,
  document: null,
  endpoints: [],
  byPath: new Map(),
  retired: []
})

export interface Executor {
  readonly call: (one: Provider, org_id?: string) => Promise<ProviderAnswer>
  readonly callRaw: (
    one: Provider,
    raw?: Partial<RawCall["raw"]>,
    input?: unknown,
    org_id?: string,
    own?: boolean
  ) => Promise<RawProviderAnswer>
  readonly breakers: Breakers["Service"]
  readonly logs: ReadonlyArray<string>
  readonly stop: () => Promise<void>
}

/** One process's executor: its gates and breakers last as long as it does. `urls` are the accounts' addresses by slug. */
export const startExecutor = async (
  urls: Readonly<Record<string, string>>,
  key = secret,
  more: Readonly<Record<string, string>> = {},
  /** The address of an own account, which its organization chose. */
  ownUrl: string | null = null
): Promise<Executor> => {
  const logs: Array<string> = []
  const settings = {
    ...Object.fromEntries(
      Object.entries(urls).flatMap(([slug, url]) => [
        [`RUNGATE_PROVIDER_${slug.toUpperCase()}_API_KEY`, key],
        [`RUNGATE_PROVIDER_${slug.toUpperCase()}_BASE_URL`, url]
      ])
    ),
    ...more
  }
  const own = { account_id: "pac_1", api_key: Redacted.make(key), base_url: ownUrl }
  const logger = Logger.make(({ message, cause }) => {
    logs.push(`${Bun.inspect(message)} ${Bun.inspect(cause)}`)
  })
  const layer = HttpProviders.pipe(
    Layer.provideMerge(Breakers.layer),
    Layer.provide(aloneWithProviders),
    Layer.provide(Layer.mock(ProviderAccounts, { open: () => Effect.succeed(own) })),
    Layer.provide(Settings.layerFrom(settings)),
    Layer.provideMerge(Logger.layer([logger]))
  )
  const runtime = ManagedRuntime.make(layer)
  const providers = await runtime.runPromise(Effect.map(Providers, (found) => found))
  const breakers = await runtime.runPromise(Effect.map(Breakers, (found) => found))
  const keep = () => Effect.succeed(true)
  return {
    breakers,
    logs,
    call: (one, org_id = "org_1") => {
      const [found] = one.offers
      if (found === undefined) throw new Error("a provider of one capability has one offer")
      const known: CatalogOffer = { provider: one, offer: found, live: true, executable: true }
      const input = { email: "jane.doe@example.com" }
      const asked = { run_id: "run_1", org_id, own: false, offer: known, capability: "email.verify", input, attempt: 1 }
      return runtime.runPromise(providers.call({ ...asked, include_raw: true, state: null, keep }))
    },
    callRaw: (one, raw = {}, input = {}, org_id = "org_1", own = false) =>
      runtime.runPromise(
        providers.callRaw({
          run_id: "run_1",
          org_id,
          own,
          provider: rawProvider(one),
          raw: { ...rawPlan, ...raw },
          input,
          input_text: JSON.stringify(input),
          state: null,
          keep
        })
      ),
    stop: () => runtime.dispose()
  }
}
