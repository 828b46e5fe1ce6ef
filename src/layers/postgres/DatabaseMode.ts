/**
 * One database belongs to one mode, sandbox or production. The first service that starts on it writes the mode; every process of the
 * other mode is refused, so simulated money never reaches a production wallet.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { DatabaseRefused } from "./DatabaseSchema.ts"
import { type Mode, Settings } from "../platform/Settings.ts"

const refused = (stored: string, mine: Mode, place: string) =>
  new DatabaseRefused({
    message: `The database at ${place} belongs to a ${stored} service, and this process runs in ${mine} mode${mine === "sandbox" ? " (the default when RUNGATE_MODE is unset)" : ""}. Set RUNGATE_MODE=${stored}, or point DATABASE_URL at a database of its own.`
  })

/** Fails when the database belongs to the other mode. One without a mode is anybody's: no service has started on it yet. */
export const checkMode = Effect.fnUntraced(function* (place: string) {
  const sql = yield* SqlClient.SqlClient
  const { mode } = yield* Settings
  const [row] = yield* sql<{ mode: string }>`SELECT mode FROM service_mode`
  if (row !== undefined && row.mode !== mode) return yield* refused(row.mode, mode, place)
})

/** The first start writes the mode. Of two first starts with different modes one wins, and the other is refused. */
export const claimMode = Effect.fnUntraced(function* (place: string) {
  const sql = yield* SqlClient.SqlClient
  const { mode } = yield* Settings
  yield* sql`INSERT INTO service_mode (mode) VALUES (${mode}) ON CONFLICT DO NOTHING`
  yield* checkMode(place)
})
