/** Formats wallet, ledger and audit for a terminal. Loaded on demand, because it imports the API contract. */
import { Schema } from "effect"
import { AutoTopup } from "../../api/TopUps.ts"
import { SpendGuard, Transaction, Wallet } from "../../api/Wallet.ts"
import { WalletAudit } from "../../api/shapes/WalletAudit.ts"
import { csvText } from "../../api/shapes/Csv.ts"
import type { ScreenShape } from "../terminal/Screen.ts"
import { decoded, type Lines } from "../answers/show.ts"
import { facts, table } from "../terminal/table.ts"
import { padStart, widthOf } from "../terminal/text.ts"
import { dollars, timeOf } from "../terminal/values.ts"

/** Amounts, right-aligned. */
const amounts = (pairs: ReadonlyArray<readonly [string, string]>, screen: ScreenShape): Lines => {
  const shown = pairs.map(([name, amount]) => [name, dollars(amount) ?? ""] as const)
  const width = shown.reduce((most, [, amount]) => Math.max(most, widthOf(amount)), 0)
  return facts(
    shown.map(([name, amount]) => [name, padStart(amount, width)] as const),
    screen.width,
    (name) => screen.paint("dim", name)
  )
}

export const walletLines = (text: string, screen: ScreenShape): Lines | null => {
  const wallet = decoded(Wallet, text)
  if (wallet === null) return null
  return amounts(
    [
      ["balance", wallet.balance],
      ["reserved", wallet.reserved],
      ["available", wallet.available]
    ],
    screen
  )
}

const Page = Schema.Struct({ items: Schema.Array(Transaction), next_cursor: Schema.NullOr(Schema.String) })

export const transactionLines = (text: string, screen: ScreenShape): Lines | null => {
  const page = decoded(Page, text)
  if (page === null) return null
  if (page.items.length === 0) return ["There are no ledger entries."]
  const rows = table(
    page.items,
    [
      { title: "TIME", of: (one) => timeOf(one.created_at) },
      { title: "TYPE", of: (one) => one.type },
      { title: "AMOUNT", of: (one) => dollars(one.amount), right: true },
      { title: "BALANCE", of: (one) => dollars(one.balance_after), right: true },
      { title: "REFERENCE", of: (one) => one.reference, least: 12 },
      { title: "NOTE", of: (one) => one.note, least: 6 }
    ],
    screen.width,
    (line) => screen.paint("bold", line)
  )
  return page.next_cursor === null
    ? rows
    : [...rows, screen.paint("dim", `More: --cursor ${page.next_cursor}, or --all`)]
}

const columns = ["id", "type", "amount", "balance_after", "reference", "note", "created_at"] as const

/** The ledger as CSV; null when it can't be decoded. */
export const transactionCsv = (text: string): string | null => {
  const page = decoded(Page, text)
  if (page === null) return null
  return csvText(
    columns,
    page.items.map((one) => columns.map((column) => one[column]))
  )
}

export const auditLines = (text: string, screen: ScreenShape): Lines | null => {
  const audit = decoded(WalletAudit, text)
  if (audit === null) return null
  const verdict = audit.adds_up
    ? screen.paint("green", "The books add up.")
    : screen.paint("red", "The books do NOT add up.")
  return [
    verdict,
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
      screen
    ),
    "",
    ...facts(
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
      // Hashes are compared, so they are never truncated.
      Number.POSITIVE_INFINITY,
      (name) => screen.paint("dim", name)
    ),
    ...audit.violations.map((one) => screen.paint("red", `${one.equation}: ${one.subject}: ${one.detail}`))
  ]
}

export const autoTopupLines = (text: string, screen: ScreenShape): Lines | null => {
  const autoTopup = decoded(AutoTopup, text)
  if (autoTopup === null) return null
  return facts(
    [
      ["automatic top-up", autoTopup.enabled ? "on" : "off"],
      [
        autoTopup.enabled ? "charges" : "would charge",
        `${dollars(autoTopup.amount)} when the balance drops below ${dollars(autoTopup.threshold)}`
      ],
      ["last error", autoTopup.last_error]
    ],
    screen.width,
    (name) => screen.paint("dim", name)
  )
}

export const guardLines = (text: string, screen: ScreenShape): Lines | null => {
  const guard = decoded(SpendGuard, text)
  if (guard === null) return null
  return facts(
    [
      ["per run", guard.per_run_limit === null ? "no limit" : `at most ${dollars(guard.per_run_limit)}`],
      ["per day", guard.daily_limit === null ? "no limit" : `at most ${dollars(guard.daily_limit)}`],
      [
        "same input",
        guard.repeat_guard === 0 ? "no limit" : `stops after ${guard.repeat_guard} failures in ten minutes`
      ],
      [
        "same person",
        guard.contact_guard_days === null ? "no limit" : `contacted at most once in ${guard.contact_guard_days} days`
      ],
      ["told below", guard.low_balance === null ? "no alert" : dollars(guard.low_balance)],
      ["spent today", dollars(guard.spent_today)],
      ["resets at", timeOf(guard.resets_at)]
    ],
    screen.width,
    (name) => screen.paint("dim", name)
  )
}
