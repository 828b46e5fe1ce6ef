/**
 * Stores disputes of the outcome warranty.
 *
 * A run has one dispute. A claim counts a question to a provider and sets the time of the next one, so that of many repeats one asks, and
 * nobody makes the operator's account at a provider answer without end. A process that dies while it asks only delays the next question, which
 * a worker asks.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Dispute } from "../../schema/nouns/Dispute.ts"
import { storableText } from "../../schema/json/StorableText.ts"
import { askWaitMinutes, asksPerHourMax, warrantyReference } from "../../schema/wallet/Warranty.ts"
import { done, hasRows, storedAs } from "../postgres/Rows.ts"

export const DisputeRow = Schema.Struct({ org_id: Schema.String, ...Dispute.fields })
export type DisputeRow = typeof DisputeRow.Type
const disputes = storedAs(DisputeRow.fields)
const dueRows = storedAs({ run_id: Schema.String, org_id: Schema.String, evidence: Schema.String })

export interface DisputeOf {
  readonly org_id: string
  readonly run_id: string
}

export interface DisputeFilter {
  readonly org_id: string | null
  /** Include the decided ones. */
  readonly all: boolean
  /** Only those after this run. */
  readonly after: string | null
}

export interface DueDispute extends DisputeOf {
  /** It names the run that sent the message. */
  readonly evidence: string
}

/** Advisory locks of this table; the second key is the organization. */
const asksLock = 730_582

export class Disputes extends Context.Service<
  Disputes,
  {
    readonly find: (run_id: string) => Effect.Effect<DisputeRow | null>
    /** Oldest first. */
    readonly list: (filter: DisputeFilter, limit: number) => Effect.Effect<ReadonlyArray<DisputeRow>>
    /** Opens a dispute, or adds this text to an undecided one. A decided one stays as it is. */
    readonly open: (of: DisputeOf, evidence: string, note: string) => Effect.Effect<DisputeRow>
    /**
     * Opens a dispute for the one who asks the provider. False if it is too early to ask again, if the operator or a refund decided the
     * dispute, or if the organization's questions of this hour are used up.
     */
    readonly claim: (of: DisputeOf, send_run: string, note: string) => Effect.Effect<boolean>
    /** Records how an undecided dispute stands. */
    readonly note: (of: DisputeOf, state: "pending" | "not_bounced", note: string) => Effect.Effect<void>
    /**
     * Pending disputes about which a provider may be asked now, at most `limit`. Every organization gets its turn, and none that has used up
     * its questions of this hour is among them.
     */
    readonly due: (limit: number) => Effect.Effect<ReadonlyArray<DueDispute>>
    /** Leaves a pending dispute to the operator: it is never due again. */
    readonly leave: (of: DisputeOf, note: string) => Effect.Effect<void>
    /** Refuses an undecided dispute. False if it was decided, or there is none. */
    readonly refuse: (run_id: string, note: string) => Effect.Effect<boolean>
  }
