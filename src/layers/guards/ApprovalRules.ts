/** Stores the rules that say which runs need an approval. A trigger gives the active ones to the wallet (postgres/schema/approvals.sql). */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { withoutNulls } from "../../schema/defined.ts"
import { type Problem, refused } from "../../schema/Errors.ts"
import { Conditions } from "../../schema/guards/Approval.ts"
import { ApprovalRule } from "../../schema/nouns/Approval.ts"
import { newId } from "../platform/Ids.ts"
import { hasRows, storedAs } from "../postgres/Rows.ts"

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
    /** Changes a rule, or adds one if `id` is null. Null if there is no such rule. */
    readonly set: (
      org_id: string,
      id: string | null,
      order: ApprovalRuleOrder
    ) => Effect.Effect<ApprovalRuleRow | null, Problem<"invalid_request">>
    readonly find: (org_id: string, id: string) => Effect.Effect<ApprovalRuleRow | null>
    /** Newest first. */
    readonly list: (
      org_id: string,
      before: string | null,
      limit: number
    ) => Effect.Effect<ReadonlyArray<ApprovalRuleRow>>
    readonly remove: (org_id: string, id: string) => Effect.Effect<boolean>
  }
>()("rungate/layers/guards/ApprovalRules") {
  static readonly layer = Layer.effect(
    ApprovalRules,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const columns = sql.literal("id, name, conditions, role, self_approval, expires_after, active, created_at")
      // Locks the wallet as a turn does, so that two requests can't exceed the limit together.
      const locked = (org_id: string) => sql`SELECT 1 FROM wallets WHERE org_id = ${org_id} FOR UPDATE`

      const shown = (statement: Statement.Statement<object>) =>
        Effect.map(stored.all(statement), (rows) =>
          rows.map(({ conditions, ...row }): ApprovalRuleRow => ({ ...row, ...decodeConditions(conditions) }))
        )

      const set = Effect.fnUntraced(function* (org_id: string, id: string | null, order: ApprovalRuleOrder) {
        const conditions = encodeConditions(withoutNulls(order))
        if (Buffer.byteLength(conditions) > conditionBytesMax)
          return yield* refused("", `The conditions of a rule can't have more than ${conditionBytesMax} bytes.`)
        const { name, role, self_approval, expires_after, active } = order
        yield* locked(org_id)
        const [taken] = yield* sql`
          SELECT 1 FROM approval_rules WHERE org_id = ${org_id} AND name = ${name} AND id IS DISTINCT FROM ${id}::text`
        if (taken !== undefined) return yield* refused("name", "is that of another approval rule")
        const [row] = yield* shown(
          id === null
            ? sql`
              INSERT INTO approval_rules (id, org_id, name, conditions, role, self_approval, expires_after, active)
              SELECT ${newId("apr")}, ${org_id}, ${name}, ${conditions}::text::jsonb, ${role}, ${self_approval}, ${expires_after}::int, ${active}
              WHERE (SELECT count(*) FROM approval_rules WHERE org_id = ${org_id}) < ${approvalRulesMax}
              RETURNING ${columns}`
            : sql`
              UPDATE approval_rules SET name = ${name}, conditions = ${conditions}::text::jsonb, role = ${role},
                self_approval = ${self_approval}, expires_after = ${expires_after}::int, active = ${active}
              WHERE org_id = ${org_id} AND id = ${id} RETURNING ${columns}`
        )
        if (row === undefined && id === null)
          return yield* refused(
            "name",
            `can't be added: an organization has at most ${approvalRulesMax} approval rules`
          )
        return row ?? null
      }, sql.withTransaction)

      const one = (org_id: string, id: string) => sql`org_id = ${org_id} AND id = ${id}`
      return ApprovalRules.of({
        set: (org_id, id, order) => Effect.catchTag(set(org_id, id, order), "SqlError", Effect.die),
        find: (org_id, id) =>
          Effect.map(
            shown(sql`SELECT ${columns} FROM approval_rules WHERE ${one(org_id, id)}`),
            ([row]) => row ?? null
          ),
        list: (org_id, before, limit) =>
          shown(sql`
            SELECT ${columns} FROM approval_rules WHERE org_id = ${org_id} AND (${before}::text IS NULL OR id < ${before})
            ORDER BY id DESC LIMIT ${limit}`),
        remove: (org_id, id) =>
          locked(org_id).pipe(
            Effect.andThen(hasRows(sql`DELETE FROM approval_rules WHERE ${one(org_id, id)} RETURNING 1`)),
            sql.withTransaction,
            Effect.orDie
          )
      })
    })
  )
}
