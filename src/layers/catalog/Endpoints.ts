/**
 * The raw endpoints of all providers: the shipped documents, overridden by documents that operators imported.
 *
 * Readers use an immutable snapshot. It is replaced when any process imports a document, so every response belongs to one
 * version of the catalog.
 */
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { Context, Effect, Layer, Schedule, Semaphore } from "effect"
import { type Endpoint, endpointKey, type Method, type ProviderDocument } from "../../schema/catalog/Endpoint.ts"
import { needsNoAccount, type Provider, reportsNoCost } from "../../schema/catalog/Provider.ts"
import { logFailure } from "../postgres/Batch.ts"
import { Catalog, type CatalogEntry } from "./Catalog.ts"
import { CatalogStore, type StoredDocument } from "./CatalogStore.ts"
import type { Retired } from "./import/diff.ts"
import { hasActor } from "./import/marketplace/allowed.ts"
import { unpackShipped } from "./import/pack.ts"
import { atOnce, inSlices } from "../platform/inSlices.ts"
import { packageFolder } from "../platform/packageFolder.ts"
import { isOfAccount } from "../platform/settings/ProviderSettings.ts"
import { Settings } from "../platform/Settings.ts"
import { repricing } from "./repriced.ts"

/** `live`: can be run. `ready`: listed, but the provider's account is not configured. `excluded`: never exposed raw. */
export type EndpointStatus = "live" | "ready" | "excluded"

export interface RawProvider {
  readonly slug: string
  readonly title: string
  readonly homepage: string | null
  readonly status: EndpointStatus
  /** Why it is excluded. */
  readonly excluded: string | null
  /** Public data: a run has a hold of $0 and costs $0. */
  readonly free: boolean
  /** Its adapter; null for a provider that exists only as an import. */
  readonly provider: Provider | null
  /** Empty for an excluded provider. */
  readonly document: ProviderDocument | null
  readonly endpoints: ReadonlyArray<Endpoint>
  readonly byPath: ReadonlyMap<string, ReadonlyArray<Endpoint>>
  readonly retired: ReadonlyArray<Retired>
}

/** Whether the rate card or the provider's answer says what a call costs. In production, the service's account makes no other call. */
export const isMetered = ({ free, provider }: RawProvider, { cost }: Endpoint): boolean =>
  free || cost.estimate !== null || (provider?.measured ?? reportsNoCost) !== reportsNoCost

export interface Snapshot {
  readonly providers: ReadonlyMap<string, RawProvider>
  /** Slugs of live capabilities whose adapters call the endpoint. */
  readonly wrappedBy: (provider: string, endpoint: Endpoint) => ReadonlyArray<string>
}

export type Lookup =
  | { readonly _tag: "Found"; readonly provider: RawProvider; readonly endpoint: Endpoint }
  | { readonly _tag: "Excluded"; readonly reason: string }
  | { readonly _tag: "Retired"; readonly retired_at: string }
  /** A marketplace actor that is not on the operator's list. */
  | { readonly _tag: "NotAllowed" }
  /** The path has other methods than the given one, or several and none was given. */
  | { readonly _tag: "WhichMethod"; readonly methods: ReadonlyArray<Method> }
  | { readonly _tag: "UnknownProvider"; readonly providers: ReadonlyArray<string> }
  | { readonly _tag: "UnknownEndpoint"; readonly provider: RawProvider }

/** Imports of other processes appear within this time. */
const refreshInterval = "5 seconds"

const shippedFolder = join(packageFolder, "src", "layers", "catalog", "import", "shipped")

/** Reads the documents that ship with the package. */
const readShipped = Effect.gen(function* () {
  const names = readdirSync(shippedFolder).filter((name) => name.endsWith(".json.gz"))
  return yield* Effect.forEach(names.sort(), (name) =>
    Effect.flatMap(
      Effect.promise(() => Bun.file(join(shippedFolder, name)).bytes()),
      unpackShipped
    )
  )
})

let shippedDocuments: ReadonlyArray<ProviderDocument> | undefined
/** The shipped documents, read once per process and shared by all services. */
export const shipped = Effect.suspend(() =>
  shippedDocuments === undefined
    ? Effect.tap(readShipped, (read) =>
        Effect.sync(() => {
          shippedDocuments = read
        })
      )
    : Effect.succeed(shippedDocuments)
)

const isMarketplaceActor = (endpoint: Endpoint): boolean => endpoint.body_type === "actor_input"

