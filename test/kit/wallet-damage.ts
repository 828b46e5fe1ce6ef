/** Damage to the books of one wallet that only the owner of the database can do, and a check of all books. */
import { Context, Effect } from "effect"
import { BooksWatch } from "../../src/layers/audit/BooksWatch.ts"
import type { App, Tenant } from "./app.ts"

/** Changes the note of the first ledger entry, which its hash covers. The note of a tenant's entry is "test credit". */
export const spoil = (app: App, { org_id }: Tenant, note: string) =>
  app.sql(
    `BEGIN; SET LOCAL session_replication_role = replica; UPDATE ledger SET note = '${note}' WHERE org_id = '${org_id}' AND seq = 1; COMMIT`
  )

/** Checks all books as the worker does, and suspends wallets whose books do not add up. */
export const checkedBooks = (app: App) => Effect.runPromise(Context.get(app.context, BooksWatch).check)
