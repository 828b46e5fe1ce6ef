/**
 * Runs whose last call may have been carried out or not, and what was found out about them later. Written by the wallet's turn
 * (TurnRecords.ts); a finding never moves money and never starts a call.
 */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { texts } from "./Columns.ts"

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
}

export const findings = ["delivered", "not_delivered"] as const
export type Finding = (typeof findings)[number]

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
    /** Records the finding once, and tells the run's organization in its hints. False when there was one already. */
    readonly resolve: (run_id: string, finding: Finding, note: string) => Effect.Effect<boolean>
  }
>()("rungate/layers/UnknownOutcomes") {
  static readonly layer = Layer.effect(
    UnknownOutcomes,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const columns =
        sql.literal(`u.run_id, u.org_id, u.provider, r.capability, r.endpoint, u.why, u.provider_state::text AS provider_state,
        u.at, u.finding, u.note, u.found_at`)
      const joined = sql.literal("unknown_outcomes u LEFT JOIN runs r ON r.org_id = u.org_id AND r.run_id = u.run_id")
      const list = ({ org_id, resolved }: UnknownFilter, limit: number) => sql<UnknownRow>`
        SELECT ${columns} FROM ${joined}
        WHERE ${sql.and([
          ...(org_id === null ? [] : [sql`u.org_id = ${org_id}`]),
          ...(resolved ? [] : [sql`u.finding IS NULL`]),
          sql`true`
        ])} ORDER BY u.at DESC, u.run_id DESC LIMIT ${limit}`
      const find = (run_id: string) => sql<UnknownRow>`SELECT ${columns} FROM ${joined} WHERE u.run_id = ${run_id}`
      const resolve = (run_id: string, finding: Finding, note: string) => sql`
        WITH found AS (
          UPDATE unknown_outcomes SET finding = ${finding}, note = ${note}, found_at = now()
          WHERE run_id = ${run_id} AND finding IS NULL RETURNING org_id, run_id, found_at
        ), told AS (
          UPDATE runs r SET hints = (jsonb_build_array('The operator of this service found out on '
            || to_char(f.found_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') || ': ' || ${hintOf[finding]}::text) || coalesce(r.hints, '[]')::jsonb)::json
          FROM found f WHERE r.org_id = f.org_id AND r.run_id = f.run_id
        )
        SELECT 1 AS found FROM found`
      const found = (run_ids: ReadonlyArray<string>) => sql<{ run_id: string; finding: string }>`
        SELECT run_id, finding FROM unknown_outcomes WHERE run_id = ANY(${texts(run_ids)}) AND finding IS NOT NULL`
      return UnknownOutcomes.of({
        findings: (run_ids) =>
          run_ids.length === 0
            ? Effect.succeed(new Map())
            : Effect.orDie(
                Effect.map(found(run_ids), (rows) => new Map(rows.map(({ run_id, finding }) => [run_id, finding])))
              ),
        list: (filter, limit) => Effect.orDie(list(filter, limit)),
        find: (run_id) => Effect.orDie(Effect.map(find(run_id), (rows) => rows[0] ?? null)),
        resolve: (run_id, finding, note) =>
          Effect.orDie(Effect.map(resolve(run_id, finding, note), (rows) => rows.length === 1))
      })
    })
  )
}
