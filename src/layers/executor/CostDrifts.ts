/**
 * Watches whether reported costs fit the rates that prices are computed from, and prices the offers that don't.
 *
 * An offer that cost more than its rate is no longer verified. New runs are quoted, held and charged in proportion to what it cost, until several
 * calls in a row fit again. The state is in Postgres, so it survives restarts and every process sees it. Readers use a snapshot in memory.
 * A call that fits costs nothing to watch.
 */
import { Context, Effect, Layer, Schedule, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type Endpoint, endpointKey } from "../../schema/catalog/Endpoint.ts"
import * as Decimal from "../../schema/money/Decimal.ts"
import { believed, type Drift, isDrift, raisedPrice, tolerancePercent } from "../../schema/money/Drift.ts"
import { MicroUsd, usd, zero } from "../../schema/money/Money.ts"
import { scaledEndpoint } from "../catalog/repriced.ts"
import type { CatalogEntry, CatalogOffer } from "../catalog/Catalog.ts"
import { logFailure } from "../postgres/Batch.ts"
import { rowsOf, textValues } from "../postgres/Rows.ts"
import { Settings } from "../platform/Settings.ts"
import { sharedReading } from "../platform/sharedReading.ts"

/** Calls in a row that must fit before an offer has its old price again. */
export const fitsToClear = 5

/** Tests whose recorded answers cost anything set it high. */
export const DriftTolerancePercent = Context.Reference("rungate/layers/executor/DriftTolerancePercent", {
  defaultValue: () => tolerancePercent
})

const DriftRow = Schema.Struct({
  provider: Schema.String,
  capability: Schema.String,
  since: Schema.Date,
  run_id: Schema.String,
  expected: Schema.BigInt,
  measured: Schema.BigInt
})
const driftRows = rowsOf(DriftRow.fields)
const openedRows = rowsOf({ opened: Schema.Boolean })
const fitRows = rowsOf({ fits: Schema.Int })

export interface OfferDrift extends Drift {
  readonly provider: string
  /** A capability, or a raw endpoint as `POST /path`. */
  readonly capability: string
  readonly since: Date
  readonly run_id: string
}

/** What a delivering call cost, and what its rate says. */
export interface Observed extends Drift {
  readonly provider: string
  readonly capability: string
  readonly run_id: string
}

const late = "Calls cost more than this rate of late, so it is priced by what they cost."

const keyOf = (provider: string, capability: string) => `${capability} ${provider}`

const warning = ({ provider, capability, run_id, measured, expected }: Observed) =>
  `${provider} ${capability}: a call cost $${usd(measured)}, and its rate says $${usd(expected)} (${run_id}). It is not verified any more, and new runs are priced by that cost until ${fitsToClear} calls in a row fit. Compare with the provider's bill, and set RUNGATE_PROVIDER_${provider.toUpperCase()}_CREDIT_USD if your plan pays another price`

export class CostDrifts extends Context.Service<
  CostDrifts,
  {
    readonly all: () => ReadonlyArray<OfferDrift>
    /** The offers with the prices of today. The same entry if all of them fit. */
    readonly priced: (entry: CatalogEntry) => CatalogEntry
    /** The endpoint with the prices of today, and how many times its rate a call cost. The same endpoint if it fits. */
    readonly pricedEndpoint: (provider: string, endpoint: Endpoint) => Endpoint
    /** Records what a call cost. Never fails: a run must end whatever happens here. */
    readonly observe: (observed: Observed) => Effect.Effect<void>
    readonly refresh: Effect.Effect<void>
  }
