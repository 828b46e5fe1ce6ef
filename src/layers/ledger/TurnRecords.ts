/**
 * Writes what a turn records for operators: losses, and calls with an unknown outcome.
 *
 * They are parts of the turn's one statement. A turn without such records adds nothing to the statement, so an ordinary run pays
 * nothing for them.
 */
import type { SqlClient } from "effect/sql"
import { bigints, booleans, jsons, texts } from "../postgres/Columns.ts"
import type { Doubt } from "../../schema/catalog/Doubt.ts"
import type { Loss } from "../../schema/wallet/Loss.ts"

export interface RunLoss extends Loss {
  readonly run_id: string
  readonly org_id: string
}

/** A run whose last call has an unknown outcome: the provider may have carried it out or not. */
export interface UnknownOutcome {
  readonly run_id: string
  readonly org_id: string
  readonly provider: string
  readonly why: Doubt
  /** JSON text of the job that the call had started; null when it started none. */
  readonly provider_state: string | null
  /** Whether the provider offers a look-up of the outcome. */
  readonly look: boolean
}

export interface TurnRecords {
  readonly losses: ReadonlyArray<RunLoss>
  readonly unknowns: ReadonlyArray<UnknownOutcome>
}

export const hasRecords = ({ losses, unknowns }: TurnRecords): boolean => losses.length + unknowns.length > 0

const writeUnknowns = (sql: SqlClient.SqlClient, unknowns: ReadonlyArray<UnknownOutcome>) =>
  unknowns.length === 0
    ? sql.literal("")
    : sql`, unknown AS (
            INSERT INTO unknown_outcomes (run_id, org_id, provider, why, provider_state, look_after)
            SELECT run_id, org_id, provider, why, provider_state::json, CASE WHEN look THEN now() END
            FROM unnest(${texts(unknowns.map((u) => u.run_id))}, ${texts(unknowns.map((u) => u.org_id))},
                        ${texts(unknowns.map((u) => u.provider))}, ${texts(unknowns.map((u) => u.why))},
                        ${jsons(unknowns.map((u) => u.provider_state))}, ${booleans(unknowns.map((u) => u.look))})
                 AS n(run_id, org_id, provider, why, provider_state, look)
          )`

/** Further common table expressions of the turn's statement, each with a leading comma. */
export const writeRecords = (sql: SqlClient.SqlClient, lane: number, { losses, unknowns }: TurnRecords) =>
  sql`${writeLosses(sql, lane, losses)}${writeUnknowns(sql, unknowns)}`

const writeLosses = (sql: SqlClient.SqlClient, lane: number, losses: ReadonlyArray<RunLoss>) =>
  losses.length === 0
    ? sql.literal("")
    : sql`, lost AS (
            INSERT INTO losses (run_id, org_id, provider, reason, measured, charge, cost)
            SELECT * FROM unnest(${texts(losses.map((l) => l.run_id))}, ${texts(losses.map((l) => l.org_id))},
                                 ${texts(losses.map((l) => l.provider))}, ${texts(losses.map((l) => l.reason))},
                                 ${booleans(losses.map((l) => l.measured))}, ${bigints(losses.map((l) => l.charge))},
                                 ${bigints(losses.map((l) => l.cost))})
          ), lost_sums AS (
            INSERT INTO loss_sums AS s (provider, reason, lane, runs, loss)
            SELECT coalesce(n.provider, ''), n.reason, ${lane}::smallint, count(*), sum(n.loss)
            FROM unnest(${texts(losses.map((l) => l.provider))}, ${texts(losses.map((l) => l.reason))},
                        ${bigints(losses.map((l) => l.cost - l.charge))}) AS n(provider, reason, loss)
            GROUP BY 1, 2
            ON CONFLICT (provider, reason, lane) DO UPDATE SET runs = s.runs + excluded.runs, loss = s.loss + excluded.loss
          )`
