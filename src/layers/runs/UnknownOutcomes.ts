/**
 * Runs whose last provider call has an unknown outcome, and the findings about them. The wallet's turn writes the rows
 * (TurnWrite.ts). A finding never moves money and never starts a call.
 *
 * OutcomeLookups.ts claims rows that are due for a look-up at the provider. A claim sets the time of the next look-up, so one process
 * looks at a time, and a process that dies only delays the next look-up.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { hasRows, rowsOf, storedAs, tableOf, texts } from "../postgres/Rows.ts"
import type { Finding } from "../../schema/catalog/Doubt.ts"
import { UnknownOutcome } from "../../schema/nouns/operator/Outcome.ts"

const unknownRows = storedAs(UnknownOutcome.fields)

/** A call whose outcome is to be looked up at its provider. */
export const DueLookup = Schema.Struct({
  run_id: Schema.String,
  org_id: Schema.String,
  /** The call was made through the organization's own account. */
  own: Schema.Boolean,
  provider: Schema.String,
  capability: Schema.String,
  /** JSON text. */
  input: Schema.String,
  age_seconds: Schema.Number
})
export type DueLookup = typeof DueLookup.Type
const dueLookupRows = storedAs(DueLookup.fields)

/** Pauses between the look-ups of one run; the last one is repeated. */
const pauseMinutes = [1, 5, 15, 60, 360]
/** Look-ups end after this many days: a call that the provider has not found by then won't be found later. */
const lookDaysMax = 7

export interface OfferName {
  readonly provider: string
  readonly capability: string
}

export interface UnknownFilter {
  readonly org_id: string | null
  /** Include the runs with a finding. */
  readonly resolved: boolean
  /** Only those that come after this run in the list. */
  readonly before?: string | null
}

const hintOf: Readonly<Record<Finding, string>> = {
  delivered: "it was carried out. Do not run it again.",
  not_delivered: "it was not carried out. It can be run again."
}

const findingRows = rowsOf({ run_id: Schema.String, finding: Schema.String })

