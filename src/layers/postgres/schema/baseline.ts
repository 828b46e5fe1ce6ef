/**
 * The schema of record as the first migration: SQL by domain, each file with its tables, their indexes, functions and triggers.
 *
 * The order is that of references: what a file's tables or SQL functions name is in a file before it. Functions of PL/pgSQL are compiled when
 * they first run, so they may name tables of later files. Once a release has it, it is never edited: changes are migrations after it.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import auditLog from "./audit_log.sql" with { type: "text" }
import service from "./service.sql" with { type: "text" }
import accounts from "./accounts.sql" with { type: "text" }
import members from "./members.sql" with { type: "text" }
import keys from "./keys.sql" with { type: "text" }
import oauth from "./oauth.sql" with { type: "text" }
import allowances from "./allowances.sql" with { type: "text" }
import wallets from "./wallets.sql" with { type: "text" }
import payments from "./payments.sql" with { type: "text" }
import referrals from "./referrals.sql" with { type: "text" }
import runs from "./runs.sql" with { type: "text" }
import partitions from "./partitions.sql" with { type: "text" }
import batches from "./batches.sql" with { type: "text" }
import guards from "./guards.sql" with { type: "text" }
import approvals from "./approvals.sql" with { type: "text" }
import history from "./history.sql" with { type: "text" }
import usage from "./usage.sql" with { type: "text" }
import events from "./events.sql" with { type: "text" }
import webhooks from "./webhooks.sql" with { type: "text" }
import catalog from "./catalog.sql" with { type: "text" }
import receipts from "./receipts.sql" with { type: "text" }
import warranty from "./warranty.sql" with { type: "text" }
import operator from "./operator.sql" with { type: "text" }

const identity = [auditLog, service, accounts, members, keys, oauth, allowances]
const money = [wallets, payments, referrals, runs, partitions, batches, guards, approvals]
const records = [history, usage, events, webhooks, catalog, receipts, warranty, operator]

export const baseline = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // Functions that run as the owner keep it (`SET search_path FROM CURRENT`), so that nobody puts a table of the same name before ours.
  yield* sql`SELECT set_config('search_path', quote_ident(current_schema()) || ', pg_temp', true)`
  // One call for all statements. The client sends each call as a prepared statement, which takes one command: so the command is a block.
  const all = [...identity, ...money, ...records].join("\n")
  yield* sql.unsafe(`DO $baseline$ BEGIN EXECUTE $schema$ ${all} $schema$; END $baseline$`)
})
