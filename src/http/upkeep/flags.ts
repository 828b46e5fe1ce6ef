/** Flags of the commands for the installation that their handlers read too, so that the types of handlers follow from them. */
import { Flag } from "effect/cli"
import { dollars } from "../../schema/money/Money.ts"
import { argument, between, required, text, usd, yes } from "../cli/terminal/flags.ts"
import { json, organizationId } from "../operator/flags.ts"

export const restoreFlags = { file: argument("file", "the file of a backup"), yes, json }

export const moveFlags = { to: required("to", "address of an empty database: postgres://…"), yes }

/** Seconds. Longer than nearly all runs take. */
const waitDefault = 60

export const cellMoveFlags = {
  org_id: organizationId,
  to: required("to", "name of the other cell (RUNGATE_CELL)"),
  database: required("database", "address of its database: postgres://…"),
  schema: required("schema", "schema of its tables (RUNGATE_DATABASE_SCHEMA there)").pipe(Flag.withDefault("")),
  wait: between("wait", 1, 3_600, "seconds to wait for open runs; then the move is undone").pipe(
    Flag.withDefault(waitDefault)
  ),
  yes
}

export const checkFlags = {
  slug: argument("provider", "slug of a configured provider"),
  org: text("org", "organization whose wallet pays; the only one by default"),
  max_cost: usd("max-cost", "the most that all runs together may be charged, in USD").pipe(
    Flag.withDefault(dollars("0.50"))
  ),
  record: text("record", "folder for redacted recordings of the answers, which npm test can play"),
  yes,
  json
}
