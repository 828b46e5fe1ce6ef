/** Providers as the operator sees them. Health, checks and drifts are those that this process routes by. */
import { Clock, Effect, Schema } from "effect"
import { Catalog } from "../../../layers/catalog/Catalog.ts"
import { ProviderChecks } from "../../../layers/catalog/ProviderChecks.ts"
import { readinessOf } from "../../../layers/catalog/ProviderReadiness.ts"
import { Breakers, type Broken } from "../../../layers/executor/Breakers.ts"
import { CostDrifts } from "../../../layers/executor/CostDrifts.ts"
import { Health } from "../../../layers/executor/Health.ts"
import { type LossRow, Losses } from "../../../layers/ledger/Losses.ts"
import { Margins } from "../../../layers/ledger/Margins.ts"
import { costBoundCache } from "../../../layers/platform/costBoundCache.ts"
import { Settings } from "../../../layers/platform/Settings.ts"
import * as nouns from "../../../schema/nouns/operator/Provider.ts"
import { fromOf } from "../../../schema/Period.ts"
import { group } from "../group.ts"
import { daysDefault } from "../../api/operator/Providers.ts"
import { pageBy } from "../ListPage.ts"
import { makeOrganizationOf } from "./NamedOrganization.ts"
import { checkedAt, providerHealth } from "../catalog/CatalogItems.ts"
import { marginReport, marginReportView } from "./MarginReport.ts"

const providersJson = Schema.encodeSync(nouns.OperatorProviders)
const lossesJson = Schema.encodeSync(nouns.Losses)

const lossOf = ({ measured, ...row }: LossRow) => ({
  ...row,
  cost_basis:
    measured === null ? ("unknown" as const) : measured ? ("measured" as const) : ("partly_estimated" as const)
})

/** One line for each offer, whichever organizations it is left alone for. The breaker that closes last says why. */
const pausedOffers = (broken: ReadonlyArray<Broken>, now: number) =>
  [
    ...Map.groupBy(
      broken.filter(({ trip }) => trip.until > now),
      ({ provider, subject }) => `${subject} ${provider}`
    ).values()
  ].flatMap((all) => {
    const [last] = all.toSorted((a, b) => b.trip.until - a.trip.until)
    if (last === undefined) return []
    const { reason, detail, until } = last.trip
    return [
      {
        provider: last.provider,
        capability: last.subject,
        reason,
        detail,
        until: new Date(until),
        organizations: all.length
      }
    ]
  })

export const OperatorProvidersHandlers = group(
  "operatorProviders",
  Effect.fnUntraced(function* (handlers) {
    const breakers = yield* Breakers
    const catalog = yield* Catalog
    const checks = yield* ProviderChecks
    const drifts = yield* CostDrifts
    const health = yield* Health
    const losses = yield* Losses
    const margins = yield* Margins
    const { mode } = yield* Settings
    const readiness = readinessOf(catalog.entries, catalog.providers, catalog.isConfigured)
    // It reads every run of its days.
    const report = yield* costBoundCache((days) =>
      Effect.all({ rows: margins.list(Number(days)), ended: margins.ended(Number(days)) })
    )

    const { inQuery } = yield* makeOrganizationOf
    return handlers.handleAll({
      list: Effect.fnUntraced(function* () {
        const now = yield* Clock.currentTimeMillis
        return providersJson({
          mode,
          capabilities: readiness.capabilities,
          providers: readiness.providers.map((one) => {
            const { status, sample_size: calls } = providerHealth(health, one.provider, one.serves)
            const own = checks.of(one.provider)
            return {
              ...one,
              checked_at: checkedAt(own),
              unchecked: one.serves.filter(
                (capability) => !own.some((check) => check.capability === capability && check.passed)
              ),
              health: { status, sample_size: calls }
            }
          }),
          cost_drifts: drifts.all(),
          paused: pausedOffers(breakers.all(), now)
        })
      }),

      margins: ({ query: { days = daysDefault } }) =>
        Effect.map(report(String(days)), ({ rows, ended }) => marginReportView(days, marginReport(rows), ended)),

      losses: Effect.fnUntraced(function* ({ query }) {
        const { org_id, from } = query
        const filter = { org_id: yield* inQuery(org_id), since: from === undefined ? null : fromOf(from) }
        const read = (before: string | null, limit: number) => losses.list(filter, before, limit)
        const page = yield* pageBy("run", query, read, ({ run_id }) => run_id, lossOf)
        const totals = yield* org_id === undefined && from === undefined ? losses.sums : losses.totals(filter)
        return lossesJson({ ...page, totals })
      })
    })
  })
)
