/** What the operator's accounts at providers have left, and the state that follows from it. Customers never see it. */
import { Schema } from "effect"
import { dayMillis } from "../../money/SpendDay.ts"
import { withColumns } from "../../Columns.ts"
import { component, amount, amountAs, nullableText, provider, time, timeAs } from "../Noun.ts"

export const ProviderCredits = component("ProviderCredits", {
  provider,
  state: Schema.Literals(["unknown", "empty", "low", "expiring", "ok"]).annotate({
    description: "low: less than three days at the present use, or less than low_below. expiring: within seven days."
  }),
  unit: Schema.Literals(["credit", "USD"]),
  balance: Schema.NullOr(amountAs("In the unit, as it was read or set last. Null before the first reading.")),
  reserved: amountAs("What calls hold, and have spent since the balance was read."),
  available: Schema.NullOr(amount),
  burn_per_day: amountAs("The use of the last days."),
  days_left: Schema.NullOr(Schema.Number),
  runs_out_at: Schema.NullOr(timeAs("When nothing is left at the present use.")),
  expires_at: Schema.NullOr(time),
  renews: Schema.Boolean.annotate({ description: "The plan gives new credits at expires_at." }),
  low_below: Schema.NullOr(amount),
  source: Schema.Literals(["read", "set"]).annotate({ description: "Read at the provider, or set by hand." }),
  read_at: Schema.NullOr(time),
  read_error: nullableText.annotate({ description: "Why the last reading failed." })
}).pipe(
  withColumns({
    list: [
      "provider",
      "state",
      "balance",
      "unit",
      "reserved",
      "burn_per_day",
      "days_left",
      "runs_out_at",
      "expires_at",
      "read_at",
      "read_error"
    ],
    titles: { burn_per_day: "Used a day", runs_out_at: "Runs out", expires_at: "Expires", read_at: "Last read" },
    kinds: { balance: "count", reserved: "count", burn_per_day: "count", unit: "text" },
    none: { balance: "not read yet" },
    words: { state: { ok: "ok", low: "low", empty: "empty", expiring: "expires soon", unknown: "unknown" } }
  })
)

type Basis = "source" | "balance" | "read_at" | "reserved" | "burn_per_day" | "low_below" | "expires_at" | "renews"
/** What the state of an account follows from. A balance without `read_at` was never read. */
export type CreditsAccount = Pick<typeof ProviderCredits.Type, Basis> & { readonly empty_until: Date | null }

/** An older reading says nothing: what was spent since is only added up, and would end above any balance. */
const staleHours = 6

const lowDays = 3
const expiringDays = 7

/** What calls can still reserve. Null if that is unknown. Nothing of a prepaid package that has expired. */
export const availableOf = (account: CreditsAccount, now: number): bigint | null => {
  const { balance, read_at, reserved, expires_at, source } = account
  if (account.empty_until !== null && account.empty_until.getTime() > now) return 0n
  if (source === "set" && expires_at !== null && expires_at.getTime() <= now) return 0n
  const isStale = source === "read" && (read_at === null || now - read_at.getTime() > staleHours * 3_600_000)
  if (balance === null || isStale) return null
  return balance > reserved ? balance - reserved : 0n
}

/** No date is further away than this. */
const daysMax = 36_500

/** `days_left` and `runs_out_at`: until nothing is left at the present use. Null if nothing is used. */
export const outlookOf = (account: CreditsAccount, now: number) => {
  const available = availableOf(account, now)
  const burn = Number(account.burn_per_day)
  const days_left = available === null || burn === 0 ? null : Math.round((Number(available) * 10) / burn) / 10
  const end = days_left === null || days_left > daysMax ? null : now + days_left * dayMillis
  const lapses = account.expires_at?.getTime() ?? Infinity
  // A plan that gives new credits before the old ones are used up is not low.
  const short = days_left !== null && days_left < lowDays && !(account.renews && lapses < (end ?? 0))
  const below = available !== null && account.low_below !== null && available < account.low_below
  const state: (typeof ProviderCredits.Type)["state"] =
    available === 0n
      ? "empty"
      : below || short
        ? "low"
        : !account.renews && lapses - now < expiringDays * dayMillis
          ? "expiring"
          : available === null
            ? "unknown"
            : "ok"
  return { available, days_left, runs_out_at: end === null ? null : new Date(end), state }
}
