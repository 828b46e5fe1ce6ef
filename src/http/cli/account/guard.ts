/** `rungate spend-guard`: the limits per run and per day, and the alert of a low balance. */
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import * as Money from "../../../schema/money/Money.ts"
import { type Answer, Client } from "../answers/Client.ts"
import { fail } from "../terminal/exits.ts"
import { asPerson } from "../answers/person.ts"
import { usd } from "../terminal/flags.ts"
import { Screen } from "../terminal/Screen.ts"
import { json, show } from "../answers/show.ts"

const path = "/v1/spend-guard"

const shown = (answer: Answer, flags: { readonly json: boolean }) =>
  show(answer, flags, (text) =>
    Effect.gen(function* () {
      const screen = yield* Screen
      const { guardLines } = yield* Effect.promise(() => import("./WalletView.ts"))
      return guardLines(text, screen)
    })
  )

const limit = (name: string, description: string) =>
  usd(name, description).pipe(Flag.optional, Flag.map(Option.getOrNull))

const set = Command.make(
  "set",
  {
    per_run: limit("per-run", "the most that one run may hold, in USD"),
    daily: limit("daily", "the most that one day (UTC) may cost, in USD"),
    low_balance: limit("low-balance", "be told by e-mail and event when the balance is below this, in USD"),
    contact_days: Flag.Int("contact-days").pipe(
      Flag.withDescription("block runs that contact somebody who was contacted within so many days, 1 to 365"),
      Flag.optional,
      Flag.map(Option.getOrNull)
    ),
    json
  },
  Effect.fnUntraced(function* ({ per_run, daily, low_balance, contact_days, json }) {
    const { send } = yield* Client
    if (per_run === null && daily === null && low_balance === null && contact_days === null)
      return yield* fail("usage", "Give --per-run, --daily, --low-balance or --contact-days.")
    const body = {
      ...(per_run === null ? {} : { per_run_limit: Money.usd(per_run) }),
      ...(daily === null ? {} : { daily_limit: Money.usd(daily) }),
      ...(low_balance === null ? {} : { low_balance: Money.usd(low_balance) }),
      ...(contact_days === null ? {} : { contact_guard_days: contact_days })
    }
    yield* shown(yield* asPerson((as) => send("POST", path, { ...as, body })), { json })
  })
).pipe(
  Command.withDescription("Set limits and the alert. Raising a limit needs a session (rungate login)"),
  Command.withExamples([
    { command: "rungate spend-guard set --per-run 0.50 --daily 20.00", description: "Both limits" },
    { command: "rungate spend-guard set --low-balance 5.00", description: "Be told below $5.00" }
  ])
)

const off = Command.make(
  "off",
  {
    limit: Argument.Literals("limit", ["per-run", "daily", "low-balance", "contact-days"]).pipe(
      Argument.withDescription("limit or alert to remove; default: both limits"),
      Argument.optional,
      Argument.map(Option.getOrNull)
    ),
    json
  },
  Effect.fnUntraced(function* ({ limit, json }) {
    const { send } = yield* Client
    const body = {
      ...(limit === null || limit === "per-run" ? { per_run_limit: null } : {}),
      ...(limit === null || limit === "daily" ? { daily_limit: null } : {}),
      ...(limit === "low-balance" ? { low_balance: null } : {}),
      ...(limit === "contact-days" ? { contact_guard_days: null } : {})
    }
    yield* shown(yield* asPerson((as) => send("POST", path, { ...as, body })), { json })
  })
).pipe(Command.withDescription("Remove limits or the alert. A limit needs a session (rungate login)"))

export const guard = Command.make(
  "spend-guard",
  { json },
  Effect.fnUntraced(function* (flags) {
    const { send } = yield* Client
    yield* shown(yield* send("GET", path), flags)
  })
).pipe(Command.withDescription("Show, set or remove the spending limits"), Command.withSubcommands([set, off]))
