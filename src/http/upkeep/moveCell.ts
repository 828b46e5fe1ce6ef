/** Handler of `rungate admin cells move`. Loaded on demand. */
import { Console, Duration, Effect, Layer, References } from "effect"
import { SqlClient } from "effect/sql"
import { Directory } from "../../layers/accounts/Directory.ts"
import { moveOrganization } from "../../layers/cells/moveOrganization.ts"
import { CrashPoints } from "../../layers/platform/CrashPoint.ts"
import { processEnvironment, Settings } from "../../layers/platform/Settings.ts"
import { DatabaseLayer } from "../../layers/postgres/Database.ts"
import { cellForm } from "../../schema/accounts/TokenText.ts"
import { looksLike } from "../../schema/Ids.ts"
import { consent } from "../cli/terminal/consent.ts"
import { bad, failedWith } from "../cli/terminal/exits.ts"
import type { FlagsOf } from "../cli/terminal/flags.ts"
import type { cellMoveFlags } from "./flags.ts"

/** The other cell's database, with the other settings as they are. Fresh, because the layer of this one is built already. */
const databaseOf = (url: string, schema: string) =>
  Layer.fresh(DatabaseLayer).pipe(
    Layer.provide(
      Settings.layerFrom({
        ...processEnvironment()().variables,
        DATABASE_URL: url,
        DATABASE_DIRECT_URL: "",
        RUNGATE_DATABASE_SCHEMA: schema
      })
    )
  )

export const moveCell = ({ org_id, to, database, schema, wait, yes }: FlagsOf<typeof cellMoveFlags>) =>
  Effect.gen(function* () {
    const { cell } = yield* Settings
    const { cells } = yield* Directory
    if (!cellForm.test(to)) return yield* bad(`"${to}" is not the name of a cell (RUNGATE_CELL there).`)
    if (!looksLike("org", org_id)) return yield* bad(`"${org_id}" is not an organization's id.`)
    if (!/^postgres(ql)?:\/\//.test(database) || !URL.canParse(database))
      return yield* bad("--database must be an address such as postgres://user:password@host:5432/rungate")
    if (cells !== null && !(yield* cells.list).some(({ name }) => name === to))
      return yield* bad(`The directory has no cell "${to}". Run rungate admin cells add there first.`)
    yield* consent(`Move ${org_id} to the cell ${to}? Its new runs are refused until it is there.`, { yes })
    const source = yield* SqlClient.SqlClient
    const target = yield* Effect.provide(SqlClient.SqlClient, yield* Layer.build(databaseOf(database, schema)))
    const announce = (emails: ReadonlyArray<string>) => (cells === null ? Effect.void : cells.moved(org_id, to, emails))
    const patience = Duration.seconds(wait)
    const move = { org_id, source, target, from: cell ?? "unnamed", to, patience, announce }
    const moved = yield* moveOrganization(move).pipe(
      Effect.catchTag("MoveRefused", ({ message }) => failedWith(message)),
      Effect.catchTag("SqlError", ({ reason }) =>
        failedWith(`${String(reason.cause)}. Run the command again: it finishes or undoes the move.`)
      )
    )
    yield* Console.log(
      moved === null
        ? `${org_id} is in the cell ${to}: an interrupted move is finished.`
        : `Moved ${org_id} to the cell ${to}: ${moved.rows} rows of ${moved.tables} tables, which are equal on both sides. Its books add up there.`
    )
  }).pipe(
    Effect.provide(Layer.mergeAll(DatabaseLayer, CrashPoints, Directory.layer)),
    Effect.scoped,
    Effect.provideService(References.LogToStderr, true)
  )
