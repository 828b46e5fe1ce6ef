/**
 * Finds a raw result that answers a capability: a raw run of the very request that an adapter of the capability would make.
 *
 * The adapter reads the stored payload as it reads a provider's answer. What it can't read, and what is no match, is not taken. The sandbox's
 * raw payloads are not the providers', so nothing is found there.
 */
import { Effect, Option, Stream } from "effect"
import type { CatalogEntry } from "../../layers/catalog/Catalog.ts"
import type { GuardStore, RawResult } from "../../layers/guards/GuardStore.ts"
import type { NewRun } from "../../layers/runs/NewRuns.ts"
import { accepted, type Accept } from "../../schema/catalog/Acceptance.ts"
import type { Call, CallContext, Offer } from "../../schema/catalog/Provider.ts"
import { defined } from "../../schema/defined.ts"
import { requestHashOf } from "../../schema/guards/InputHash.ts"
import { isRecord, parsedOrText } from "../../schema/json/Json.ts"
import { storableJson } from "../../schema/json/StorableText.ts"

/** The fields of a query as a raw run has them: texts, with a list as repeated names. */
const pairsOf = (query: Call["query"]): ReadonlyArray<readonly [string, string]> =>
  Object.entries(query ?? {}).flatMap(([name, value]) => {
    if (value === undefined) return []
    const values = typeof value === "object" ? value : [String(value)]
    return values.map((one) => [name, one] as const)
  })

interface Ask {
  readonly offer: Offer
  readonly provider: string
  readonly input_hash: string
}

/** Null if the adapter can't build the request. */
const askOf = (provider: string, offer: Offer, input: unknown, context: CallContext): Effect.Effect<Ask | null> =>
  Effect.try({
    try: (): Ask => {
      const { method, path, query, body, text } = offer.request(input, context)
      const sent = text === undefined ? (body ?? null) : parsedOrText(text)
      return { offer, provider, input_hash: requestHashOf({ provider, method, path, query: pairsOf(query) }, sent) }
    },
    catch: () => null
  }).pipe(Effect.catch(() => Effect.succeed(null)))

/** JSON text of the capability's result. Null if the payload gives none. */
const resultOf = (
  { capability }: CatalogEntry,
  offer: Offer,
  input: unknown,
  accept: Accept | undefined,
  { result }: RawResult
): Effect.Effect<string | null> =>
  Effect.try({
    try: () => {
      const stored = parsedOrText(result)
      const body = isRecord(stored) ? stored["data"] : undefined
      const outcome = offer.response({ status: 200, headers: {}, body, text: JSON.stringify(body) }, input, null)
      if (outcome._tag !== "Match") return null
      const { output } = outcome
      const acceptable = capability.acceptable()
      const taken =
        accept === undefined || acceptable === null
          ? ({ _tag: "Accepted", output } as const)
          : // No date is accepted of a result that is reused.
            accepted(accept, acceptable, output, 0)
      if (taken._tag === "Refused" || capability.judge(taken.output)?.matched !== true) return null
      return storableJson(JSON.stringify(taken.output))
    },
    catch: () => null
  }).pipe(Effect.catch(() => Effect.succeed(null)))

/** The run, with a raw result that it may take. */
export const rawResults = (guards: GuardStore["Service"], sandbox: boolean) =>
  Effect.fnUntraced(function* (run: NewRun, entry: CatalogEntry, input: unknown) {
    const { reuse, include_raw, accept } = run.plan
    // One raw result shows no agreement.
    if (reuse === undefined || reuse.keys !== undefined || include_raw || sandbox || accept?.agree !== undefined)
      return run
    const allowed = entry.offers.filter(
      ({ provider, executable }) => executable && (reuse.providers?.includes(provider.slug) ?? true)
    )
    const context = { run_id: run.run_id, ...defined({ wanted: accept?.fields }) }
    const asks = (yield* Effect.forEach(allowed, ({ provider, offer }) =>
      askOf(provider.slug, offer, input, context)
    )).flatMap((ask) => ask ?? [])
    if (asks.length === 0) return run
    const hashes = asks.map((ask) => ask.input_hash)
    const first = yield* guards.rawResults(run.org_id, reuse.max_age_seconds, hashes).pipe(
      Stream.mapEffect(
        Effect.fnUntraced(function* (row) {
          const ask = asks.find(({ input_hash }) => input_hash === row.input_hash)
          const result = ask === undefined ? null : yield* resultOf(entry, ask.offer, input, accept, row)
          if (ask === undefined || result === null) return null
          return { run_id: row.run_id, provider: ask.provider, charged: String(row.charged), result }
        })
      ),
      Stream.filter((result) => result !== null),
      Stream.runHead
    )
    if (Option.isNone(first)) return run
    return { ...run, plan: { ...run.plan, reuse: { ...reuse, found: first.value } } }
  })
