/**
 * The names that the catalog of a service has, kept in a file, so that completions are quick and work offline.
 *
 * The file is private like all of rungate's, of a limited size, and never a reason for anything to fail: what can't be read is not there.
 */
import { join } from "node:path"
import { Clock, Effect, Option, Schema } from "effect"
import { Client } from "../answers/Client.ts"
import { Credentials } from "../state/Credentials.ts"
import { allPages } from "../answers/pages.ts"
import * as PrivateFile from "../state/PrivateFile.ts"
import { decoded, pageOf } from "../answers/show.ts"

const Names = Schema.Struct({
  version: Schema.Literal(1),
  url: Schema.String,
  /** Milliseconds since 1970; what was asked for and did not come counts too, or every Tab would ask again. */
  asked_at: Schema.Number,
  fetched_at: Schema.NullOr(Schema.Number),
  capabilities: Schema.Array(Schema.String),
  providers: Schema.Record(Schema.String, Schema.Array(Schema.String))
})
export type Names = typeof Names.Type

/** A catalog changes by imports, now and then. */
const freshMillis = 24 * 3600 * 1000
/** Offline, say: not asked again at once. */
const restMillis = 60 * 1000
/** A shell offers no more in a readable way, and ten times the shipped catalog fits. */
const namesMost = 10_000
/** Longer than any path of a provider. */
const charsMost = 400
/** Nobody waits for it, but it must end. */
const answerSeconds = 20
/** Providers that are asked at a time. */
const concurrency = 4

const path = Effect.gen(function* () {
  const { url } = yield* Credentials
  const digest = new Bun.CryptoHasher("sha256").update(url).digest("hex").slice(0, 16)
  return join(yield* PrivateFile.cacheFolder, `catalog-${digest}.json`)
})

/** What is kept of this service; null when nothing is. */
export const keptNames = Effect.gen(function* () {
  const { url } = yield* Credentials
  const text = yield* PrivateFile.read(yield* path)
  const names = text === null ? null : decoded(Names, text)
  return names?.url === url ? names : null
}).pipe(Effect.catch(() => Effect.succeed(null)))

/** Whether it is time to ask the service. */
export const isDue = (names: Names | null, now: number): boolean =>
  names === null ||
  (now - names.asked_at > restMillis && (names.fetched_at === null || now - names.fetched_at > freshMillis))

const Capability = Schema.Struct({ capability: Schema.String })
const Provider = Schema.Struct({ provider: Schema.String, endpoints: Schema.Struct({ count: Schema.Int }) })
const Endpoint = Schema.Struct({ endpoint: Schema.String })

/** All items of a list that can be read; what the service does not answer is no item. */
const itemsOf = Effect.fnUntraced(function* <A>(list: string, schema: Schema.Codec<A, unknown>) {
  const { send } = yield* Client
  const answer = yield* allPages(list, (one) => send("GET", one, { seconds: answerSeconds }))
  return pageOf(answer.text).items.flatMap((item) => decoded(schema, item) ?? [])
})

/** A name that a shell's line can hold; what else a service may call something is not offered. */
const isName = (text: string) => text !== "" && text.length <= charsMost && !/[\p{Cc}\u2028\u2029]/u.test(text)

const fetched = Effect.gen(function* () {
  const capabilities = yield* itemsOf("/v1/catalog/capabilities?limit=200", Capability)
  const providers = yield* itemsOf("/v1/catalog/providers?limit=200", Provider)
  const endpoints = yield* Effect.forEach(
    providers.filter(({ provider }) => isName(provider)),
    ({ provider, endpoints: { count } }) =>
      (count === 0
        ? Effect.succeed([])
        : itemsOf(`/v1/catalog/providers/${encodeURIComponent(provider)}/endpoints?limit=200`, Endpoint)
      ).pipe(
        Effect.map((found) => {
          const paths = new Set(found.map(({ endpoint }) => endpoint).filter(isName))
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

/** Asks the service, and keeps what it says. Whoever comes meanwhile sees that it is being asked. */
export const refreshNames = Effect.gen(function* () {
  const { url } = yield* Credentials
  const before = yield* keptNames
  const asked_at = yield* Clock.currentTimeMillis
  const nothing = { capabilities: [], providers: {} }
  yield* save({ version: 1, url, fetched_at: null, ...nothing, ...before, asked_at })
  const found = yield* Effect.option(fetched)
  if (Option.isSome(found)) yield* save({ version: 1, url, asked_at, fetched_at: asked_at, ...found.value })
})
