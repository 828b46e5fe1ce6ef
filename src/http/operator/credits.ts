/** `rungate admin credits`: what the accounts at providers have left. */
import { Console, Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { usd } from "../../schema/money/Money.ts"
import type { ProviderCredits } from "../../schema/nouns/operator/Credits.ts"
import { choice, optional } from "../cli/terminal/flags.ts"
import { TypedUsd } from "../cli/terminal/TypedUsd.ts"
import { ask } from "./ask.ts"
import { json } from "./flags.ts"
import { print, table, when } from "./output.ts"

type Row = typeof ProviderCredits.Encoded

const shown = (items: ReadonlyArray<Row>, json: boolean) => {
  if (json) return print({ items })
  if (items.length === 0)
    return Console.log(
      "No account is known yet. Workers read accounts in production; set others with: admin credits set"
    )
  const lines = table(items, {
    provider: (row) => row.provider,
    state: (row) => row.state,
    balance: (row) => (row.balance === null ? null : `${row.balance} ${row.unit}`),
    reserved: (row) => row.reserved,
    "used a day": (row) => row.burn_per_day,
    "days left": (row) => row.days_left,
    "runs out": (row) => row.runs_out_at?.slice(0, 10) ?? null,
    expires: (row) =>
      row.expires_at === null ? null : `${row.expires_at.slice(0, 10)}${row.renews ? " (renews)" : ""}`,
    "last read": (row) => (row.read_at === null ? null : when(row.read_at)),
    error: (row) => row.read_error
  })
  return Console.log(lines.join("\n"))
}

const provider = Argument.String("provider").pipe(Argument.withDescription("provider, such as hunter"))
const amount = (name: string, description: string) =>
  optional(Flag.String(name).pipe(Flag.withDescription(description), Flag.withSchema(TypedUsd)))

const list = Command.make("list", { json }, ({ json }) =>
  Effect.flatMap(
    ask("operatorCredits", (credits) => credits.list({})),
    ({ items }) => shown(items, json)
  )
).pipe(Command.withDescription("List what each account at a provider has left"))

const set = Command.make(
  "set",
  {
    provider,
    balance: amount("balance", "what is left, such as 5000, if the provider can't be asked"),
    unit: choice("unit", ["credit", "USD"], "unit of the balance; credit if left out"),
    expires: optional(Flag.Date("expires").pipe(Flag.withDescription("when the balance expires, such as 2027-01-31"))),
    low_below: amount("low-below", "warn below this amount; 0 warns by use only"),
    json
  },
  Effect.fnUntraced(function* ({ provider, balance, unit, expires, low_below, json }) {
    const payload = {
      ...(balance === null ? {} : { balance }),
      ...(unit === null ? {} : { unit }),
      ...(expires === null ? {} : { expires_at: expires }),
      ...(low_below === null ? {} : { low_below: usd(low_below) === "0.00" ? null : low_below })
    }
    const row = yield* ask("operatorCredits", (credits) => credits.set({ params: { provider }, payload }))
    yield* json ? print(row) : shown([row], false)
  })
).pipe(Command.withDescription("Set what an account has left by hand, or when to warn"))

const refresh = Command.make(
  "refresh",
  { provider: Argument.optional(provider).pipe(Argument.map((one) => (one._tag === "Some" ? one.value : null))), json },
  ({ provider, json }) =>
    Effect.flatMap(
      ask("operatorCredits", (credits) => credits.refresh({ payload: { provider } })),
      ({ items }) =>
        json
          ? print({ items })
          : Console.log("A worker reads the accounts within seconds. See: rungate admin credits list")
    )
).pipe(Command.withDescription("Read what accounts have left now, after you bought credits"))

export const credits = Command.make("credits").pipe(
  Command.withDescription("Show and set what your accounts at providers have left"),
  Command.withSubcommands([list, set, refresh])
)
