/** `rungate admin losses` and `rungate admin unknown`: what they take. What they do is loaded when one of them is run. */
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"

const json = Flag.Boolean("json").pipe(Flag.withDescription("print exact JSON"), Flag.withDefault(false))
const org = Flag.String("org").pipe(Flag.withDescription("only those of this organization"), Flag.optional)
const limit = Flag.Int("limit").pipe(Flag.withDescription("lines shown, 1 to 1000"), Flag.withDefault(50))

export const losses = Command.make(
  "losses",
  {
    org,
    since: Flag.String("since").pipe(
      Flag.withDescription("only from this date on, such as 2026-11-21 (UTC)"),
      Flag.optional
    ),
    limit,
    json
  },
  ({ org, since, limit, json }) =>
    Effect.flatMap(
      Effect.promise(() => import("./losses.ts")),
      (loaded) => loaded.losses({ org: Option.getOrNull(org), since: Option.getOrNull(since), limit, json })
    )
).pipe(
  Command.withDescription("List runs that cost more than they were charged, newest first, and totals per provider")
)

const unknownActions = Effect.promise(() => import("./unknown.ts"))

const resolve = Command.make(
  "resolve",
  {
    run_id: Argument.String("run_id").pipe(Argument.withDescription("the run, as admin unknown lists it")),
    delivered: Flag.Boolean("delivered").pipe(Flag.withDescription("it was carried out"), Flag.withDefault(false)),
    not_delivered: Flag.Boolean("not-delivered").pipe(
      Flag.withDescription("it was not carried out"),
      Flag.withDefault(false)
    ),
    note: Flag.String("note").pipe(Flag.withDescription("how you know")),
    json
  },
  (given) => Effect.flatMap(unknownActions, (loaded) => loaded.resolve(given))
).pipe(
  Command.withDescription(
    "Record what you found out about a call; the organization reads it in the run's hints, and no money moves"
  )
)

export const unknown = Command.make(
  "unknown",
  {
    org,
    all: Flag.Boolean("all").pipe(
      Flag.withDescription("with those that were found out about"),
      Flag.withDefault(false)
    ),
    limit,
    json
  },
  ({ org, ...given }) =>
    Effect.flatMap(unknownActions, (loaded) => loaded.unknownOutcomes({ org: Option.getOrNull(org), ...given }))
).pipe(
  Command.withDescription("List calls that may have been carried out or not, newest first"),
  Command.withSubcommands([resolve])
)
