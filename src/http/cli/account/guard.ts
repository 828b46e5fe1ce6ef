/** `rungate spend-guard`: the limits per run and per day, and the alert of a low balance. */
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { SpendGuard } from "../../../schema/nouns/Wallet.ts"
import { WalletApi } from "../../api/Wallet.ts"
import { detailed } from "../answers/draw.ts"
import { row, rowWith } from "../answers/row.ts"
import { bad } from "../terminal/exits.ts"
import { amount, int, optional, optionalArgument } from "../terminal/flags.ts"

const { guard: get, setGuard } = WalletApi.endpoints

const show = detailed(SpendGuard, {
  repeat_guard: ({ repeat_guard }) =>
    repeat_guard === 0 ? "no limit" : `stops after ${repeat_guard} failures in ten minutes`,
  contact_guard_days: ({ contact_guard_days: days }) =>
    days === null ? "no limit" : `contacted at most once in ${days} days`
})

const set = rowWith(
  setGuard,
  {},
  (_, { fields }) =>
    Object.keys(fields).length === 0
      ? bad("Give --per-run, --daily, --low-balance, --contact-days or --time-zone.")
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
    examples: {
      "rungate spend-guard set --per-run 0.50 --daily 20.00": "Both limits",
      "rungate spend-guard set --low-balance 5.00": "Be told below $5.00",
      "rungate spend-guard set --time-zone Europe/Berlin": "Count days of Berlin"
    },
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