export class UnknownOutcomes extends Context.Service<
  UnknownOutcomes,
  {
    /** Newest first. */
    readonly list: (filter: UnknownFilter, limit: number) => Effect.Effect<ReadonlyArray<UnknownOutcome>>
    /** Null when no run with an unknown outcome has this id. */
    readonly find: (run_id: string) => Effect.Effect<UnknownOutcome | null>
    /** The findings about these runs, keyed by run id. Runs without a finding are missing. */
    readonly findings: (run_ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, string>>
    /**
     * Records a finding once and adds it to the run's hints. False when the run already had a finding. `by` begins the hint's
     * sentence, which continues with the date; the default names the operator.
     */
    readonly resolve: (run_id: string, finding: Finding, note: string, by?: string) => Effect.Effect<boolean>
    /**
     * Claims the run of these offers that is due longest; null if none is. No other process looks it up before its next look-up is due, a
     * minute later at the earliest. Never an erased run.
     */
    readonly claim: (offers: ReadonlyArray<OfferName>) => Effect.Effect<DueLookup | null>
    /** Records a failed look-up. True for the run's first failure. */
    readonly lookFailed: (run_id: string) => Effect.Effect<boolean>
  }
>()("rungate/layers/runs/UnknownOutcomes") {
  static readonly layer = Layer.effect(
    UnknownOutcomes,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const maxAge = `interval '${lookDaysMax} days'`
      const columns =
        sql.literal(`u.run_id, u.org_id, u.provider, r.capability, r.endpoint, u.why, u.provider_state::text AS provider_state,
        u.at, u.finding, u.note, u.found_at,
        CASE WHEN u.finding IS NULL AND r.erased_at IS NULL AND u.at > now() - ${maxAge} THEN u.look_after END AS next_look`)
      const joined = sql.literal("unknown_outcomes u LEFT JOIN runs r ON r.org_id = u.org_id AND r.run_id = u.run_id")
      // Nobody was contacted, so the contact guard lets the next run pass.
      const released = sql.literal(`, released AS (
          DELETE FROM contact_claims c USING resolved f WHERE c.run_id = f.run_id AND c.org_id = f.org_id
        )`)
      const findings = (run_ids: ReadonlyArray<string>) =>
        findingRows(sql`
          SELECT run_id, finding FROM unknown_outcomes WHERE run_id = ANY(${texts(run_ids)}) AND finding IS NOT NULL`)
      const pause = sql.literal(`(ARRAY[${pauseMinutes.join()}])[least(u.looks + 1, ${pauseMinutes.length})]`)

      return UnknownOutcomes.of({
        claim: (offers) =>
          dueLookupRows.first(sql`
            WITH due AS (
              SELECT u.run_id FROM unknown_outcomes u
              JOIN runs r ON r.org_id = u.org_id AND r.run_id = u.run_id
              JOIN ${tableOf("o", offers, { provider: texts, capability: texts })}
                ON o.provider = u.provider AND o.capability = r.capability
              WHERE u.finding IS NULL AND u.look_after <= now() AND u.at > now() - ${sql.literal(maxAge)} AND r.erased_at IS NULL
              ORDER BY u.look_after LIMIT 1 FOR UPDATE OF u SKIP LOCKED
            ), claimed AS (
              UPDATE unknown_outcomes u SET looks = u.looks + 1, look_after = now() + make_interval(mins => ${pause})
              FROM due WHERE u.run_id = due.run_id RETURNING u.org_id, u.run_id, u.provider, u.at
            )
            SELECT c.run_id, c.org_id, coalesce(r.attempts -> -1 ->> 'account' = 'own', false) AS own, c.provider, r.capability, r.input::text AS input, extract(epoch FROM now() - c.at)::float8 AS age_seconds
            FROM claimed c JOIN runs r ON r.org_id = c.org_id AND r.run_id = c.run_id`),
        lookFailed: (run_id) =>
          hasRows(sql`
            UPDATE unknown_outcomes SET look_failed = true WHERE run_id = ${run_id} AND NOT look_failed RETURNING 1 AS first`),
        findings: (run_ids) =>
          run_ids.length === 0
            ? Effect.succeed(new Map())
            : Effect.orDie(
                Effect.map(findings(run_ids), (rows) => new Map(rows.map(({ run_id, finding }) => [run_id, finding])))
              ),
        list: ({ org_id, resolved, before = null }, limit) =>
          unknownRows.all(sql`
            SELECT ${columns} FROM ${joined}
            WHERE ${sql.and([
              ...(org_id === null ? [] : [sql`u.org_id = ${org_id}`]),
              ...(resolved ? [] : [sql`u.finding IS NULL`]),
              ...(before === null
                ? []
                : [sql`(u.at, u.run_id) < (SELECT b.at, b.run_id FROM unknown_outcomes b WHERE b.run_id = ${before})`]),
              sql`true`
            ])} ORDER BY u.at DESC, u.run_id DESC LIMIT ${limit}`),
        find: (run_id) => unknownRows.first(sql`SELECT ${columns} FROM ${joined} WHERE u.run_id = ${run_id}`),
        resolve: (run_id, finding, note, by = "The operator of this service found out") =>
          hasRows(sql`
            WITH resolved AS (
              UPDATE unknown_outcomes SET finding = ${finding}, note = ${note}, found_at = now()
              WHERE run_id = ${run_id} AND finding IS NULL RETURNING org_id, run_id, found_at
            ), hinted AS (
              UPDATE runs r SET hints = (jsonb_build_array(${by}::text || ' on '
                || to_char(f.found_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') || ': ' || ${hintOf[finding]}::text) || coalesce(r.hints, '[]')::jsonb)::json
              FROM resolved f WHERE r.org_id = f.org_id AND r.run_id = f.run_id
            )${finding === "not_delivered" ? released : sql.literal("")}
            SELECT 1 AS resolved FROM resolved`)
      })
    })
  )
}
