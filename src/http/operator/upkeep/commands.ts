/**
 * Definitions of the operator's commands for the installation as a whole: its settings and its database. The handlers are loaded on demand.
 */
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { boolean, yes } from "../../cli/terminal/flags.ts"

const json = boolean("json", "print JSON")
const configuration = Effect.promise(() => import("./config.ts"))

export const config = Command.make("config").pipe(
  Command.withDescription("Check and show the settings of the service"),
  Command.withSubcommands([
    Command.make("check", { json }, ({ json }) =>
      Effect.flatMap(configuration, (loaded) => loaded.checkConfig(json))
    ).pipe(Command.withDescription("Say what is wrong with the settings and what to do; exit code 1 if something is")),
    Command.make("print", { json }, ({ json }) =>
      Effect.flatMap(configuration, (loaded) => loaded.printConfig(json))
    ).pipe(Command.withDescription("Show each setting with its value, origin and default; secrets are hidden"))
  ])
)

export const reload = Command.make("reload", { json }, ({ json }) =>
  Effect.flatMap(
    Effect.promise(() => import("./reload.ts")),
    (loaded) => loaded.reload(json)
  )
).pipe(
  Command.withDescription(
    "Have every process of the service read provider accounts and secrets again, without a restart; exit code 1 if one refuses"
  )
)

const backups = Effect.promise(() => import("./backup.ts"))
const file = (description: string) => Argument.String("file").pipe(Argument.withDescription(description))

export const backup = Command.make(
  "backup",
  { file: file("a new file, such as rungate.backup"), json },
  ({ file, json }) => Effect.flatMap(backups, (loaded) => loaded.backup(file, json))
).pipe(
  Command.withDescription("Copy the embedded database into a file, also while the service runs; keep the file safe")
)

export const restore = Command.make("restore", { file: file("the file of a backup"), yes, json }, (given) =>
  Effect.flatMap(backups, (loaded) => loaded.restore(given))
).pipe(Command.withDescription("Replace the embedded database by a backup; stop the service first"))

export const move = Command.make(
  "move",
  { to: Flag.String("to").pipe(Flag.withDescription("address of an empty database: postgres://…")), yes },
  (given) =>
    Effect.flatMap(
      Effect.promise(() => import("./move.ts")),
      (loaded) => loaded.move(given)
    )
).pipe(Command.withDescription("Copy the embedded database to a PostgreSQL server and compare the books of both"))
