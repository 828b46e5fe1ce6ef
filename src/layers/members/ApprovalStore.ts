/** Reads approvals: those of an organization, and those whose time is over. Turns write them (ApprovalTurn.ts). */
import { Context, Effect, Layer, type Redacted, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import type { ApprovalState } from "../../schema/guards/Approval.ts"
import { Approval } from "../../schema/nouns/Approval.ts"
import { inputSubject } from "../../schema/runs/InputSubject.ts"
import { newLinkToken, tokenHash } from "../accounts/Secrets.ts"
import { Settings } from "../platform/Settings.ts"
import { hasRows, storedAs } from "../postgres/Rows.ts"

const { subject: _, ...columns } = Approval.fields
const stored = storedAs({
  ...columns,
  /** JSON text. Null after erasure and for a large input. */
  input: Schema.NullOr(Schema.String)
})
type ApprovalRow = typeof Approval.Type
const dueRuns = storedAs({ org_id: Schema.String, run_id: Schema.String })
const links = storedAs({ org_id: Schema.String, run_id: Schema.String, user_id: Schema.String })
/** Of the approval `a` and the member `m`. */
const open = "a.state = 'pending' AND a.expires_at > now() AND may_decide(m.role, a.role)"

/** Longer inputs would cost a list too much. */
const inputCharsMax = 4000
/** Runs that one pass ends. */
const dueMax = 200

export class ApprovalStore extends Context.Service<
  ApprovalStore,
  {
    readonly find: (org_id: string, run_id: string) => Effect.Effect<ApprovalRow | null>
    /** Newest first. */
    readonly list: (
      org_id: string,
      state: ApprovalState | null,
      before: string | null,
      limit: number
    ) => Effect.Effect<ReadonlyArray<ApprovalRow>>
    /** A new link for the member with this address, who may decide now. Null if the run does not wait any more, or the member may not. */
    readonly link: (run_id: string, address: string) => Effect.Effect<Redacted.Redacted | null>
    /** What the link of a member is about, while the run waits and the member may decide. Null for any other token. */
    readonly linked: (
      token: Redacted.Redacted
    ) => Effect.Effect<(ApprovalRow & { readonly org_id: string; readonly user_id: string }) | null>
    /** Pending ones whose time is over, oldest first. */
    readonly due: Effect.Effect<ReadonlyArray<{ readonly org_id: string; readonly run_id: string }>>
  }
>()("rungate/layers/members/ApprovalStore") {
  static readonly due = () => "EXISTS (SELECT FROM approvals WHERE state = 'pending' AND expires_at <= now())"

  static readonly layer = Layer.effect(
    ApprovalStore,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { cell } = yield* Settings
      const approvals = sql`
        SELECT a.run_id, a.state, a.rule_name AS rule, a.role, r.capability, r.endpoint, r.key_id,
               CASE WHEN r.erased_at IS NULL AND length(r.input::text) <= ${inputCharsMax}::int THEN r.input::text END AS input,
               ARRAY(SELECT json_array_elements_text(r.plan -> 'providers')) AS providers, a.hold, a.digest, a.requested_at, a.expires_at,
               a.decided_at, a.decided_by, a.via
        FROM approvals a JOIN runs r ON r.org_id = a.org_id AND r.run_id = a.run_id`
      const shown = (statement: Statement.Statement<object>) =>
        Effect.map(stored.all(statement), (rows) =>
          rows.map(({ input, ...row }): ApprovalRow => ({ ...row, subject: inputSubject(input) }))
        )

      const find = (org_id: string, run_id: string) =>
        Effect.map(shown(sql`${approvals} WHERE a.org_id = ${org_id} AND a.run_id = ${run_id}`), ([row]) => row ?? null)

      return ApprovalStore.of({
        find,
        list: (org_id, state, before, limit) =>
          shown(sql`${approvals}
            WHERE a.org_id = ${org_id} AND (${state}::text IS NULL OR a.state = ${state}) AND (${before}::text IS NULL OR a.run_id < ${before})
            ORDER BY a.run_id DESC LIMIT ${limit}`),
        link: Effect.fnUntraced(function* (run_id, address) {
          const token = newLinkToken(cell, "approve", null)
          const isStored = yield* hasRows(sql`
            INSERT INTO approval_links (token_hash, run_id, user_id)
            SELECT ${tokenHash(token)}, a.run_id, m.user_id
            FROM approvals a JOIN members m ON m.org_id = a.org_id JOIN users u ON u.user_id = m.user_id
            WHERE a.run_id = ${run_id} AND u.email = ${address} AND NOT u.pending AND ${sql.literal(open)}
            LIMIT 1 RETURNING 1`)
          return isStored ? token : null
        }),
        linked: Effect.fnUntraced(function* (token) {
          const one = yield* links.first(sql`
            SELECT a.org_id, a.run_id, m.user_id FROM approval_links l JOIN approvals a USING (run_id)
            JOIN members m ON m.org_id = a.org_id AND m.user_id = l.user_id
            WHERE l.token_hash = ${tokenHash(token)} AND ${sql.literal(open)}`)
          const row = one === null ? null : yield* find(one.org_id, one.run_id)
          return one === null || row === null ? null : { ...row, ...one }
        }),
        due: dueRuns.all(sql`
          SELECT a.org_id, a.run_id FROM approvals a JOIN wallets w USING (org_id)
          WHERE a.state = 'pending' AND a.expires_at <= now() AND w.moving < 2 ORDER BY expires_at LIMIT ${dueMax}`)
      })
    })
  )
}
