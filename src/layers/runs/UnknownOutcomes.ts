/**
 * Runs whose last call may have been carried out or not, and what was found out about them later. Written by the wallet's turn
 * (TurnRecords.ts). A finding never moves money and never starts a call.
 *
 * Processes claim rows that are due for a look-up at the provider (OutcomeLookups.ts). A claim sets the time of the next look-up, so one
 * process looks at a time, and a process that dies only delays the next look.
 */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { texts } from "../postgres/Columns.ts"
import type { Finding } from "../../schema/catalog/Doubt.ts"

export interface UnknownRow {
  readonly run_id: string
  readonly org_id: string
  readonly provider: string
  readonly capability: string | null
  readonly endpoint: string | null
  readonly why: string
  /** JSON text: what the provider's own record names the job by; null when the call started none that is known. */
  readonly provider_state: string | null
  readonly at: Date
  readonly finding: string | null
  readonly note: string | null
  readonly found_at: Date | null
  /** When the provider is asked next; null when it is not asked. */
  readonly next_look: Date | null
}

/** A call whose provider is to be asked what became of it. */
export interface DueLookup {
  readonly run_id: string
  readonly provider: string
  readonly capability: string
  /** JSON text. */
  readonly input: string
  readonly age_seconds: number
}

/** Pauses between the look-ups of one run; the last one is repeated. */
const pauseMinutes = [1, 5, 15, 60, 360]
/** A provider that has not found a call after so many days won't find it later. */
const lookDaysMax = 7

export interface OfferName {
  readonly provider: string
  readonly capability: string
}

export interface UnknownFilter {
  readonly org_id: string | null
  /** With those that somebody has found out about. */
  readonly resolved: boolean
}

const hintOf: Readonly<Record<Finding, string>> = {
  delivered: "it was carried out. Do not run it again.",
  not_delivered: "it was not carried out. It can be run again."
}

export class UnknownOutcomes extends Context.Service<
  UnknownOutcomes,
  {
    /** Newest first. */
    readonly list: (filter: UnknownFilter, limit: number) => Effect.Effect<ReadonlyArray<UnknownRow>>
    /** Null when no run with an unknown outcome has this id. */
    readonly find: (run_id: string) => Effect.Effect<UnknownRow | null>
    /** What was found out about these runs, by run id. */
    readonly findings: (run_ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyMap<string, string>>
    /**
     * Records the finding once, and tells the run's organization in its hints. False when there was one already. `by` says who found it
     * out, as the beginning of a sentence that goes on with the date; the operator when left out.
     */
    readonly resolve: (run_id: string, finding: Finding, note: string, by?: string) => Effect.Effect<boolean>
    /** Claims runs of these offers that are due, so that no other process looks at the same time. Never an erased run. */
    readonly claim: (offers: ReadonlyArray<OfferName>, limit: number) => Effect.Effect<ReadonlyArray<DueLookup>>
    /** Notes that a look-up failed. True for the run's first one. */
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
      const list = ({ org_id, resolved }: UnknownFilter, limit: number) => sql<UnknownRow>`
        SELECT ${columns} FROM ${joined}
        WHERE ${sql.and([
          ...(org_id === null ? [] : [sql`u.org_id = ${org_id}`]),
          ...(resolved ? [] : [sql`u.finding IS NULL`]),
          sql`true`
        ])} ORDER BY u.at DESC, u.run_id DESC LIMIT ${limit}`
      const find = (run_id: string) => sql<UnknownRow>`SELECT ${columns} FROM ${joined} WHERE u.run_id = ${run_id}`
      const resolve = (run_id: string, finding: Finding, note: string, by: string) => sql`
        WITH found AS (
          UPDATE unknown_outcomes SET finding = ${finding}, note = ${note}, found_at = now()
          WHERE run_id = ${run_id} AND finding IS NULL RETURNING org_id, run_id, found_at
        ), told AS (
          UPDATE runs r SET hints = (jsonb_build_array(${by}::text || ' on '
            || to_char(f.found_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') || ': ' || ${hintOf[finding]}::text) || coalesce(r.hints, '[]')::jsonb)::json
          FROM found f WHERE r.org_id = f.org_id AND r.run_id = f.run_id
        )
        SELECT 1 AS found FROM found`
      const found = (run_ids: ReadonlyArray<string>) => sql<{ run_id: string; finding: string }>`
        SELECT run_id, finding FROM unknown_outcomes WHERE run_id = ANY(${texts(run_ids)}) AND finding IS NOT NULL`
      const pause = sql.literal(`(ARRAY[${pauseMinutes.join()}])[least(u.looks + 1, ${pauseMinutes.length})]`)
      const claim = (offers: ReadonlyArray<OfferName>, limit: number) => sql<DueLookup>`
        WITH due AS (
          SELECT u.run_id FROM unknown_outcomes u
          JOIN runs r ON r.org_id = u.org_id AND r.run_id = u.run_id
          JOIN unnest(${texts(offers.map((one) => one.provider))}, ${texts(offers.map((one) => one.capability))}) AS o(provider, capability)
            ON o.provider = u.provider AND o.capability = r.capability
          WHERE u.finding IS NULL AND u.look_after <= now() AND u.at > now() - ${sql.literal(maxAge)} AND r.erased_at IS NULL
          ORDER BY u.look_after LIMIT ${limit} FOR UPDATE OF u SKIP LOCKED
        ), claimed AS (
          UPDATE unknown_outcomes u SET looks = u.looks + 1, look_after = now() + make_interval(mins => ${pause})
          FROM due WHERE u.run_id = due.run_id RETURNING u.org_id, u.run_id, u.provider, u.at
        )
        SELECT c.run_id, c.provider, r.capability, r.input::text AS input, extract(epoch FROM now() - c.at)::float8 AS age_seconds
        FROM claimed c JOIN runs r ON r.org_id = c.org_id AND r.run_id = c.run_id`
      const lookFailed = (run_id: string) => sql`
        UPDATE unknown_outcomes SET look_failed = true WHERE run_id = ${run_id} AND NOT look_failed RETURNING 1 AS first`
      return UnknownOutcomes.of({
        claim: (offers, limit) => Effect.orDie(claim(offers, limit)),
        lookFailed: (run_id) => Effect.orDie(Effect.map(lookFailed(run_id), (rows) => rows.length === 1)),
        findings: (run_ids) =>
          run_ids.length === 0
            ? Effect.succeed(new Map())
            : Effect.orDie(
                Effect.map(found(run_ids), (rows) => new Map(rows.map(({ run_id, finding }) => [run_id, finding])))
              ),
        list: (filter, limit) => Effect.orDie(list(filter, limit)),
        find: (run_id) => Effect.orDie(Effect.map(find(run_id), (rows) => rows[0] ?? null)),
        resolve: (run_id, finding, note, by = "The operator of this service found out") =>
          Effect.orDie(Effect.map(resolve(run_id, finding, note, by), (rows) => rows.length === 1))
      })
    })
  )
}
