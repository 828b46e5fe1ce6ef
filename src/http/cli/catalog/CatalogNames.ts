/**
 * A cache of the catalog's names in a file, so that completions are fast and work offline.
 *
 * The file is private and limited in size. A missing or unreadable cache counts as empty and never fails a command.
 */
import { join } from "node:path"
import { Clock, Effect, Option, Schema } from "effect"
import { DiscoveryApi } from "../../api/Discovery.ts"
import { Credentials } from "../state/Credentials.ts"
import { readAll } from "../answers/pages.ts"
import * as PrivateFile from "../state/PrivateFile.ts"
import { decoded, read } from "../answers/show.ts"

const Names = Schema.Struct({
  version: Schema.Literal(1),
  url: Schema.String,
  /** Milliseconds since 1970 of the last request, including failed ones, so that not every Tab sends a request. */
  asked_at: Schema.Number,
  fetched_at: Schema.NullOr(Schema.Number),
  capabilities: Schema.Array(Schema.String),
  providers: Schema.Record(Schema.String, Schema.Array(Schema.String))
})
export type Names = typeof Names.Type

/** Cache TTL. Catalogs change rarely, by imports. */
const freshMillis = 24 * 3600 * 1000
/** The shortest interval between two requests. */
const restMillis = 60 * 1000
/** Ten times the shipped catalog. */
const namesMost = 10_000
/** Longer than any path of a provider. */
const charsMost = 400
/** Response timeout; the refresh runs in the background. */
const answerSeconds = 20
/** Concurrent requests for the endpoints of providers. */
const concurrency = 4

const path = Effect.gen(function* () {
  const { url } = yield* Credentials
  const digest = new Bun.CryptoHasher("sha256").update(url).digest("hex").slice(0, 16)
  return join(yield* PrivateFile.cacheFolder, `catalog-${digest}.json`)
})

/** The cached names of this service; null when there are none. */
export const keptNames = Effect.gen(function* () {
  const { url } = yield* Credentials
  const text = yield* PrivateFile.read(yield* path)
  const names = text === null ? null : decoded(Names, text)
  return names?.url === url ? names : null
}).pipe(Effect.orElseSucceed(() => null))

/** Whether the cache should be refreshed. */
export const isDue = (names: Names | null, now: number): boolean =>
  names === null ||
  (now - names.asked_at > restMillis && (names.fetched_at === null || now - names.fetched_at > freshMillis))

const Capabilities = Schema.Struct({ items: Schema.Array(Schema.Struct({ capability: Schema.String })) })
const Providers = Schema.Struct({
  items: Schema.Array(Schema.Struct({ provider: Schema.String, endpoints: Schema.Struct({ count: Schema.Int }) }))
})
const Endpoints = Schema.Struct({ items: Schema.Array(Schema.Struct({ endpoint: Schema.String })) })
const how = { seconds: answerSeconds }
const query = {}

/** Whether a shell can complete this name: short and without control characters. */
const isName = (text: string) => text !== "" && text.length <= charsMost && !/[\p{Cc}\u2028\u2029]/u.test(text)

const fetched = Effect.gen(function* () {
  const lists = DiscoveryApi.endpoints
  const { items: capabilities } = yield* read(Capabilities, yield* readAll(lists.capabilities, { query }, how))
  const { items: providers } = yield* read(Providers, yield* readAll(lists.providers, { query }, how))
  const endpoints = yield* Effect.forEach(
    providers.filter(({ provider }) => isName(provider)),
    ({ provider, endpoints: { count } }) =>
      (count === 0
        ? Effect.succeed([])
        : Effect.map(
            Effect.flatMap(readAll(lists.endpoints, { params: { provider }, query }, how), (answer) =>
              read(Endpoints, answer)
            ),
            ({ items }) => items
          )
      ).pipe(
        Effect.map((endpoints) => {
          const paths = new Set(endpoints.map(({ endpoint }) => endpoint).filter(isName))
          return [provider, Array.from(paths)] as const
        })
      ),
    { concurrency }
  )
  let left = namesMost
  const kept = endpoints.map(([provider, paths]) => {
    const some = paths.slice(0, Math.max(0, left))
    left -= some.length
    return [provider, some] as const
  })
  return {
    capabilities: capabilities.map(({ capability }) => capability).filter(isName),
    providers: Object.fromEntries(kept)
  }
})

const save = Effect.fnUntraced(function* (names: Names) {
  yield* PrivateFile.write(yield* path, `${JSON.stringify(names)}\n`)
})

/** Refreshes the cache. The request time is saved first, so that other processes do not refresh too. */
export const refreshNames = Effect.gen(function* () {
  const { url } = yield* Credentials
  const before = yield* keptNames
  const asked_at = yield* Clock.currentTimeMillis
  const nothing = { capabilities: [], providers: {} }
  yield* save({ version: 1, url, fetched_at: null, ...nothing, ...before, asked_at })
  const names = yield* Effect.option(fetched)
  if (Option.isSome(names)) yield* save({ version: 1, url, asked_at, fetched_at: asked_at, ...names.value })
})
