/** Definitions of `rungate providers` and its subcommands. Their handlers are loaded on demand. */
import { Argument, Command, Flag } from "effect/cli"
import { onDemand, packaged } from "../../operator/onDemand.ts"
import { json } from "../../operator/flags.ts"
import { text, usd, yes } from "../../cli/terminal/flags.ts"
import { dollars } from "../../../schema/money/Money.ts"

const check = Command.make(
  "check",
  {
    slug: Argument.String("provider").pipe(Argument.withDescription("slug of a configured provider")),
    org: text("org", "organization whose wallet pays; the only one by default"),
    max_cost: usd("max-cost", "the most that all runs together may be charged, in USD").pipe(
      Flag.withDefault(dollars("0.50"))
    ),
    record: text("record", "folder for redacted recordings of the answers, which npm test can play"),
    yes,
    json
  },
  (given) => packaged(() => import("./check.ts"))((loaded) => loaded.checkProvider(given))
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
