/**
 * Every provider's raw endpoints as this process knows them: what the package ships, replaced by what operators imported.
 *
 * The whole is one immutable snapshot that is swapped when another process imported something, so that a reader never sees
 * two catalogs at once, and a page of a list belongs to one version.
 */
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { Context, Effect, Layer, Schedule } from "effect"
import { type Endpoint, endpointKey, type Method, type ProviderDocument } from "../../schema/catalog/Endpoint.ts"
import { needsNoAccount, type Provider } from "../../schema/catalog/Provider.ts"
import { oneLine } from "../postgres/Batch.ts"
import { Catalog } from "./Catalog.ts"
import { CatalogStore, type StoredDocument } from "./CatalogStore.ts"
import type { Retired } from "./import/diff.ts"
import { unpack } from "./import/pack.ts"
import { providers as adapters } from "../providers/index.ts"
import { Settings } from "../platform/Settings.ts"

/** `live`: runs now. `ready`: listed, the platform's account is pending. `excluded`: never exposed raw. */
export type EndpointStatus = "live" | "ready" | "excluded"

export interface RawProvider {
  readonly slug: string
  readonly title: string
  readonly homepage: string | null
  readonly status: EndpointStatus
  /** Why it is excluded. */
  readonly excluded: string | null
  /** Public data: holds nothing and settles at $0. */
  readonly free: boolean
  /** Its adapter file; null for a provider that only an import knows. */
  readonly provider: Provider | null
  /** Empty for an excluded provider. */
  readonly document: ProviderDocument | null
  readonly endpoints: ReadonlyArray<Endpoint>
  readonly byPath: ReadonlyMap<string, ReadonlyArray<Endpoint>>
  readonly retired: ReadonlyArray<Retired>
}

export interface Snapshot {
  /** Changes whenever anything does; for ETags. */
  readonly version: string
  readonly providers: ReadonlyMap<string, RawProvider>
  /** Slugs of live capabilities whose adapters call the endpoint. */
  readonly wrappedBy: (provider: string, endpoint: Endpoint) => ReadonlyArray<string>
}

export type Lookup =
  | { readonly _tag: "Found"; readonly provider: RawProvider; readonly endpoint: Endpoint }
  | { readonly _tag: "Excluded"; readonly reason: string }
  | { readonly _tag: "Retired"; readonly retired_at: string }
  /** An actor of the marketplace that is not on the operator's list. */
  | { readonly _tag: "NotAllowed" }
  /** The path has several methods and none of them was named, or another one was. */
  | { readonly _tag: "WhichMethod"; readonly methods: ReadonlyArray<Method> }
  | { readonly _tag: "UnknownProvider"; readonly providers: ReadonlyArray<string> }
  | { readonly _tag: "UnknownEndpoint"; readonly provider: RawProvider }

/** Another process's import is seen after this long. */
const lookEvery = "5 seconds"

const shippedFolder = join(import.meta.dir, "import", "shipped")

/** What the package ships. */
const readShipped = Effect.gen(function* () {
  const names = readdirSync(shippedFolder).filter((name) => name.endsWith(".json.gz"))
  return yield* Effect.forEach(names.sort(), (name) =>
    Effect.flatMap(
      Effect.promise(() => Bun.file(join(shippedFolder, name)).bytes()),
      unpack
    )
  )
})

let known: ReadonlyArray<ProviderDocument> | undefined
/** Read once per process: it is immutable, and shared by every service that a process builds. */
export const shipped = Effect.suspend(() =>
  known === undefined
    ? Effect.tap(readShipped, (read) =>
        Effect.sync(() => {
          known = read
        })
      )
    : Effect.succeed(known)
)

const isActor = (endpoint: Endpoint): boolean => endpoint.body_type === "actor_input"

const byPath = (endpoints: ReadonlyArray<Endpoint>) => {
  const paths = new Map<string, Array<Endpoint>>()
  for (const endpoint of endpoints) paths.set(endpoint.path, [...(paths.get(endpoint.path) ?? []), endpoint])
  return paths
}

export class Endpoints extends Context.Service<
  Endpoints,
  {
    readonly snapshot: () => Snapshot
    readonly find: (provider: string, path: string, method: string | null) => Lookup
    /** Looks for imports of other processes now; true when there were some. */
    readonly refresh: Effect.Effect<boolean>
    /** Called after every change of the snapshot. */
    readonly onChange: (listener: Effect.Effect<void>) => void
  }
