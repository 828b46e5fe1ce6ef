/**
 * Parts of other statements that hand complete events to the event log. The log's next step appends them, and e-mails alerts.
 *
 * They commit with what caused them, so an event exists if and only if its cause does.
 */
import type { SqlClient } from "effect/sql"
import { jsons, tableOf, texts } from "../postgres/Rows.ts"
import type { Payment } from "../../schema/wallet/Payment.ts"
import { usd } from "../../schema/money/Money.ts"

/** An event of an organization. `reference` says what it is about, such as a key or a payment. */
export interface InboxEvent {
  readonly org_id: string
  readonly kind: "budget.reached" | "topup.failed" | "run.approval_required" | "run.approved"
  readonly reference: string
  readonly data: object
}

/**
 * Common table expressions with a leading comma. Empty without events. `name` tells several in one statement apart, and `condition` selects
 * among the rows n (org_id, kind, reference, data).
 */
export const writeInbox = (
  sql: SqlClient.SqlClient,
  name: "payments" | "budgets" | "approvals",
  events: ReadonlyArray<InboxEvent>,
  condition = sql.literal("true")
) =>
  events.length === 0
    ? sql.literal("")
    : sql`, ${sql.literal(name)}_heads AS (
            -- A step looks at the inbox of an organization that has a head.
            INSERT INTO event_heads (org_id, ledger_seq, spent_day, spent)
            SELECT org_id, entry_seq, spent_day, spent FROM wallets WHERE org_id = ANY(${texts(events.map((e) => e.org_id))})
            ON CONFLICT (org_id) DO NOTHING
          ), ${sql.literal(name)}_inbox AS (
            INSERT INTO event_inbox (org_id, kind, reference, data)
            SELECT org_id, kind, reference, data::json
            FROM ${tableOf("n", events, { org_id: texts, kind: texts, reference: texts }, { data: jsons(events.map((e) => JSON.stringify(e.data))) })}
            WHERE ${condition}
          )`

/** Payments that failed in this statement. One that had failed before is no news. */
export const writeFailedTopUps = (sql: SqlClient.SqlClient, payments: ReadonlyArray<Payment>) =>
  writeInbox(
    sql,
    "payments",
    payments
      .filter(({ state }) => state === "failed")
      .map(({ org_id, payment_id, kind, amount, failure }) => ({
        org_id,
        kind: "topup.failed",
        reference: payment_id,
        data: { payment_id, kind, amount: usd(amount), reason: failure }
      })),
    sql`EXISTS (SELECT FROM payments p WHERE p.payment_id = n.reference AND p.state <> 'failed')`
  )