/** Endpoints read between two pauses: some microseconds each. */
const endpointsPerPause = 32

function* byPath(endpoints: ReadonlyArray<Endpoint>) {
  const paths = new Map<string, Array<Endpoint>>()
  for (const [n, endpoint] of endpoints.entries()) {
    const others = paths.get(endpoint.path)
    if (others === undefined) paths.set(endpoint.path, [endpoint])
    else others.push(endpoint)
    if (n % endpointsPerPause === 0) yield
  }
  return paths
}

/** Slugs of live capabilities by the endpoints that their adapters call. */
const wrapsOf = (entries: ReadonlyArray<CatalogEntry>): ReadonlyMap<string, ReadonlyArray<string>> => {
  const wraps = new Map<string, Array<string>>()
  for (const { capability, offers } of entries) {
    if (capability.status !== "live") continue
    for (const { provider, offer, executable } of offers) {
      if (!executable) continue
      for (const one of offer.wraps) {
        const key = `${provider.slug} ${endpointKey(one)}`
        wraps.set(key, [...(wraps.get(key) ?? []), capability.slug])
      }
    }
  }
  return wraps
}

export class Endpoints extends Context.Service<
  Endpoints,
  {
    readonly snapshot: () => Snapshot
    readonly find: (provider: string, path: string, method: string | null) => Lookup
    /** Loads the imports of other processes; true when there were any. */
    readonly refresh: Effect.Effect<boolean>
    /** Registers a listener for changes of the snapshot. */
    readonly onChange: (listener: Effect.Effect<void>) => void
  }
