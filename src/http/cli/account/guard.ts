/** `rungate spend-guard`: the limits per run and per day, and the alert of a low balance. */
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { SpendGuard, WalletApi } from "../../api/Wallet.ts"
import { detailed } from "../answers/draw.ts"
import { row, rowWith } from "../answers/row.ts"
import { fail } from "../terminal/exits.ts"
import { amount, int, optional, optionalArgument } from "../terminal/flags.ts"
import { dollars, timeOf } from "../terminal/values.ts"

const { guard: get, setGuard } = WalletApi.endpoints

const show = detailed(SpendGuard, (guard) => [
  ["per run", guard.per_run_limit === null ? "no limit" : `at most ${dollars(guard.per_run_limit)}`],
  ["per day", guard.daily_limit === null ? "no limit" : `at most ${dollars(guard.daily_limit)}`],
  ["same input", guard.repeat_guard === 0 ? "no limit" : `stops after ${guard.repeat_guard} failures in ten minutes`],
  [
    "same person",
    guard.contact_guard_days === null ? "no limit" : `contacted at most once in ${guard.contact_guard_days} days`
  ],
  ["told below", guard.low_balance === null ? "no alert" : dollars(guard.low_balance)],
  ["time zone", guard.time_zone],
  ["spent today", dollars(guard.spent_today)],
  ["resets at", timeOf(guard.resets_at)]
])

const set = rowWith(
  setGuard,
  {},
  (_, { fields }) =>
    Object.keys(fields).length === 0
      ? fail("usage", "Give --per-run, --daily, --low-balance, --contact-days or --time-zone.")
      : Effect.succeed({}),
  {
    about: "Set limits and the alert. Raising a limit needs a session (rungate login)",
    fields: {
      per_run_limit: optional(amount("per-run", "the most that one run may hold, in USD")),
      daily_limit: optional(amount("daily", "the most that one day may cost, in USD")),
      low_balance: "be told by e-mail and event when the balance is below this, in USD",
      time_zone: "count the days of this time zone, such as Europe/Berlin",
      contact_guard_days: optional(
        int("contact-days", "block runs that contact somebody who was contacted within so many days, 1 to 365")
      )
    },
    examples: [
      { command: "rungate spend-guard set --per-run 0.50 --daily 20.00", description: "Both limits" },
      { command: "rungate spend-guard set --low-balance 5.00", description: "Be told below $5.00" },
      { command: "rungate spend-guard set --time-zone Europe/Berlin", description: "Count days of Berlin" }
    ],
    show
  }
)

/** The fields that a word removes. */
const removed = {
  "per-run": ["per_run_limit"],
  daily: ["daily_limit"],
  "low-balance": ["low_balance"],
  "contact-days": ["contact_guard_days"],
  both: ["per_run_limit", "daily_limit"]
} as const

const off = rowWith(
  setGuard,
  {
    limit: optionalArgument(
      Argument.Literals("limit", ["per-run", "daily", "low-balance", "contact-days"]),
      "limit or alert to remove; default: both limits"
    )
  },
  ({ limit }) => Effect.succeed(Object.fromEntries(removed[limit ?? "both"].map((name) => [name, null]))),
  {
    name: "off",
    about: "Remove limits or the alert. A limit needs a session (rungate login)",
    fields: {
      per_run_limit: false,
      daily_limit: false,
      low_balance: false,
      contact_guard_days: false,
      time_zone: false
    },
    show
  }
)

export const guard = row(get, { about: "Show, set or remove the spending limits", show }).pipe(
  Command.withSubcommands([set, off])
)
