/**
 * The part of a turn that is about approvals: those about which a member decides, and their writes in the turn's one statement.
 *
 * A turn without them reads and writes nothing here. The statement requires that each approval is still pending, so of several decisions
 * one counts.
 */
import { Effect, Schema } from "effect"
import type { SqlClient, Statement } from "effect/sql"
import { Approval, type ApprovalRule, type ApprovalState, Ruling } from "../../schema/guards/Approval.ts"
import { writeInbox } from "../events/Inbox.ts"
import { bigints, booleans, ints, rowsOf, tableOf, texts } from "../postgres/Rows.ts"

export const decodeRuling = Schema.decodeUnknownSync(Ruling)
export const encodeRuling = Schema.encodeSync(Schema.fromJsonString(Ruling))

/** A command of the turn. */
interface Stored {
  readonly tag: string
  readonly org_id: string
  readonly run_id: string | null
  readonly payload: unknown
}

/** By the run and the member who decides. */
export type ApprovalView = ReadonlyMap<string, Approval>
export const rulingKey = (run_id: string, decider: string | null) => `${run_id} ${decider ?? ""}`

/** A run that the turn admits and that waits. */
export interface WaitingRun {
  readonly run_id: string
  readonly org_id: string
  readonly hold: bigint
  readonly started_by: string | null
  readonly rule: ApprovalRule
}

export interface DecidedApproval {
  readonly run_id: string
  readonly org_id: string
  readonly rule_name: string
  readonly state: Exclude<ApprovalState, "pending">
  readonly by: string | null
  readonly via: Ruling["via"] | null
  /** Whether the run goes into the queue. False for one that ends in the same turn. */
  readonly starts: boolean
}

export interface ApprovalEffects {
  readonly waiting: ReadonlyArray<WaitingRun>
  readonly decided: ReadonlyArray<DecidedApproval>
}

const approvalRows = rowsOf({ run_id: Schema.String, ...Approval.fields, decider: Schema.NullOr(Schema.String) })

export const readApprovals = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, commands: ReadonlyArray<Stored>) {
  const rulings = commands.filter(({ tag }) => tag === "Approval")
  if (rulings.length === 0) return new Map()
  const rows = yield* approvalRows(sql`
    SELECT a.run_id, a.state, a.rule_name, a.role, a.self_approval, a.started_by, a.digest,
           (extract(epoch FROM a.expires_at) * 1000000)::bigint AS expires_micros, n.decider, m.role AS decider_role
    FROM ${tableOf("n", rulings, { org_id: texts, run_id: texts }, { decider: texts(rulings.map((one) => decodeRuling(one.payload).by)) })}
    JOIN approvals a ON a.run_id = n.run_id AND a.org_id = n.org_id
    LEFT JOIN members m ON m.org_id = n.org_id AND m.user_id = n.decider`)
  const view: ApprovalView = new Map(rows.map((row) => [rulingKey(row.run_id, row.decider), row]))
  return view
})

const startsIn = ({ decided }: ApprovalEffects) => decided.flatMap(({ run_id, starts }) => (starts ? [run_id] : []))

const eventsOf = ({ waiting, decided }: ApprovalEffects) => [
  ...waiting.map(({ org_id, run_id, rule }) => ({
    ...{ org_id, kind: "run.approval_required" as const, reference: run_id },
    data: { run_id, rule: rule.name, role: rule.role, expires_after: rule.expires_after }
  })),
  ...decided
    .filter(({ state }) => state === "approved")
    .map(({ org_id, run_id, rule_name, via }) => ({
      ...{ org_id, kind: "run.approved" as const, reference: run_id },
      data: { run_id, rule: rule_name, via }
    }))
]

/** Common table expressions of the turn's statement, with a leading comma. */
export const writeApprovals = (sql: SqlClient.SqlClient, effects: ApprovalEffects, at: Statement.Fragment) => {
  const { waiting, decided } = effects
  if (waiting.length + decided.length === 0) return sql.literal("")
  const rows = waiting.map(({ rule, ...run }) => ({ ...run, ...rule, rule_id: rule.id, rule_name: rule.name }))
  const starting = texts(startsIn(effects))
  return sql`, approvals_added AS (
            INSERT INTO approvals (run_id, org_id, hold, started_by, rule_id, rule_name, role, self_approval, requested_at, expires_at)
            SELECT n.run_id, n.org_id, n.hold, n.started_by, n.rule_id, n.rule_name, n.role, n.self_approval, ${at}, ${at} + n.expires_after * interval '1 second'
            FROM ${tableOf("n", rows, { run_id: texts, org_id: texts, hold: bigints, started_by: texts, rule_id: texts, rule_name: texts, role: texts, self_approval: booleans, expires_after: ints })}
          ), approvals_decided AS (
            UPDATE approvals a SET state = n.state, decided_by = n.by, via = n.via, decided_at = ${at}
            FROM ${tableOf("n", decided, { run_id: texts, state: texts, by: texts, via: texts })}
            WHERE a.run_id = n.run_id AND a.state = 'pending' RETURNING 1
          ), approvals_started AS (
            UPDATE open_runs SET state = 'queued', since = ${at} WHERE run_id = ANY(${starting}) AND state = 'waiting' RETURNING 1
          ), approvals_contact AS (
            UPDATE contact_claims SET contacted_at = ${at} WHERE run_id = ANY(${starting})
          )${writeInbox(sql, "approvals", eventsOf(effects))}`
}

/** Condition of the turn's statement: each approval was pending, and each approved run waited. */
export const approvalsHeld = (sql: SqlClient.SqlClient, effects: ApprovalEffects) =>
  effects.decided.length === 0
    ? sql.literal("")
    : sql` AND (SELECT count(*) FROM approvals_decided) = ${effects.decided.length}::int
                            AND (SELECT count(*) FROM approvals_started) = ${startsIn(effects).length}::int`
