/**
 * Reads the marketplace of actors (Apify) for the catalog: the store's listing, and the input schema and permission level of a
 * single marketplace actor.
 *
 * Schema, permission level and statistics are loaded at the first inspection, also for actors whose schema the package ships, and again
 * after a day. Schema and permission level are stored for all processes. Nothing is loaded unless the marketplace's account is configured.
 */
import { Clock, Context, Effect, Layer, Redacted, Semaphore } from "effect"
import type { Endpoint } from "../../schema/catalog/Endpoint.ts"
import { type ActorInput, CatalogStore } from "./CatalogStore.ts"
import { readAddress } from "./import/kit/Downloads.ts"
import { actorInput } from "./import/marketplace/actorInput.ts"
import { ImportFailed } from "./import/kit/Import.ts"
import { isRecord } from "./import/kit/fields.ts"
import { apify, importMarketplace, reportedOf, wantsFullPermissions } from "./import/marketplace/marketplace.ts"
import { segmentOf } from "../../schema/Ids.ts"
import { Settings } from "../platform/Settings.ts"

/** Timeouts: an inspection waits for a build; a page of the store may be large. */
const buildSeconds = 10
const pageSeconds = 60
const freshMillis = 24 * 3_600_000
/** After a failed load, inspections don't call the marketplace for this long. */
const retryMillis = 60_000
const cachedMax = 1_000

const isActor = (answer: unknown): answer is { readonly data: Readonly<Record<string, unknown>> } =>
  isRecord(answer) && isRecord(answer["data"])

export class Marketplace extends Context.Service<
  Marketplace,
  {
    /**
     * The input of a marketplace actor; null when it is not known. `fresh` loads it when it is missing or a day old, `new` only when it
     * is missing and not shipped, `never` only from the database.
     */
    readonly input: (
      provider: string,
      endpoint: Endpoint,
      load: "fresh" | "new" | "never"
    ) => Effect.Effect<ActorInput | null>
    /** The actor's runs of the last 30 days, as this process loaded them last. */
    readonly reported: (endpoint: Endpoint) => Endpoint["reported"]
    /** The complete store as a provider's document. */
    readonly store: Effect.Effect<Effect.Success<ReturnType<typeof importMarketplace>>, ImportFailed>
  }
>()("rungate/layers/catalog/Marketplace") {
  static readonly layer = Layer.effect(
    Marketplace,
    Effect.gen(function* () {
      const store = yield* CatalogStore
      const settings = yield* Settings
      const accountNow = () => settings.current().accounts.get(apify.provider)
      const failedAt = new Map<string, number>()
      const cached = new Map<string, ActorInput & { readonly loaded_at: Date }>()
      const reported = new Map<string, Endpoint["reported"]>()
      const turns = new Map<string, Semaphore.Semaphore>()

      /** Many inspections of one actor at once load it once. */
      const turnOf = (path: string) => {
        if (turns.size >= cachedMax) turns.clear()
        const turn = turns.get(path) ?? Semaphore.makeUnsafe(1)
        turns.set(path, turn)
        return turn.withPermits(1)
      }

      /** Returns the same object until the input is loaded again, so that its schema is compiled once. */
      const storedInput = Effect.fnUntraced(function* (provider: string, path: string) {
        const stored = yield* store.actorInput(provider, path)
        const before = cached.get(path)
        if (stored === null || before?.loaded_at.getTime() === stored.loaded_at.getTime())
          return before !== undefined && stored !== null ? before : stored
        if (cached.size >= cachedMax) cached.clear()
        cached.set(path, stored)
        return stored
      })

      const fetchJson = (seconds: number) => (path: string) => {
        const account = accountNow()
        const origin = account?.baseUrl ?? new URL(apify.base_url).origin
        const key = account?.apiKey ?? null
        const headers = key === null ? {} : { authorization: `Bearer ${Redacted.value(key)}` }
        return Effect.flatMap(readAddress(`${origin}${path}`, seconds, headers), (text) =>
          Effect.try({
            try: (): unknown => JSON.parse(text),
            catch: () =>
              new ImportFailed({
                message: `${origin}${path.split("?")[0]} did not answer with JSON. Check the configured base URL of the marketplace, then retry.`
              })
          })
        )
      }

      const load = Effect.fnUntraced(function* (provider: string, endpoint: Endpoint, now: number) {
        if (accountNow() === undefined || now - (failedAt.get(endpoint.path) ?? -retryMillis) < retryMillis) return null
        const name = endpoint.path.replace("/", "~")
        const address = `/v2/acts/${segmentOf(name)}`
        const loaded = yield* Effect.all(
          { actor: fetchJson(buildSeconds)(address), build: fetchJson(buildSeconds)(`${address}/builds/default`) },
          { concurrency: 2 }
        ).pipe(
          Effect.catch((failed) =>
            Effect.as(
              Effect.logWarning(`Loading ${endpoint.path} failed; a later request retries: ${failed.message}`),
              null
            )
          )
        )
        if (loaded === null || !isActor(loaded.actor)) {
          failedAt.set(endpoint.path, now)
          return null
        }
        const read = actorInput(loaded.build, endpoint.path)
        for (const { where, message } of read.warnings) yield* Effect.logInfo(`${endpoint.path}: ${where} ${message}`)
        const full_permissions = wantsFullPermissions(loaded.actor.data)
        if (reported.size >= cachedMax) reported.clear()
        reported.set(endpoint.path, reportedOf(loaded.actor.data["stats"]))
        if (full_permissions)
          yield* Effect.logWarning(
            `${endpoint.path} asks for full permissions over the marketplace account, so it is not run`
          )
        // A build without a schema accepts any input.
        const input = { body: read.body ?? { type: "object" }, example: read.example, full_permissions }
        yield* store.keepActorInput(provider, endpoint.path, input)
        return input
      })

      return Marketplace.of({
        input: Effect.fnUntraced(function* (provider, endpoint, load_when) {
          if (endpoint.body_type !== "actor_input") return null
          const { path } = endpoint
          const input = yield* storedInput(provider, path)
          const now = yield* Clock.currentTimeMillis
          const isKnown = input !== null || endpoint.body !== null
          if (load_when === "never" || (load_when === "new" && isKnown)) return input
          const isFresh = (one: typeof input) =>
            one !== null && now - one.loaded_at.getTime() < freshMillis && reported.has(path)
          if (isFresh(input)) return input
          const latest = Effect.flatMap(storedInput(provider, path), (one) =>
            isFresh(one) ? Effect.succeed(one) : Effect.map(load(provider, endpoint, now), (loaded) => loaded ?? one)
          )
          return yield* turnOf(path)(latest)
        }),
        reported: ({ path, reported: listed }) => reported.get(path) ?? listed,
        store: importMarketplace({ fetchJson: fetchJson(pageSeconds) })
      })
    })
  )
}
