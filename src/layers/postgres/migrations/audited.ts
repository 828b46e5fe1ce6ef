/**
 * Puts changes of a table's rows into the audit log: `yield* audited({ table: "senders", noun: "sender", id: "sender_id", hidden: ["token"] })`
 * in the migration that makes the table, if people or operators change its rows.
 *
 * The trigger writes in the transaction of the change, on behalf of the actor that layers/auditlog/AuditLog.ts has set.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"

export interface Audited {
  readonly table: string
  /** What a row is called in an action, such as `sender` in `sender.created`. */
  readonly noun: string
  /** The column whose value is the entry's `object`. */
  readonly id: string
  /** Columns that the log must not show, such as secrets, and columns whose changes do not matter. */
  readonly hidden: ReadonlyArray<string>
  readonly on?: "INSERT" | "INSERT OR UPDATE" | "INSERT OR DELETE" | "INSERT OR UPDATE OR DELETE" | "UPDATE" | "DELETE"
  /** Which rows, such as `NEW.run_id IS NULL`. */
  readonly when?: string
  /** Only changes by somebody who is known. Without it, other changes are the system's. */
  readonly known?: boolean
  /** Distinguishes triggers of one table. */
  readonly suffix?: string
}

export const audited = Effect.fnUntraced(function* (given: Audited) {
  const { table, noun, id, hidden, on = "INSERT OR UPDATE OR DELETE", when, known = false, suffix = "" } = given
  const sql = yield* SqlClient.SqlClient
  const texts = [noun, id, [id, "org_id", "created_at", ...hidden].join(","), known ? "known" : "all"]
  const condition = when === undefined ? "" : ` WHEN (${when})`
  yield* sql.unsafe(
    `CREATE TRIGGER audited${suffix} AFTER ${on} ON ${table} FOR EACH ROW${condition} EXECUTE FUNCTION audit_row(${texts.map((text) => `'${text}'`).join(", ")})`
  )
})
