/**
 * The last acceptance check of each offer. Readers use a snapshot in memory, so that listing providers never waits for the database.
 */
import { Context, Effect, Layer, Schedule, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { logFailure } from "../postgres/Batch.ts"
import { rowsOf } from "../postgres/Rows.ts"
import { Settings } from "../platform/Settings.ts"

export const CheckRow = Schema.Struct({
  provider: Schema.String,
  capability: Schema.String,
  checked_at: Schema.Date,
  run_id: Schema.String,
  passed: Schema.Boolean,
  outcome: Schema.String,
  latency_ms: Schema.BigInt,
  charged: Schema.BigInt,
  cost: Schema.NullOr(Schema.BigInt)
})
export type CheckRow = typeof CheckRow.Type
const checkRows = rowsOf(CheckRow.fields)

/** Checks are made by hand, so they may appear a little late. */
const refreshInterval = "30 seconds"

export class ProviderChecks extends Context.Service<
  ProviderChecks,
  {
    /** The checks of a provider's offers, as last read. */
    readonly of: (provider: string) => ReadonlyArray<CheckRow>
    readonly refresh: Effect.Effect<void>
    /** Replaces the check of this offer. */
    readonly record: (check: Omit<CheckRow, "checked_at">) => Effect.Effect<void>
  }
>()("rungate/layers/catalog/ProviderChecks") {
  static readonly layer = Layer.effect(
    ProviderChecks,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { healthSeconds } = yield* Settings
      let checksByProvider: ReadonlyMap<string, ReadonlyArray<CheckRow>> = new Map()

      const refresh = Effect.gen(function* () {
        const rows = yield* checkRows(sql`
          SELECT provider, capability, checked_at, run_id, passed, outcome, latency_ms, charged, cost FROM provider_checks ORDER BY 1, 2`)
        checksByProvider = Map.groupBy(rows, (row) => row.provider)
      })
      const refreshOrWarn = Effect.catchCause(
        refresh,
        logFailure("Reading provider checks failed; keeping the last ones")
      )
      yield* refreshOrWarn
      if (healthSeconds > 0)
        yield* refreshOrWarn.pipe(
          Effect.repeat(Schedule.spaced(refreshInterval)),
          Effect.delay(refreshInterval),
          Effect.forkScoped
        )

      return ProviderChecks.of({
        of: (provider) => checksByProvider.get(provider) ?? [],
        refresh: Effect.orDie(refresh),
        record: ({ provider, capability, run_id, passed, outcome, latency_ms, charged, cost }) =>
          Effect.orDie(
            Effect.andThen(
              sql`
                INSERT INTO provider_checks (provider, capability, run_id, passed, outcome, latency_ms, charged, cost)
                VALUES (${provider}, ${capability}, ${run_id}, ${passed}, ${outcome}, ${latency_ms}, ${charged}, ${cost})
                ON CONFLICT (provider, capability) DO UPDATE
                SET checked_at = now(), run_id = excluded.run_id, passed = excluded.passed, outcome = excluded.outcome,
                    latency_ms = excluded.latency_ms, charged = excluded.charged, cost = excluded.cost`,
              refresh
            )
          )
      })
    })
  )
}