>()("rungate/layers/catalog/Endpoints") {
  static readonly layerOf = (builtIn: Effect.Effect<ReadonlyArray<ProviderDocument>>) =>
    Layer.effect(
      Endpoints,
      Effect.gen(function* () {
        const { actors, current: settingsNow, markup, mode, onReload } = yield* Settings
        const catalog = yield* Catalog
        const adapters = catalog.providers
        const store = yield* CatalogStore
        const base = new Map((yield* builtIn).map((document) => [document.provider, document]))
        const listeners: Array<Effect.Effect<void>> = []
        let imported = new Map<string, StoredDocument>()

        let wraps = wrapsOf(catalog.entries)

        const shippedMarketplaceActors = new Set(
          [...base.values()]
            .flatMap(({ endpoints }) => endpoints.filter(isMarketplaceActor))
            .map(({ path }) => path.toLowerCase())
        )
        const isListed = actors === null ? null : hasActor(actors)
        /** Marketplace actors run in the operator's account on customers' input. The sandbox simulates all of them. */
        const isAllowed = (endpoint: Endpoint): boolean => {
          if (mode === "sandbox" || !isMarketplaceActor(endpoint)) return true
          return isListed === null ? shippedMarketplaceActors.has(endpoint.path.toLowerCase()) : isListed(endpoint.path)
        }

        const statusOf = (
          slug: string,
          provider: Provider | null,
          document: ProviderDocument | null
        ): EndpointStatus => {
          if (provider !== null && provider.excluded !== null) return "excluded"
          if (mode === "sandbox") return "live"
          const auth = provider?.auth ?? document?.auth ?? null
          const keyless = auth !== null && needsNoAccount(auth)
          return keyless || (settingsNow().accounts.get(slug)?.apiKey ?? null) !== null ? "live" : "ready"
        }

        function* makeRawProvider(slug: string, stored: StoredDocument | undefined): Generator<void, RawProvider> {
          const provider = catalog.provider(slug) ?? null
          const excluded = provider?.excluded ?? null
          const listed = excluded === null ? (stored?.document ?? base.get(slug) ?? null) : null
          const rates = { credit: provider?.credit ?? null, markup }
          const document = listed === null ? null : yield* repricing(listed, rates)
          const endpoints: Array<Endpoint> = []
          for (const [n, one] of (document?.endpoints ?? []).entries()) {
            // An imported document must not send a provider's key to a host that the adapter does not list.
            const isOwn = one.origin === undefined || provider?.origins.includes(one.origin) === true
            if (isOwn && isAllowed(one)) endpoints.push(one)
            if (n % endpointsPerPause === 0) yield
          }
          return {
            slug,
            title: provider?.title ?? document?.title ?? slug,
            homepage: provider?.homepage ?? document?.homepage ?? null,
            status: statusOf(slug, provider, document),
            excluded,
            free: provider?.free ?? false,
            provider,
            document,
            endpoints,
            byPath: yield* byPath(endpoints),
            retired: stored?.retired ?? []
          }
        }

        /** Those of the last snapshot, by slug. An import changes one of them, and making all anew would stall every request. */
        const madeOf = new Map<string, { readonly stored: StoredDocument | undefined; readonly raw: RawProvider }>()
        const rawProvider = (slug: string): RawProvider => {
          const stored = imported.get(slug)
          const last = madeOf.get(slug)
          if (last !== undefined && last.stored === stored) return last.raw
          const raw = atOnce(makeRawProvider(slug, stored))
          madeOf.set(slug, { stored, raw })
          return raw
        }

        const makeSnapshot = (): Snapshot => {
          const wrapping = wraps
          const slugs = [...new Set([...adapters.map((one) => one.slug), ...base.keys(), ...imported.keys()])].sort()
          return {
            providers: new Map(slugs.map((slug) => [slug, rawProvider(slug)])),
            wrappedBy: (provider, endpoint) => wrapping.get(`${provider} ${endpointKey(endpoint)}`) ?? []
          }
        }

        let current = makeSnapshot()

        const replace = Effect.suspend(() => {
          current = makeSnapshot()
          return Effect.forEach(listeners, (listener) => listener, { discard: true })
        })
        const oneAtATime = Semaphore.makeUnsafe(1).withPermits(1)

        /** Accounts have changed: which providers can be run, and what a credit costs. */
        const renew = Effect.gen(function* () {
          wraps = wrapsOf(catalog.entries)
          for (const [slug, { stored }] of [...madeOf])
            madeOf.set(slug, { stored, raw: yield* inSlices(makeRawProvider(slug, stored)) })
          yield* replace
        })
        onReload((changed) => (changed.some(isOfAccount) ? oneAtATime(renew) : Effect.void))

        const refreshNow = Effect.gen(function* () {
          const revisions = yield* store.revisions
          const stale = [...revisions].flatMap(([slug, revision]) =>
            imported.get(slug)?.revision === revision ? [] : [slug]
          )
          const gone = [...imported.keys()].some((slug) => !revisions.has(slug))
          if (stale.length === 0 && !gone) return false
          const loaded = new Map((yield* store.load(stale)).map((one) => [one.document.provider, one]))
          if (loaded.size === 0 && !gone) return false
          for (const [slug, stored] of loaded)
            madeOf.set(slug, { stored, raw: yield* inSlices(makeRawProvider(slug, stored)) })
          imported = new Map(
            [...revisions.keys()].flatMap((slug) => {
              const one = loaded.get(slug) ?? imported.get(slug)
              return one === undefined ? [] : [[slug, one] as const]
            })
          )
          yield* replace
          return true
        })
        const refresh = oneAtATime(refreshNow)

        yield* refresh
        yield* Effect.andThen(Effect.ignore(store.copyShared), refresh).pipe(
          Effect.catchCause(logFailure("Loading catalog imports failed; keeping the last ones")),
          Effect.repeat(Schedule.spaced(refreshInterval)),
          Effect.delay(refreshInterval),
          Effect.forkScoped
        )

        const find = (slug: string, path: string, method: string | null): Lookup => {
          const provider = current.providers.get(slug)
          if (provider === undefined) return { _tag: "UnknownProvider", providers: [...current.providers.keys()] }
          if (provider.excluded !== null) return { _tag: "Excluded", reason: provider.excluded }
          const candidates = provider.byPath.get(path) ?? []
          const endpoint = method === null ? candidates[0] : candidates.find((one) => one.method === method)
          if (endpoint !== undefined && (method !== null || candidates.length === 1))
            return { _tag: "Found", provider, endpoint }
          if (candidates.length > 0) return { _tag: "WhichMethod", methods: candidates.map((one) => one.method) }
          const hidden = provider.document?.endpoints.find((one) => one.path === path)
          if (hidden !== undefined && !isAllowed(hidden)) return { _tag: "NotAllowed" }
          const retired = provider.retired.find((one) => one.path === path)
          if (retired !== undefined) return { _tag: "Retired", retired_at: retired.retired_at }
          return { _tag: "UnknownEndpoint", provider }
        }

        return Endpoints.of({
          snapshot: () => current,
          find,
          refresh,
          onChange: (listener) => {
            listeners.push(listener)
          }
        })
      })
    )
  static readonly layer = Endpoints.layerOf(shipped)
}