>()("rungate/layers/warranty/Disputes") {
  static readonly layer = Layer.effect(
    Disputes,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const columns =
        sql.literal(`d.run_id, d.org_id, d.reason, CASE WHEN r.erased_at IS NULL THEN d.evidence END AS evidence, d.state, d.note,
        x.amount AS refund, CASE WHEN x.amount IS NOT NULL THEN '${warrantyReference("")}' || d.run_id END AS reference, CASE WHEN d.state IN ('pending', 'not_bounced') THEN d.ask_after END AS ask_after, d.created_at, d.decided_at
        FROM warranty_disputes d LEFT JOIN warranty_refunds x ON x.run_id = d.run_id LEFT JOIN runs r ON r.org_id = d.org_id AND r.run_id = d.run_id`)
      const undecided = sql.literal("state IN ('pending', 'not_bounced')")

      const wait = sql.literal(
        `make_interval(mins => (ARRAY[${askWaitMinutes.join()}])[least(d.asks + 1, ${askWaitMinutes.length})])`
      )
      const find = (run_id: string) => sql`SELECT ${columns} WHERE d.run_id = ${run_id}`

      return Disputes.of({
        find: (run_id) => disputes.first(find(run_id)),
        list: ({ org_id, all, after }, limit) =>
          disputes.all(sql`
            SELECT ${columns} WHERE (${org_id}::text IS NULL OR d.org_id = ${org_id}) AND (${all} OR d.state = 'pending') AND (${after}::text IS NULL OR d.run_id > ${after})
            ORDER BY d.run_id LIMIT ${limit}`),
        open: ({ org_id, run_id }, evidence, note) =>
          Effect.andThen(
            done(sql`
              INSERT INTO warranty_disputes AS d (run_id, org_id, reason, evidence, state, note)
              VALUES (${run_id}, ${org_id}, 'bounced', ${storableText(evidence)}, 'pending', ${note})
              ON CONFLICT (run_id) DO UPDATE SET evidence = excluded.evidence, state = 'pending', note = excluded.note WHERE d.${undecided}`),
            disputes.one(find(run_id))
          ),
        // The lock makes the count exact when an organization disputes many runs at once.
        claim: ({ org_id, run_id }, send_run, note) =>
          Effect.andThen(
            sql`SELECT pg_advisory_xact_lock(${asksLock}::int, hashtext(${org_id}))`,
            hasRows(sql`
              INSERT INTO warranty_disputes AS d (run_id, org_id, reason, evidence, state, note, asks, asked_at, ask_after)
              SELECT ${run_id}, ${org_id}, 'bounced', ${send_run}, 'pending', ${note}, 1, now(), now() + make_interval(mins => ${askWaitMinutes[0]})
              WHERE ${asksPerHourMax} > (
                SELECT count(*) FROM warranty_disputes o
                WHERE o.org_id = ${org_id} AND o.run_id <> ${run_id} AND o.asks > 0 AND o.asked_at > now() - interval '1 hour')
              ON CONFLICT (run_id) DO UPDATE SET evidence = excluded.evidence, state = 'pending', note = excluded.note,
                asks = d.asks + 1, asked_at = now(), ask_after = now() + ${wait}
              WHERE d.${undecided} AND (d.ask_after IS NULL OR d.ask_after <= now())
              RETURNING run_id`)
          ).pipe(sql.withTransaction, Effect.orDie),
        note: ({ org_id, run_id }, state, text) =>
          done(sql`
            UPDATE warranty_disputes SET state = ${state}, note = ${storableText(text)}
            WHERE run_id = ${run_id} AND org_id = ${org_id} AND ${undecided}`),
        due: (limit) =>
          dueRows.all(sql`
            SELECT w.run_id, w.org_id, w.evidence FROM (
              SELECT d.*, row_number() OVER (PARTITION BY d.org_id ORDER BY d.ask_after NULLS FIRST, d.run_id) AS turn FROM warranty_disputes d
              WHERE d.state = 'pending' AND d.evidence ~ '\\yrun_[0-9a-z]{26}\\y' AND (d.ask_after <= now() OR (d.ask_after IS NULL AND d.asks = 0))
            ) w
            WHERE ${asksPerHourMax} > (SELECT count(*) FROM warranty_disputes o
                                      WHERE o.org_id = w.org_id AND o.run_id <> w.run_id AND o.asks > 0 AND o.asked_at > now() - interval '1 hour')
            ORDER BY w.turn, w.run_id LIMIT ${limit}`),
        leave: ({ org_id, run_id }, text) =>
          done(sql`
            UPDATE warranty_disputes SET note = ${storableText(text)}, ask_after = NULL, asks = greatest(asks, 1)
            WHERE run_id = ${run_id} AND org_id = ${org_id} AND state = 'pending'`),
        refuse: (run_id, text) =>
          hasRows(sql`
            UPDATE warranty_disputes SET state = 'refused', note = ${storableText(text)}, decided_at = now()
            WHERE run_id = ${run_id} AND ${undecided} RETURNING run_id`)
      })
    })
  )
}
