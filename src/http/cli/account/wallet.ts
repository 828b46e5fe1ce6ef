/** `rungate wallet`: balance, ledger, top-ups and audit. */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { Transaction, Wallet, WalletAudit } from "../../../schema/nouns/Wallet.ts"
import { WalletApi } from "../../api/Wallet.ts"
import { drawn, factLines, listed, type Shown, wholeFacts } from "../answers/draw.ts"
import { row } from "../answers/row.ts"
import { type Lines, read } from "../answers/show.ts"
import { heads } from "../receipts/heads.ts"
import { failedWith } from "../terminal/exits.ts"
import { text } from "../terminal/flags.ts"
import { harmless, padStart, widthOf } from "../terminal/text.ts"
import { dollars, timeOf } from "../terminal/values.ts"
import { autoTopup } from "./autoTopup.ts"
import { topup } from "./topup.ts"

const { endpoints } = WalletApi

/** Amounts, right-aligned. */
const amounts = (pairs: ReadonlyArray<readonly [string, string]>, shown: Shown): Lines => {
  const texts = pairs.map(([name, amount]) => [name, dollars(amount) ?? ""] as const)
  const width = Math.max(...texts.map(([, amount]) => widthOf(amount)))
  return factLines(
    texts.map(([name, amount]) => [name, padStart(amount, width)] as const),
    shown
  )
}

const transactions = row(endpoints.transactions, {
  about: "List ledger entries, newest first",
  alias: "ledger",
  items: "entries",
  csv: true,
  fields: {
    type: "only entries of this type",
    run_id: text("run", "only entries of this run, by its id"),
    from: "only entries from this date or time on, such as 2026-11-01",
    to: "only entries before this time; a date includes its day"
  },
  show: listed(Transaction, "There are no ledger entries.")
})

const auditLines = (audit: typeof WalletAudit.Encoded, shown: Shown): Lines => {
  const { paint } = shown.screen
  return [
    audit.adds_up ? paint("green", "The books add up.") : paint("red", "The books do NOT add up."),
    "",
    ...amounts(
      [
        ["top-ups", audit.sums.topup],
        ["bonuses", audit.sums.bonus],
        ["refunds", audit.sums.refund],
        ["charges", audit.sums.settle],
        ["balance by the ledger", audit.balance_from_ledger],
        ["balance", audit.balance],
        ["reserved by the ledger", audit.reserved_from_ledger],
        ["reserved", audit.reserved]
      ],
      shown
    ),
    "",
    ...wholeFacts(
      [
        ["entries", audit.entries],
        ["hash chain", audit.chain_verified ? "verified" : "BROKEN"],
        ["head", audit.head === null ? null : `${audit.head.seq} ${audit.head.hash}`],
        ["checked", timeOf(audit.checked_at)],
        [
          "operator's own audit",
          audit.last_full_check === null
            ? "not yet"
            : `${timeOf(audit.last_full_check.checked_at)}, ${audit.last_full_check.adds_up ? "adds up" : "does not add up"}`
        ]
      ],
      shown
    ),
    ...audit.violations.map((one) => paint("red", harmless(`${one.equation}: ${one.subject}: ${one.detail}`)))
  ]
}

const audit = row(endpoints.audit, {
  about: "Recompute the wallet from the ledger; exit code 1 when the books do not add up",
  show: (answer, shown, flags) =>
    Effect.gen(function* () {
      yield* drawn(WalletAudit, auditLines)(answer, shown, flags)
      if (!(yield* read(WalletAudit, answer)).adds_up)
        return yield* failedWith("The books do not add up. Report this to the operator of the service.")
    })
})

export const wallet = row(endpoints.get, {
  about: "Show the balance, list ledger entries, add funds, audit",
  show: drawn(Wallet, ({ balance, reserved, available }, shown) =>
    amounts(Object.entries({ balance, reserved, available }), shown)
  )
}).pipe(Command.withSubcommands([transactions, topup, autoTopup, audit, heads]))
