/**
 * Binds a database to one mode, sandbox or production, so that simulated money never reaches a production wallet.
 *
 * The first service that starts on the database writes its mode. Processes of the other mode are refused.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { DatabaseRefused } from "./DatabaseSchema.ts"
import { readOnlyReason } from "./Outage.ts"
import { type Mode, Settings } from "../platform/Settings.ts"
import { textValues } from "./Rows.ts"

const refused = (stored: string, mode: Mode, place: string) =>
  new DatabaseRefused({
    message: `The database at ${place} belongs to a ${stored} service, and this process runs in ${mode} mode${mode === "sandbox" ? " (the default when RUNGATE_MODE is unset)" : ""}. Set RUNGATE_MODE=${stored}, or point DATABASE_URL at a database of its own.`
  })

/** Fails when the database belongs to the other mode. A database without a mode passes: no service has started on it yet. */
export const checkMode = Effect.fnUntraced(function* (place: string) {
  const sql = yield* SqlClient.SqlClient
  const { mode } = yield* Settings
  const [of] = yield* textValues(sql`SELECT mode FROM service_mode`)
  if (of !== undefined && of !== mode) return yield* refused(of, mode, place)
})

/** Writes the mode if there is none. Of two concurrent first starts with different modes, one is refused. */
export const claimMode = Effect.fnUntraced(function* (place: string) {
  const sql = yield* SqlClient.SqlClient
  const { mode } = yield* Settings
  const readOnly = yield* readOnlyReason
  if (readOnly !== null)
    return yield* new DatabaseRefused({ message: `Can't use the database at ${place}: ${readOnly}.` })
  yield* sql`INSERT INTO service_mode (mode) VALUES (${mode}) ON CONFLICT DO NOTHING`
  yield* checkMode(place)
})
