/** Handler of `rungate audit`. Loaded on demand, so that other commands start fast. */
import { Clock, Console, Effect, Result } from "effect"
import { violationLines } from "../operator/output.ts"
import { failedWith } from "../cli/terminal/exits.ts"
import { Audit } from "../../layers/audit/Audit.ts"
import type { Sheet } from "../../schema/nouns/operator/Books.ts"
import { StripePayments } from "../../layers/payments/Stripe.ts"
import { makeProcessorAudit, type ProcessorReport } from "../../layers/audit/ProcessorAudit.ts"
import { Settings } from "../../layers/platform/Settings.ts"
import { usd } from "../../schema/money/Money.ts"
import { Storage } from "../../layers/Storage.ts"

/** The totals of all wallets, by source and use. */
const sheetLines = (sheet: Sheet): ReadonlyArray<string> => {
  const rows: ReadonlyArray<readonly [string, bigint]> = [
    ["top-ups", sheet.topups],
    ["refunds and disputes of top-ups", sheet.clawed_back],
    ["bonuses, including referrals", sheet.bonuses],
    ["refunds", sheet.refunds],
    ["charged to runs", sheet.charged],
    ["balance of all wallets", sheet.balances],
    ["cost of providers", sheet.provider_cost],
    ["losses (cost above charge)", sheet.losses]
  ]
  const width = Math.max(...rows.map(([, amount]) => usd(amount).split(".")[0]?.length ?? 0))
  const lost = sheet.loss_runs === 0n ? [] : [`(${sheet.loss_runs} runs; see rungate admin losses)`]
  const unknown = sheet.cost_unknown === 0n ? [] : [`(the cost of ${sheet.cost_unknown} charged runs is unknown)`]
  const line = ([label, amount]: readonly [string, bigint]) => {
    const [whole = "", fraction = ""] = usd(amount).split(".")
    return `${label.padEnd(38)}${whole.padStart(width)}.${fraction}`
  }
  return [...rows.map(line), ...lost, ...unknown]
}

/** The summary of the comparison with the payment processor. */
const processorLine = (days: number, report: ProcessorReport) => {
  const { settled, on_their_way, given_back, elsewhere, violations } = report
  const parts: ReadonlyArray<readonly [number, string]> = [
    [on_their_way, "pending"],
    [given_back, "not credited and refunded"],
    [elsewhere, "of organizations outside this database"]
  ]
  const more = parts.filter(([count]) => count > 0).map(([count, what]) => `, ${count} ${what}`)
  const verdict =
    violations.length === 0
      ? "The payment processor agrees"
      : `${violations.length} differences from the payment processor`
  return `${verdict}: ${settled} settled payments of the last ${days} days${more.join("")}.`
}

const quietMillis = 1_000
const sayMillis = 5_000

/** Runs the comparison. After a second it shows progress every five seconds. */
const askProcessor = Effect.fnUntraced(function* (days: number) {
  const run = yield* makeProcessorAudit
  const began = yield* Clock.currentTimeMillis
  let now = ""
  const doing = (what: string) =>
    Effect.sync(() => {
      now = what
    })
  const say = Effect.gen(function* () {
    const seconds = Math.round(((yield* Clock.currentTimeMillis) - began) / 1_000)
    yield* Console.error(`${now} (${seconds} s so far)`)
    yield* Effect.sleep(sayMillis)
  })
  return yield* Effect.raceFirst(run(days, doing), Effect.andThen(Effect.sleep(quietMillis), Effect.forever(say)))
})

const notCompared = (mode: string) =>
  mode === "sandbox"
    ? "The sandbox has no payment processor. Top-ups are compared only with the payments in the database."
    : "No payment processor is configured (STRIPE_SECRET_KEY). Top-ups are compared only with the payments in the database."

export const audit = (days: number) =>
  Effect.gen(function* () {
    const auditor = yield* Audit
    const report = yield* auditor.run
    for (const line of sheetLines(report.sheet)) yield* Console.log(line)
    for (const line of violationLines(report.violations)) yield* Console.log(line)
    const good = report.violations.length === 0
    yield* Console.log(
      `${good ? "The books add up" : `${report.violations.length} violations`}: ${report.wallets} wallets, ${report.entries} ledger entries, ${report.runs} runs checked.`
    )
    const { current, mode } = yield* Settings
    const { stripe } = current()
    if (stripe === null) yield* Console.log(notCompared(mode))
    else if (days === 0) yield* Console.log("Skipped the comparison with the payment processor (--processor-days 0).")
    const comparison =
      stripe === null || days === 0
        ? Result.succeed(null)
        : yield* Effect.result(askProcessor(days).pipe(Effect.provide(StripePayments)))
    const compared = Result.isSuccess(comparison) ? comparison.success : null
    yield* auditor.record({ ...report, violations: [...report.violations, ...(compared?.violations ?? [])] })
    if (compared !== null) {
      for (const line of violationLines(compared.violations)) yield* Console.log(line)
      yield* Console.log(processorLine(days, compared))
    }
    if (Result.isFailure(comparison))
      yield* Console.error(`Can't compare with the payment processor: ${comparison.failure.message}`)
    if (!good) return yield* failedWith("The books do not add up. See the violations above.")
    if (Result.isFailure(comparison)) {
      return yield* failedWith(
        "The books add up, but the top-ups were not compared with the payment processor (--processor-days 0 skips this)."
      )
    }
    if (compared !== null && compared.violations.length > 0) {
      return yield* failedWith("The ledger differs from the payment processor. See the violations above.")
    }
  }).pipe(Effect.provide(Storage))
