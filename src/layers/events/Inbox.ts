/**
 * Parts of other statements that hand complete events to the event log. The log's next step appends them, and e-mails alerts.
 *
 * They commit with what caused them, so an event exists if and only if its cause does.
 */
import type { SqlClient } from "effect/sql"
import { jsons, texts } from "../postgres/Columns.ts"
import type { Payment } from "../../schema/wallet/Payment.ts"
import { usd } from "../../schema/money/Money.ts"

/** An event of an organization. `reference` says what it is about, such as a key or a payment. */
export interface InboxEvent {
  readonly org_id: string
  readonly kind: "budget.reached" | "topup.failed"
  readonly reference: string
  readonly data: object
}

/** Makes sure that the organizations have a head, so that a step looks at their inbox. */
const withHeads = (sql: SqlClient.SqlClient, org_ids: ReadonlyArray<string>) => sql`, inbox_heads AS (
            INSERT INTO event_heads (org_id, ledger_seq, spent_day, spent)
            SELECT org_id, entry_seq, spent_day, spent FROM wallets WHERE org_id = ANY(${texts(org_ids)})
            ON CONFLICT (org_id) DO NOTHING
          )`

/** Common table expressions with a leading comma. Empty without events. */
export const writeInbox = (sql: SqlClient.SqlClient, events: ReadonlyArray<InboxEvent>) =>
  events.length === 0
    ? sql.literal("")
    : sql`${withHeads(
        sql,
        events.map(({ org_id }) => org_id)
      )}, inbox AS (
            INSERT INTO event_inbox (org_id, kind, reference, data)
            SELECT org_id, kind, reference, data::json
            FROM unnest(${texts(events.map((e) => e.org_id))}, ${texts(events.map((e) => e.kind))}, ${texts(events.map((e) => e.reference))},
                        ${jsons(events.map((e) => JSON.stringify(e.data)))}) AS n(org_id, kind, reference, data)
          )`

/** Payments that failed in this statement. One that had failed before is no news. */
export const writeFailedTopUps = (sql: SqlClient.SqlClient, payments: ReadonlyArray<Payment>) => {
  const failed = payments.filter(({ state }) => state === "failed")
  if (failed.length === 0) return sql.literal("")
  const data = failed.map(({ payment_id, kind, amount, failure }) =>
    JSON.stringify({ payment_id, kind, amount: usd(amount), reason: failure })
  )
  return sql`${withHeads(
    sql,
    failed.map(({ org_id }) => org_id)
  )}, declined AS (
    INSERT INTO event_inbox (org_id, kind, reference, data)
    SELECT p.org_id, 'topup.failed', p.payment_id, n.data::json
    FROM unnest(${texts(failed.map((p) => p.payment_id))}, ${jsons(data)}) AS n(payment_id, data)
    JOIN payments p ON p.payment_id = n.payment_id AND p.state <> 'failed'
  )`
}
