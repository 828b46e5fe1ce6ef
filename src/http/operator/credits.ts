/** `rungate admin credits` and `bills`: what the accounts at providers have left, and their bills against what runs have cost. */
import { Effect, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { isDay } from "../../schema/money/SpendDay.ts"
import { BillDifference, BillMatch } from "../../schema/nouns/operator/Bill.ts"
import { ProviderCredits } from "../../schema/nouns/operator/Credits.ts"
import { OperatorCreditsApi } from "../api/operator/Credits.ts"
import { billLines } from "../client/BillCsv.ts"
import { drawn, nounTable, said, type Shown } from "../cli/answers/draw.ts"
import { row, rowWith } from "../cli/answers/row.ts"
import { linesOf } from "../cli/batches/BatchProgress.ts"
import { optionalArgument, text } from "../cli/terminal/flags.ts"
import { harmless } from "../cli/terminal/text.ts"
import { bad } from "../cli/terminal/exits.ts"

const { endpoints } = OperatorCreditsApi

type Account = typeof ProviderCredits.Encoded
const table = (items: ReadonlyArray<Account>, shown: Shown) =>
  items.length === 0
    ? ["No account is known yet. Workers read accounts in production; set others with: admin credits set"]
    : nounTable(ProviderCredits, items, shown, {
        expires_at: ({ expires_at, renews }) =>
          expires_at === null ? null : `${expires_at.slice(0, 10)}${renews ? " (renews)" : ""}`
      })

const list = row(endpoints.list, {
  about: "List what each account at a provider has left",
  show: drawn(Schema.Struct({ items: Schema.Array(ProviderCredits) }), ({ items }, shown) => table(items, shown))
})

const set = rowWith(
  endpoints.set,
  { expires: text("expires", "when the balance expires, such as 2027-01-31") },
  ({ expires }, { fields }) =>
    Effect.succeed({
      // Without an amount the account is low by its use only.
      ...(fields["low_below"] === "0.00" ? { low_below: null } : {}),
      ...(expires === null ? {} : { expires_at: isDay(expires) ? `${expires}T00:00:00Z` : expires })
    }),
  {
    about: "Set what an account has left by hand, or when to warn",
    fields: {
      provider: "provider, such as hunter",
      balance: "what is left, such as 5000, if the provider can't be asked",
      unit: "unit of the balance; credit if left out",
      expires_at: false,
      low_below: "warn below this amount; 0 warns by use only"
    },
    show: drawn(ProviderCredits, (account, shown) => table([account], shown))
  }
)

const refresh = row(endpoints.refresh, {
  about: "Read what accounts have left now, after you bought credits",
  fields: { provider: optionalArgument(Argument.String("provider"), "provider, such as hunter") },
  show: said("A worker reads the accounts within seconds. See: rungate admin credits list")
})

export const credits = Command.make("credits").pipe(
  Command.withDescription("Show and set what your accounts at providers have left"),
  Command.withSubcommands([list, set, refresh])
)

const column = (name: string, initial: string) =>
  Flag.String(`${name}-column`).pipe(Flag.withDescription(`column of the ${name}`), Flag.withDefault(initial))

const match = rowWith(
  endpoints.matchBill,
  {
    file: Flag.String("file").pipe(Flag.withAlias("f"), Flag.withDescription("the bill as a CSV with a header line")),
    date_column: column("date", "date"),
    amount_column: column("amount", "amount"),
    reference: text("reference-column", "column with the ids of runs, if the provider was given them")
  },
  Effect.fnUntraced(function* ({ file, date_column, amount_column, reference }, { fields }) {
    const columns = { date: date_column, amount: amount_column, reference }
    const lines = billLines(yield* linesOf(file), columns, [String(fields["from"]), String(fields["to"])])
    if (typeof lines === "string") return yield* bad(harmless(`${file} ${lines}`))
    return { lines }
  }),
  {
    name: "match",
    about: "Compare a provider's bill with what runs have cost, and list the differences",
    fields: {
      provider: "provider, such as hunter",
      from: "first day of the bill, such as 2026-11-01 (UTC)",
      to: "last day of the bill",
      unit: "unit of the amounts; credit if left out",
      lines: false
    },
    show: drawn(BillMatch, ({ differences, billed, recorded, unit }, shown) => [
      ...(differences.length === 0
        ? ["The bill is what was recorded."]
        : nounTable(BillDifference, differences, shown, { kind: ({ kind }) => kind.replaceAll("_", " ") })),
      `Billed ${billed}, recorded ${recorded} ${unit}.`
    ])
  }
)

export const bills = Command.make("bills").pipe(
  Command.withDescription("Check the bills of providers"),
  Command.withSubcommands([match])
)
