/** Stores the rules that say which runs need an approval. A trigger gives the active ones to the wallet (postgres/schema/approvals.sql). */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { withoutNulls } from "../../schema/defined.ts"
import { type Problem, refused } from "../../schema/Errors.ts"
import { Conditions } from "../../schema/guards/Approval.ts"
import { ApprovalRule } from "../../schema/nouns/Approval.ts"
import { newId } from "../platform/Ids.ts"
import { lockWallet, organizationRows, type OrganizationRows } from "../postgres/OrganizationRows.ts"
import { storedAs } from "../postgres/Rows.ts"

/** More than a team has. A turn reads those of its wallet. */
export const approvalRulesMax = 50

const { id, name, role, self_approval, expires_after, active, created_at } = ApprovalRule.fields
const stored = storedAs({
  ...{ id, name, role, self_approval, expires_after, active, created_at },
  /** JSON. */
  conditions: Schema.Unknown
})
const decodeConditions = Schema.decodeUnknownSync(Conditions)
const encodeConditions = Schema.encodeSync(Schema.fromJsonString(Conditions))

type ApprovalRuleRow = typeof ApprovalRule.Type
export type ApprovalRuleOrder = Omit<ApprovalRuleRow, "id" | "created_at">
/** Bytes of a rule's conditions as JSON. The table takes a quarter more, because PostgreSQL prints them with spaces. */
const conditionBytesMax = 1500

export class ApprovalRules extends Context.Service<
  ApprovalRules,
  {
    /** Adds a rule if `id` is null. No other request changes the rule after `orderOf` got it. Null if there is no such rule. */
    readonly set: (
      org_id: string,
      id: string | null,
      orderOf: (before: ApprovalRuleRow | null) => ApprovalRuleOrder
    ) => Effect.Effect<ApprovalRuleRow | null, Problem<"invalid_request">>
  } & Pick<OrganizationRows<ApprovalRuleRow>, "list" | "remove">
>()("rungate/layers/guards/ApprovalRules") {
  static readonly layer = Layer.effect(
    ApprovalRules,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const columns = sql.literal("id, name, conditions, role, self_approval, expires_after, active, created_at")
      const shown = (statement: Statement.Statement<object>) =>
        Effect.map(stored.all(statement), (rows) =>
          rows.map(({ conditions, ...row }): ApprovalRuleRow => ({ ...row, ...decodeConditions(conditions) }))
        )
      const { list, remove } = organizationRows(sql, { table: "approval_rules", columns, changesWallet: true }, shown)

      const set: ApprovalRules["Service"]["set"] = Effect.fnUntraced(
        function* (org_id, id, orderOf) {
          yield* lockWallet(sql, org_id)
          const all = yield* list(org_id, null, approvalRulesMax)
          const before = all.find((one) => one.id === id) ?? null
          if (before === null && id !== null) return null
          const order = orderOf(before)
          const { name, role, self_approval, expires_after, active } = order
          const conditions = encodeConditions(withoutNulls(order))
          if (Buffer.byteLength(conditions) > conditionBytesMax)
            return yield* refused("", `The conditions of a rule can't have more than ${conditionBytesMax} bytes.`)
          if (all.some((other) => other.name === name && other.id !== id))
            return yield* refused("name", "is that of another approval rule")
          if (before === null && all.length >= approvalRulesMax)
            return yield* refused(
              "name",
              `can't be added: an organization has at most ${approvalRulesMax} approval rules`
            )
          const [row] = yield* shown(sql`
            INSERT INTO approval_rules (id, org_id, name, conditions, role, self_approval, expires_after, active)
            VALUES (${id ?? newId("apr")}, ${org_id}, ${name}, ${conditions}::text::jsonb, ${role}, ${self_approval}, ${expires_after}::int, ${active})
            ON CONFLICT (id) DO UPDATE SET name = excluded.name, conditions = excluded.conditions, role = excluded.role,
              self_approval = excluded.self_approval, expires_after = excluded.expires_after, active = excluded.active
            RETURNING ${columns}`)
          return row ?? null
        },
        sql.withTransaction,
        Effect.catchTag("SqlError", Effect.die)
      )

      return ApprovalRules.of({ set, list, remove })
    })
  )
}
