/** Stores the rules that say which runs need an approval. A trigger gives the active ones to the wallet (postgres/schema/approvals.sql). */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { approvalRoles, Conditions } from "../../schema/guards/Approval.ts"
import { newId } from "../platform/Ids.ts"
import { rowsOf } from "../postgres/Rows.ts"

/** More than a team has. A turn reads those of its wallet. */
export const approvalRulesMax = 50

const Row = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  /** JSON. */
  conditions: Schema.Unknown,
  role: Schema.Literals(approvalRoles),
  self_approval: Schema.Boolean,
  expires_after: Schema.Int,
  active: Schema.Boolean,
  created_at: Schema.Date
})
export interface ApprovalRuleRow extends Omit<typeof Row.Type, "conditions"> {
  readonly conditions: Conditions
}
const storedRows = rowsOf(Row.fields)
const decodeConditions = Schema.decodeUnknownSync(Conditions)
const shown = Effect.map((rows: ReadonlyArray<typeof Row.Type>) =>
  rows.map((row): ApprovalRuleRow => ({ ...row, conditions: decodeConditions(row.conditions) }))
)

export type ApprovalRuleOrder = Omit<ApprovalRuleRow, "id" | "created_at">
/** Why a rule is not stored. */
export type Unstored = "full" | "name_taken" | "too_long" | "unknown"
/** Bytes of a rule's conditions as JSON. The table takes a quarter more, because PostgreSQL prints them with spaces. */
export const conditionBytesMax = 1500

const encodeConditions = Schema.encodeSync(Schema.fromJsonString(Conditions))

export class ApprovalRules extends Context.Service<
  ApprovalRules,
  {
    readonly add: (org_id: string, order: ApprovalRuleOrder) => Effect.Effect<ApprovalRuleRow | Unstored>
    readonly change: (org_id: string, id: string, order: ApprovalRuleOrder) => Effect.Effect<ApprovalRuleRow | Unstored>
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

      const stored = Effect.fnUntraced(function* (org_id: string, id: string | null, order: ApprovalRuleOrder) {
        const conditions = encodeConditions(order.conditions)
        if (Buffer.byteLength(conditions) > conditionBytesMax) return "too_long" as const
        const { name, role, self_approval, expires_after, active } = order
        yield* locked(org_id)
        const [taken] = yield* sql`
          SELECT 1 FROM approval_rules WHERE org_id = ${org_id} AND name = ${name} AND id IS DISTINCT FROM ${id}::text`
        if (taken !== undefined) return "name_taken" as const
        const rows = yield* id === null
          ? shown(
              storedRows(sql`
              INSERT INTO approval_rules (id, org_id, name, conditions, role, self_approval, expires_after, active)
              SELECT ${newId("apr")}, ${org_id}, ${name}, ${conditions}::text::jsonb, ${role}, ${self_approval}, ${expires_after}::int, ${active}
              WHERE (SELECT count(*) FROM approval_rules WHERE org_id = ${org_id}) < ${approvalRulesMax}
              RETURNING ${columns}`)
            )
          : shown(
              storedRows(sql`
              UPDATE approval_rules SET name = ${name}, conditions = ${conditions}::text::jsonb, role = ${role},
                self_approval = ${self_approval}, expires_after = ${expires_after}::int, active = ${active}
              WHERE org_id = ${org_id} AND id = ${id} RETURNING ${columns}`)
            )
        return rows[0] ?? (id === null ? ("full" as const) : ("unknown" as const))
      }, sql.withTransaction)

      const list = (org_id: string, before: string | null, limit: number) =>
        shown(
          storedRows(sql`
          SELECT ${columns} FROM approval_rules WHERE org_id = ${org_id} AND (${before}::text IS NULL OR id < ${before})
          ORDER BY id DESC LIMIT ${limit}`)
        )
      const find = (org_id: string, id: string) =>
        shown(storedRows(sql`SELECT ${columns} FROM approval_rules WHERE org_id = ${org_id} AND id = ${id}`))
      const remove = Effect.fnUntraced(function* (org_id: string, id: string) {
        yield* locked(org_id)
        return (yield* sql`DELETE FROM approval_rules WHERE org_id = ${org_id} AND id = ${id} RETURNING 1`).length > 0
      }, sql.withTransaction)

      return ApprovalRules.of({
        add: (org_id, order) => Effect.orDie(stored(org_id, null, order)),
        change: (org_id, id, order) => Effect.orDie(stored(org_id, id, order)),
        find: (org_id, id) => Effect.orDie(Effect.map(find(org_id, id), ([row]) => row ?? null)),
        list: (org_id, before, limit) => Effect.orDie(list(org_id, before, limit)),
        remove: (org_id, id) => Effect.orDie(remove(org_id, id))
      })
    })
  )
}
