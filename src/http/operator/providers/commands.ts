/** Definitions of `rungate providers` and its subcommands. Their handlers are loaded on demand. */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { packaged } from "../commands.ts"
import { json } from "../flags.ts"

export const providers = Command.make("providers", { json }, ({ json }) =>
  Effect.flatMap(
    packaged(() => import("./list.ts")),
    (loaded) => loaded.listProviders(json)
  )
).pipe(
  Command.withDescription(
    "List the providers: which are configured, when they were checked, their health, and what each missing account would add"
  )
)
