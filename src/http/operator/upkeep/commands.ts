/**
 * Definitions of the operator's commands for the installation as a whole: its settings. The handlers are loaded on demand.
 */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { boolean } from "../../cli/terminal/flags.ts"

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