>()("rungate/layers/catalog/Endpoints") {
  static readonly layerOf = (builtIn: Effect.Effect<ReadonlyArray<ProviderDocument>>) =>
    Layer.effect(
      Endpoints,
      Effect.gen(function* () {
        const { mode, accounts, actors } = yield* Settings
        const catalog = yield* Catalog
        const store = yield* CatalogStore
        const base = new Map((yield* builtIn).map((document) => [document.provider, document]))
        const listeners: Array<Effect.Effect<void>> = []
        let imported = new Map<string, StoredDocument>()

        const wraps = new Map<string, Array<string>>()
        for (const { capability, offers } of catalog.entries) {
          if (capability.status !== "live") continue
          for (const { provider, offer, executable } of offers) {
            if (!executable) continue
            for (const one of offer.wraps) {
              const key = `${provider.slug} ${endpointKey(one)}`
              wraps.set(key, [...(wraps.get(key) ?? []), capability.slug])
            }
          }
        }

        const shippedActors = new Set(
          [...base.values()].flatMap(({ endpoints }) => endpoints.filter(isActor)).map(({ path }) => path.toLowerCase())
        )
        const listed = actors === null ? null : new Set(actors.map((one) => one.toLowerCase()))
        /** Actors run in the platform's account, on input that strangers write. The sandbox simulates all of them. */
        const isAllowed = (endpoint: Endpoint): boolean => {
          if (mode === "sandbox" || !isActor(endpoint)) return true
          const path = endpoint.path.toLowerCase()
          return listed === null ? shippedActors.has(path) : listed.has(path) || listed.has(path.replace(/\/.*$/, "/*"))
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
          return keyless || (accounts.get(slug)?.apiKey ?? null) !== null ? "live" : "ready"
        }

        const rawProvider = (slug: string): RawProvider => {
          const provider = adapters.find((one) => one.slug === slug) ?? null
          const excluded = provider?.excluded ?? null
          const stored = imported.get(slug)
          const document = excluded === null ? (stored?.document ?? base.get(slug) ?? null) : null
          // A document must not send a provider's key to a host that the adapter does not know.
          const endpoints = (document?.endpoints ?? []).filter(
            (one) => (one.origin === undefined || provider?.origins.includes(one.origin) === true) && isAllowed(one)
          )
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
            byPath: byPath(endpoints),
            retired: stored?.retired ?? []
          }
        }

        const take = (): Snapshot => {
          const slugs = [...new Set([...adapters.map((one) => one.slug), ...base.keys(), ...imported.keys()])].sort()
          const revisions = [...imported].map(([slug, one]) => `${slug}:${one.revision}`).sort()
          return {
            version: Bun.hash([...base.keys(), ...revisions].join(" ")).toString(36),
            providers: new Map(slugs.map((slug) => [slug, rawProvider(slug)])),
            wrappedBy: (provider, endpoint) => wraps.get(`${provider} ${endpointKey(endpoint)}`) ?? []
          }
        }

        let current = take()

        const refresh = Effect.gen(function* () {
          const revisions = yield* store.revisions
          const stale = [...revisions].flatMap(([slug, revision]) =>
            imported.get(slug)?.revision === revision ? [] : [slug]
          )
          const gone = [...imported.keys()].some((slug) => !revisions.has(slug))
          if (stale.length === 0 && !gone) return false
          const loaded = new Map((yield* store.load(stale)).map((one) => [one.document.provider, one]))
          imported = new Map(
            [...revisions.keys()].flatMap((slug) => {
              const one = loaded.get(slug) ?? imported.get(slug)
              return one === undefined ? [] : [[slug, one] as const]
            })
          )
          current = take()
          yield* Effect.forEach(listeners, (listener) => listener, { discard: true })
          return true
        })

        yield* refresh
        yield* refresh.pipe(
          Effect.catchCause((cause) => Effect.logWarning(`catalog: ${oneLine(cause)}`)),
          Effect.repeat(Schedule.spaced(lookEvery)),
          Effect.delay(lookEvery),
          Effect.forkScoped
        )

        const find = (slug: string, path: string, method: string | null): Lookup => {
          const provider = current.providers.get(slug)
          if (provider === undefined) return { _tag: "UnknownProvider", providers: [...current.providers.keys()] }
          if (provider.excluded !== null) return { _tag: "Excluded", reason: provider.excluded }
          const found = provider.byPath.get(path) ?? []
          const endpoint = method === null ? found[0] : found.find((one) => one.method === method)
          if (endpoint !== undefined && (method !== null || found.length === 1))
            return { _tag: "Found", provider, endpoint }
          if (found.length > 0) return { _tag: "WhichMethod", methods: found.map((one) => one.method) }
          const known = provider.document?.endpoints.find((one) => one.path === path)
          if (known !== undefined && !isAllowed(known)) return { _tag: "NotAllowed" }
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
