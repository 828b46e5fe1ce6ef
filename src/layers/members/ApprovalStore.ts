/**
 * Stores the rules that say which runs need an approval, and reads approvals. Turns write approvals (ApprovalTurn.ts), and a trigger gives
 * the active rules to the wallet (postgres/schema/approvals.sql).
 */
import { Context, Effect, Layer, type Redacted, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { defined, withoutNulls } from "../../schema/defined.ts"
import { type Problem, refused } from "../../schema/Errors.ts"
import { Conditions } from "../../schema/guards/Approval.ts"
import { Approval, ApprovalRule, type RuleChange } from "../../schema/nouns/Approval.ts"
import type { RunRow } from "../../schema/nouns/Run.ts"
import { inputSubject } from "../../schema/runs/InputSubject.ts"
import { newLinkToken, tokenHash } from "../accounts/Secrets.ts"
import { newId } from "../platform/Ids.ts"
import { Settings } from "../platform/Settings.ts"
import { lockWallet, organizationRows, type OrganizationRows } from "../postgres/OrganizationRows.ts"
import { hasRows, storedAs } from "../postgres/Rows.ts"

/** More than a team has. A turn reads those of its wallet. */
export const approvalRulesMax = 50
/** Bytes of a rule's conditions as JSON. The table takes a quarter more, because PostgreSQL prints them with spaces. */
const conditionBytesMax = 1500
/** Longer inputs would cost a list too much. */
const inputCharsMax = 4000
/** Runs that one pass ends. */
const dueMax = 200

/** By default an admin decides, within a day, and not about the own run. */
const defaults = { name: "", role: "admin", self_approval: false, expires_after: 86_400, active: true } as const
/** Each as the JSON that the API answers. */
const ruleRows = storedAs({ rule: Schema.Unknown })
const decodeRule = Schema.decodeUnknownSync(ApprovalRule)
const encodeConditions = Schema.encodeSync(Schema.fromJsonString(Conditions))

const approvalRows = storedAs(Approval.fields)
const waiting = { org_id: Schema.String, run_id: Schema.String }
const [dueRuns, links] = [storedAs(waiting), storedAs({ ...waiting, user_id: Schema.String })]
/** Of the approval `a` and the member `m`. */
const open = "a.state = 'pending' AND a.expires_at > now() AND may_decide(m.role, a.role)"

type Rule = typeof ApprovalRule.Type
type Waiting = Schema.Struct<typeof waiting>["Type"]

export class ApprovalStore extends Context.Service<
  ApprovalStore,
  {
    /** From when on the run could call a provider: the decision about it, or its admission if it needed none. */
    readonly startableAt: (run: Pick<RunRow, "org_id" | "run_id" | "created_at">) => Effect.Effect<Date>
    readonly rules: Pick<OrganizationRows<Rule>, "list" | "remove">
    /** Changes a rule, or adds one if `id` is null. In a change, null removes a condition and changes no other field. Null if there is no such rule. */
    readonly setRule: (
      org_id: string,
      id: string | null,
      change: RuleChange
    ) => Effect.Effect<Rule | null, Problem<"invalid_request">>
    readonly approvals: Pick<OrganizationRows<typeof Approval.Type>, "find" | "list">
    /** A new link for the member with this address, who may decide now. Null if the run does not wait any more, or the member may not. */
    readonly link: (run_id: string, address: string) => Effect.Effect<Redacted.Redacted | null>
    /** What the link of a member is about, while the run waits and the member may decide. Null for any other token. */
    readonly linked: (token: Redacted.Redacted) => Effect.Effect<(Waiting & { readonly user_id: string }) | null>
    /** Pending ones whose time is over, oldest first. */
    readonly due: Effect.Effect<ReadonlyArray<Waiting>>
  }
>()("rungate/layers/members/ApprovalStore") {
  static readonly due = () => "EXISTS (SELECT FROM approvals WHERE state = 'pending' AND expires_at <= now())"

  static readonly layer = Layer.effect(
    ApprovalStore,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { cell } = yield* Settings

      const columns = sql.literal("to_jsonb(approval_rules) - 'conditions' || conditions AS rule")
      const rulesOf = (statement: Statement.Statement<object>) =>
        Effect.map(ruleRows.all(statement), (rows) => rows.map(({ rule }) => decodeRule(rule)))
      const rules = organizationRows(sql, { table: "approval_rules", columns, changesWallet: true }, rulesOf)
      const setRule: ApprovalStore["Service"]["setRule"] = Effect.fnUntraced(
        function* (org_id, id, { name, role, self_approval, expires_after, active, ...conditions }) {
          yield* lockWallet(sql, org_id)
          const all = yield* rules.list(org_id, null, approvalRulesMax)
          const before = all.find((one) => one.id === id)
          if (before === undefined && id !== null) return null
          const order = {
            ...(before ?? defaults),
            ...conditions,
            ...defined(withoutNulls({ name, role, self_approval, expires_after, active }))
          }
          const text = encodeConditions(withoutNulls(order))
          if (Buffer.byteLength(text) > conditionBytesMax)
            return yield* refused("", `The conditions of a rule can't have more than ${conditionBytesMax} bytes.`)
          if (all.some((other) => other.name === order.name && other.id !== id))
            return yield* refused("name", "is that of another approval rule")
          if (before === undefined && all.length >= approvalRulesMax)
            return yield* refused(
              "name",
              `can't be added: an organization has at most ${approvalRulesMax} approval rules`
            )
          const [row] = yield* rulesOf(sql`
            INSERT INTO approval_rules (id, org_id, name, conditions, role, self_approval, expires_after, active)
            VALUES (${id ?? newId("apr")}, ${org_id}, ${order.name}, ${text}::text::jsonb, ${order.role}, ${order.self_approval}, ${order.expires_after}::int, ${order.active})
            ON CONFLICT (id) DO UPDATE SET name = excluded.name, conditions = excluded.conditions, role = excluded.role,
              self_approval = excluded.self_approval, expires_after = excluded.expires_after, active = excluded.active
            RETURNING ${columns}`)
          return row ?? null
        },
        sql.withTransaction,
        Effect.catchTag("SqlError", Effect.die)
      )

      const approvals = organizationRows(
        sql,
        {
          table: "approvals a JOIN runs r USING (org_id, run_id)",
          columns: sql.literal(`run_id, a.state, a.rule_name AS rule, a.role, r.capability, r.endpoint, r.key_id,
            CASE WHEN r.erased_at IS NULL AND length(r.input::text) <= ${inputCharsMax} THEN r.input::text END AS subject,
            ARRAY(SELECT json_array_elements_text(r.plan -> 'providers')) AS providers, a.hold, a.digest, a.requested_at, a.expires_at,
            a.decided_at, a.decided_by, a.via`),
          id: "run_id"
        },
        (statement) =>
          Effect.map(approvalRows.all(statement), (rows) =>
            rows.map(({ subject: input, ...row }) => ({ ...row, subject: inputSubject(input) }))
          )
      )

      return ApprovalStore.of({
        rules,
        setRule,
        approvals,
        startableAt: ({ org_id, run_id, created_at }) =>
          Effect.map(approvals.find(org_id, run_id), (approval) => approval?.decided_at ?? created_at),
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
        linked: (token) =>
          links.first(sql`
            SELECT a.org_id, a.run_id, m.user_id FROM approval_links l JOIN approvals a USING (run_id)
            JOIN members m ON m.org_id = a.org_id AND m.user_id = l.user_id
            WHERE l.token_hash = ${tokenHash(token)} AND ${sql.literal(open)}`),
        due: dueRuns.all(sql`
          SELECT a.org_id, a.run_id FROM approvals a JOIN wallets w USING (org_id)
          WHERE a.state = 'pending' AND a.expires_at <= now() AND w.moving < 2 ORDER BY expires_at LIMIT ${dueMax}`)
      })
    })
  )
}
