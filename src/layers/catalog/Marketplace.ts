/**
 * The actor marketplace as far as the catalog needs it: the store's listing, and an actor's permission level and the input schema of its
 * latest build.
 *
 * Both are loaded when somebody first inspects the actor, kept in the database for all processes, and loaded again a day later. Without a
 * configured account nobody is asked.
 */
import { Clock, Context, Effect, Layer, Redacted } from "effect"
import type { Endpoint } from "../../schema/catalog/Endpoint.ts"
import { type ActorInput, CatalogStore } from "./CatalogStore.ts"
import { readAddress } from "./import/kit/Downloads.ts"
import { actorInput } from "./import/marketplace/actorInput.ts"
import { ImportFailed } from "./import/kit/Import.ts"
import { isRecord } from "./import/kit/fields.ts"
import { apify, importMarketplace, wantsFullPermissions } from "./import/marketplace/marketplace.ts"
import { Settings } from "../platform/Settings.ts"

/** An inspection waits no longer for a build than this; a page of the store may be large. */
const buildSeconds = 10
const pageSeconds = 60
const freshMillis = 24 * 3_600_000
/** A marketplace that does not answer is not asked again for every inspection. */
const retryMillis = 60_000
const seenMax = 1_000

const isActor = (answer: unknown): answer is { readonly data: Readonly<Record<string, unknown>> } =>
  isRecord(answer) && isRecord(answer["data"])

export class Marketplace extends Context.Service<
  Marketplace,
  {
    /** What the catalog did not know of an actor; null when nobody knows. The marketplace is asked for what is new, or a day old. */
    readonly input: (
      provider: string,
      endpoint: Endpoint,
      load: "fresh" | "new" | "never"
    ) => Effect.Effect<ActorInput | null>
    /** The whole store as a provider's document. */
    readonly store: Effect.Effect<Effect.Success<ReturnType<typeof importMarketplace>>, ImportFailed>
  }
>()("rungate/layers/catalog/Marketplace") {
  static readonly layer = Layer.effect(
    Marketplace,
    Effect.gen(function* () {
      const kept = yield* CatalogStore
      const { accounts } = yield* Settings
      const account = accounts.get(apify.provider)
      const failedAt = new Map<string, number>()
      const seen = new Map<string, ActorInput & { readonly loaded_at: Date }>()

      /** The same load is the same object, so that whoever compiles a schema does it once. */
      const known = Effect.fnUntraced(function* (provider: string, path: string) {
        const stored = yield* kept.actorInput(provider, path)
        const before = seen.get(path)
        if (stored === null || before?.loaded_at.getTime() === stored.loaded_at.getTime())
          return before !== undefined && stored !== null ? before : stored
        if (seen.size >= seenMax) seen.clear()
        seen.set(path, stored)
        return stored
      })

      const fetchJson = (seconds: number) => (path: string) => {
        const origin = account?.baseUrl ?? new URL(apify.base_url).origin
        const key = account?.apiKey ?? null
        const headers = key === null ? {} : { authorization: `Bearer ${Redacted.value(key)}` }
        return Effect.flatMap(readAddress(`${origin}${path}`, seconds, headers), (text) =>
          Effect.try({
            try: (): unknown => JSON.parse(text),
            catch: () => new ImportFailed({ message: `${origin}${path.split("?")[0]} answered no JSON.` })
          })
        )
      }

      const load = Effect.fnUntraced(function* (provider: string, endpoint: Endpoint, now: number) {
        if (account === undefined || now - (failedAt.get(endpoint.path) ?? -retryMillis) < retryMillis) return null
        const name = endpoint.path.replace("/", "~")
        const address = `/v2/acts/${encodeURIComponent(name)}`
        const loaded = yield* Effect.all(
          { actor: fetchJson(buildSeconds)(address), build: fetchJson(buildSeconds)(`${address}/builds/default`) },
          { concurrency: 2 }
        ).pipe(Effect.catch((failed) => Effect.as(Effect.logWarning(`${endpoint.path}: ${failed.message}`), null)))
        if (loaded === null || !isActor(loaded.actor)) {
          failedAt.set(endpoint.path, now)
          return null
        }
        const read = actorInput(loaded.build)
        for (const { where, message } of read.warnings) yield* Effect.logInfo(`${endpoint.path}: ${where} ${message}`)
        const full_permissions = wantsFullPermissions(loaded.actor.data)
        if (full_permissions)
          yield* Effect.logWarning(`${endpoint.path} asks for full permissions over the account: it is not run`)
        // A build without a schema takes any input.
        const input = { body: read.body ?? { type: "object" }, example: read.example, full_permissions }
        yield* kept.keepActorInput(provider, endpoint.path, input)
        return input
      })

      return Marketplace.of({
        input: Effect.fnUntraced(function* (provider, endpoint, load_when) {
          if (endpoint.body_type !== "actor_input" || endpoint.body !== null) return null
          const input = yield* known(provider, endpoint.path)
          const now = yield* Clock.currentTimeMillis
          const enough = load_when === "never" || (input !== null && load_when === "new")
          if (enough || (input !== null && now - input.loaded_at.getTime() < freshMillis)) return input
          return (yield* load(provider, endpoint, now)) ?? input
        }),
        store: importMarketplace({ fetchJson: fetchJson(pageSeconds) })
      })
    })
  )
}