>()("rungate/layers/executor/CostDrifts") {
  static readonly layer = Layer.effect(
    CostDrifts,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { healthSeconds, markup } = yield* Settings
      const percent = yield* DriftTolerancePercent
      let drifts: ReadonlyMap<string, OfferDrift> = new Map()
      let capabilities: ReadonlySet<string> = new Set()
      /** Priced once per offer and snapshot. */
      let offers = new WeakMap<CatalogOffer, CatalogOffer>()
      let endpoints = new WeakMap<Endpoint, Endpoint>()

      const load = Effect.gen(function* () {
        const rows = yield* driftRows(sql`
          SELECT provider, capability, since, run_id, expected, measured FROM cost_drifts ORDER BY 1, 2`)
        const list = rows.map((row) => ({
          ...row,
          expected: MicroUsd(row.expected),
          measured: MicroUsd(row.measured)
        }))
        drifts = new Map(list.map((one) => [keyOf(one.provider, one.capability), one]))
        capabilities = new Set(list.map((one) => one.capability))
        offers = new WeakMap()
        endpoints = new WeakMap()
      })
      const refresh = sharedReading(load)
      const refreshOrWarn = Effect.catchCause(refresh, logFailure("Reading cost drifts failed; keeping the last ones"))

      const pricedOffer = (one: CatalogOffer): CatalogOffer => {
        const drift = drifts.get(keyOf(one.provider.slug, one.offer.capability))
        if (drift === undefined) return one
        const before = offers.get(one)
        if (before !== undefined) return before
        const note = [one.offer.note, late]
        const offer = {
          ...one.offer,
          price: raisedPrice(one.offer.price, drift, { markup }),
          verified: false,
          note: note.filter((part) => part !== null).join(" ")
        }
        const raisedOffer = { ...one, offer }
        offers.set(one, raisedOffer)
        return raisedOffer
      }

      /** Keeps the larger of two drifts: the one with the higher cost in proportion. */
      const record = ({ provider, capability, run_id, expected, measured }: Observed) =>
        openedRows(sql`
          INSERT INTO cost_drifts AS d (provider, capability, run_id, expected, measured)
          VALUES (${provider}, ${capability}, ${run_id}, ${expected}, ${measured})
          ON CONFLICT (provider, capability) DO UPDATE SET fits = 0, seen_at = now(),
            (run_id, expected, measured) = (
              SELECT * FROM (VALUES (d.run_id, d.expected, d.measured), (excluded.run_id, excluded.expected, excluded.measured))
                AS n(run_id, expected, measured)
              ORDER BY n.measured::numeric / greatest(n.expected, 1) DESC, n.measured DESC LIMIT 1)
          RETURNING since = seen_at AS opened`)

      const fit = Effect.fnUntraced(function* ({ provider, capability }: Observed) {
        const [row] = yield* fitRows(sql`
          UPDATE cost_drifts SET fits = fits + 1 WHERE provider = ${provider} AND capability = ${capability} RETURNING fits`)
        if (row === undefined || row.fits < fitsToClear) return
        const cleared = yield* textValues(sql`
          DELETE FROM cost_drifts WHERE provider = ${provider} AND capability = ${capability} AND fits >= ${fitsToClear} RETURNING provider`)
        if (cleared.length > 0)
          yield* Effect.logInfo(
            `${provider} ${capability}: ${fitsToClear} calls in a row cost what the rate says; it has its old price again`
          )
      })

      yield* refreshOrWarn
      if (healthSeconds > 0)
        yield* refreshOrWarn.pipe(Effect.schedule(Schedule.spaced(`${healthSeconds} seconds`)), Effect.forkScoped)

      return CostDrifts.of({
        all: () => [...drifts.values()],
        priced: (entry) =>
          capabilities.has(entry.capability.slug) ? { ...entry, offers: entry.offers.map(pricedOffer) } : entry,
        pricedEndpoint: (provider, endpoint) => {
          const drift = drifts.get(keyOf(provider, endpointKey(endpoint)))
          if (drift === undefined || drift.expected === zero) return endpoint
          const before = endpoints.get(endpoint)
          if (before !== undefined) return before
          const scaled = scaledEndpoint(endpoint, Decimal.integer(believed(drift)), Decimal.integer(drift.expected))
          const note = [endpoint.cost.note, late].filter((part) => part !== null).join(" ")
          const raisedEndpoint = { ...scaled, cost: { ...scaled.cost, note } }
          endpoints.set(endpoint, raisedEndpoint)
          return raisedEndpoint
        },
        observe: (observed) => {
          const drifts_now = isDrift(observed, percent)
          if (!drifts_now && !drifts.has(keyOf(observed.provider, observed.capability))) return Effect.void
          const work = drifts_now
            ? Effect.flatMap(record(observed), ([row]) =>
                row?.opened === true ? Effect.logWarning(warning(observed)) : Effect.void
              )
            : fit(observed)
          return Effect.catchCause(
            Effect.andThen(work, refresh),
            logFailure(`Recording a cost of ${observed.provider} failed; it is left out`)
          )
        },
        refresh: Effect.orDie(refresh)
      })
    })
  )
}
