/** Definitions of `rungate providers` and its subcommands. Their handlers are loaded on demand. */
import { Command } from "effect/cli"
import { onDemand, packaged } from "../../operator/onDemand.ts"
import { json } from "../../operator/flags.ts"
import { checkFlags } from "../flags.ts"

const check = Command.make("check", checkFlags, (given) =>
  packaged(() => import("./check.ts"))((loaded) => loaded.checkProvider(given))
).pipe(
  Command.withDescription(
    "Run each offer of a provider once with a known subject, and compare what it answers and costs; exit code 1 when one fails"
  )
)

const sources = Command.make("sources", { json }, ({ json }) =>
  packaged(() => import("./sources.ts"))((loaded) => loaded.listSources(json))
).pipe(Command.withDescription("Show where each provider's raw endpoints were read, when, and under which licence"))

export const providers = Command.make("providers", { json }, ({ json }) =>
  onDemand(() => import("./list.ts"))((loaded) => loaded.listProviders(json))
).pipe(
  Command.withDescription(
    "List the providers: which are configured, when they were checked, their health, and what each missing account would add"
  ),
  Command.withSubcommands([check, sources])
)
