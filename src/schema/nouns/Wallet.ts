/** An organization's money: balance, ledger entries, spend guard, automatic top-up, and the audit of them. */
import { Schema } from "effect"
import { entryTypes, entryWords } from "../wallet/Wallet.ts"
import { withColumns } from "../Columns.ts"
import { component, amount, idOf, such, time, timeAs, withExample } from "./Noun.ts"

export const Wallet = component("Wallet", {
  currency: Schema.Literal("USD"),
  balance: amount,
  reserved: amount,
  available: amount
}).pipe(withExample({ currency: "USD", balance: "49.994", reserved: "0.00", available: "49.994" }))

export const Transaction = component("Transaction", {
  id: Schema.String,
  type: Schema.Literals(entryTypes),
  amount,
  balance_after: amount,
  reference: Schema.String,
  note: Schema.NullOr(Schema.String),
  created_at: time
}).pipe(
  withColumns({
    list: ["created_at", "type", "amount", "balance_after", "reference", "note"],
    titles: { created_at: "Time", balance_after: "Balance" },
    words: { type: entryWords }
  }),
  withExample({
    id: "txn_01m81nzka7esv3bpvycnp7tj2e",
    type: "release",
    amount: "0.0018",
    balance_after: "49.994",
    reference: "run_01m81nzk95mq351g8pvrxgm8m4",
    note: null,
    created_at: "2026-11-22T09:30:00.000Z"
  })
)

export const SpendGuard = component("SpendGuard", {
  per_run_limit: Schema.NullOr(amount),
  daily_limit: Schema.NullOr(amount),
  low_balance: Schema.NullOr(amount),
  contact_guard_days: Schema.NullOr(Schema.Int),
  repeat_guard: Schema.Int.annotate({
    description: "failures of one input within ten minutes after which a key may not repeat it; 0: any number"
  }),
  time_zone: Schema.String.annotate({ description: "whose days the daily limit, budgets and usage count" }),
  spent_today: amount,
  resets_at: timeAs("When the next day begins.", "2026-11-23T00:00:00.000Z")
}).pipe(
  withColumns({
    facts: [
      ...(["per_run_limit", "daily_limit", "repeat_guard", "contact_guard_days"] as const),
      ...(["low_balance", "time_zone", "spent_today", "resets_at"] as const)
    ],
    titles: {
      per_run_limit: "Per run",
      daily_limit: "Per day",
      repeat_guard: "Same input",
      contact_guard_days: "Same person",
      low_balance: "Told below",
      resets_at: "Resets at"
    },
    none: {
      per_run_limit: "no limit",
      daily_limit: "no limit",
      contact_guard_days: "no limit",
      low_balance: "no alert"
    }
  }),
  withExample({
    per_run_limit: "1.00",
    daily_limit: null,
    low_balance: "5.00",
    contact_guard_days: null,
    repeat_guard: 5,
    time_zone: "UTC",
    spent_today: "0.006",
    resets_at: "2026-11-23T00:00:00.000Z"
  })
)

export const AutoTopup = component("AutoTopup", {
  enabled: Schema.Boolean,
  threshold: amount,
  amount,
  /** Why the last charge failed. Null if it succeeded or there was none. */
  last_error: Schema.NullOr(Schema.String)
}).pipe(
  withColumns({
    facts: ["enabled", "amount", "threshold", "last_error"],
    titles: { enabled: "Automatic top-up", amount: "Charges", threshold: "When the balance is below" }
  }),
  withExample({ enabled: false, threshold: "5.00", amount: "25.00", last_error: null })
)
export type AutoTopup = typeof AutoTopup.Type

export const Checkout = component("Checkout", {
  status: Schema.Literal("checkout"),
  checkout_url: such("https://pay.example/c/cs_01m81nzk5dej20zws915h61fdz"),
  session_id: idOf("cs")
})

export const SimulatedCheckout = component("SimulatedCheckout", {
  status: Schema.Literal("simulated"),
  session_id: idOf("cs"),
  transaction_id: idOf("txn")
})
export const TopUp = Schema.Union([Checkout, SimulatedCheckout])
export type TopUp = typeof TopUp.Type

/** The caller's balance and holds, recomputed from the ledger. */
export const WalletAudit = component("WalletAudit", {
  currency: Schema.Literal("USD"),
  adds_up: Schema.Boolean,
  entries: Schema.Number,
  /** Signed sums by type of entry. */
  sums: Schema.Struct({
    topup: amount,
    bonus: amount,
    refund: amount,
    settle: amount,
    reserve: amount,
    release: amount
  }),
  balance: amount,
  balance_from_ledger: amount,
  reserved: amount,
  reserved_from_ledger: amount,
  head: Schema.NullOr(Schema.Struct({ seq: Schema.Number, hash: Schema.String })),
  chain_verified: Schema.Boolean,
  violations: Schema.Array(
    component("Violation", { equation: Schema.String, subject: Schema.String, detail: Schema.String })
  ),
  checked_at: time,
  last_full_check: Schema.NullOr(Schema.Struct({ checked_at: time, adds_up: Schema.Boolean }))
}).pipe(
  withExample({
    currency: "USD",
    adds_up: true,
    entries: 7,
    sums: {
      topup: "0.00",
      bonus: "50.00",
      refund: "0.00",
      settle: "-0.006",
      reserve: "-0.0096",
      release: "0.0036"
    },
    balance: "49.994",
    balance_from_ledger: "49.994",
    reserved: "0.00",
    reserved_from_ledger: "0.00",
    head: { seq: 7, hash: "955bc645161c6b776b3be43bc074a89460658fb8732021a126a47f04334a7d86" },
    chain_verified: true,
    violations: [],
    checked_at: "2026-11-22T09:30:00.000Z",
    last_full_check: null
  })
)
export type WalletAudit = typeof WalletAudit.Type
