/** Definitions of `rungate admin losses`, `margins`, `unknown` and `disputes`. Their handlers are loaded on demand. */
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { json, limitOf } from "./flags.ts"
import { boolean } from "../cli/terminal/flags.ts"

const org = Flag.String("org").pipe(Flag.withDescription("only runs of this organization"), Flag.optional)
const limit = limitOf("runs", 50)

export const losses = Command.make(
  "losses",
  {
    org,
    since: Flag.String("since").pipe(
      Flag.withDescription("only runs since this date, such as 2026-11-21 (UTC)"),
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
  Command.withDescription("List runs that cost more than they were charged, newest first, with totals per provider")
)

/** Longer than that, the sums say little about today's prices. */
const marginDaysMax = 366

export const margins = Command.make(
  "margins",
  {
    days: Flag.Int("days").pipe(
      Flag.withDescription(`days to look back, 1 to ${marginDaysMax}`),
      Flag.filter(
        (days) => days >= 1 && days <= marginDaysMax,
        (days) => `--days must be from 1 to ${marginDaysMax}, not ${days}`
      ),
      Flag.withDefault(30)
    ),
    json
  },
  (given) =>
    Effect.flatMap(
      Effect.promise(() => import("./margins.ts")),
      (loaded) => loaded.margins(given)
    )
).pipe(
  Command.withDescription("Show what was charged and what it cost, by provider and offer or endpoint; losses first")
)

const unknownActions = Effect.promise(() => import("./unknown.ts"))

const resolve = Command.make(
  "resolve",
  {
    run_id: Argument.String("run_id").pipe(Argument.withDescription("run id, as admin unknown lists it")),
    delivered: boolean("delivered", "the provider executed the call"),
    not_delivered: boolean("not-delivered", "the provider did not execute the call"),
    note: Flag.String("note").pipe(Flag.withDescription("how you found out")),
    json
  },
  (given) => Effect.flatMap(unknownActions, (loaded) => loaded.resolve(given))
).pipe(
  Command.withDescription("Record the outcome of a call. The run's hints show it to the organization; no money moves")
)

export const unknown = Command.make(
  "unknown",
  {
    org,
    all: boolean("all", "include resolved ones"),
    limit,
    json
  },
  ({ org, ...given }) =>
    Effect.flatMap(unknownActions, (loaded) => loaded.unknownOutcomes({ org: Option.getOrNull(org), ...given }))
).pipe(Command.withDescription("List calls with an unknown outcome, newest first"), Command.withSubcommands([resolve]))

const disputeActions = Effect.promise(() => import("./disputes.ts"))

const deciding = (name: "accept" | "refuse", description: string) =>
  Command.make(
    name,
    {
      run_id: Argument.String("run_id").pipe(Argument.withDescription("run id, as admin disputes lists it")),
      note: Flag.String("note").pipe(Flag.withDescription("reason; the organization sees it in its dispute")),
      json
    },
    (given) => Effect.flatMap(disputeActions, (loaded) => loaded[name](given))
  ).pipe(Command.withDescription(description))

export const disputes = Command.make(
  "disputes",
  {
    org,
    all: boolean("all", "include those that were decided"),
    limit,
    json
  },
  ({ org, ...given }) =>
    Effect.flatMap(disputeActions, (loaded) => loaded.disputes({ ...given, org: Option.getOrNull(org) }))
).pipe(
  Command.withDescription("List disputes of the outcome warranty that wait for your decision, oldest first"),
  Command.withSubcommands([
    deciding("accept", "Refund a disputed run, within RUNGATE_WARRANTY_SHARE"),
    deciding("refuse", "Refuse a dispute. A bounce that a provider confirms later is refunded all the same")
  ])
)
