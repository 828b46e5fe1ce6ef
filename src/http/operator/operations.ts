/**
 * Handlers of `rungate audit` and `rungate catalog`. Loaded on demand, so that other commands start fast.
 */
import { Clock, Console, Effect, Layer, Result } from "effect"
import { asOperator, violationLines } from "./output.ts"
import { fail } from "../cli/terminal/exits.ts"
import { Audit } from "../../layers/audit/Audit.ts"
import type { Sheet } from "../../layers/audit/sheet.ts"
import { hasActor } from "../../layers/catalog/import/marketplace/allowed.ts"
import { CatalogImports, type ImportPlan, type ImportRequest } from "../../layers/catalog/CatalogImports.ts"
import { StripePayments } from "../../layers/payments/Stripe.ts"
import { ProcessorAudit, type ProcessorReport } from "../../layers/audit/ProcessorAudit.ts"
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
  const auditor = yield* ProcessorAudit
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
  return yield* Effect.raceFirst(
    auditor.run(days, doing),
    Effect.andThen(Effect.sleep(quietMillis), Effect.forever(say))
  )
})

const AgainstStripe = ProcessorAudit.layer.pipe(Layer.provide(StripePayments))

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
        : yield* Effect.result(askProcessor(days).pipe(Effect.provide(AgainstStripe)))
    const compared = Result.isSuccess(comparison) ? comparison.success : null
    yield* auditor.record({ ...report, violations: [...report.violations, ...(compared?.violations ?? [])] })
    if (compared !== null) {
      for (const line of violationLines(compared.violations)) yield* Console.log(line)
      yield* Console.log(processorLine(days, compared))
    }
    if (Result.isFailure(comparison))
      yield* Console.error(`Can't compare with the payment processor: ${comparison.failure.message}`)
    if (!good) return yield* fail("failed", "The books do not add up. See the violations above.")
    if (Result.isFailure(comparison)) {
      return yield* fail(
        "failed",
        "The books add up, but the top-ups were not compared with the payment processor (--processor-days 0 skips this)."
      )
    }
    if (compared !== null && compared.violations.length > 0) {
      return yield* fail("failed", "The ledger differs from the payment processor. See the violations above.")
    }
  }).pipe(Effect.provide(Storage))

/** The most lines of one kind that are shown without --all. */
const linesMax = 20

const lines = (sign: string, keys: ReadonlyArray<string>, all: boolean) => {
  const shown = all ? keys : keys.slice(0, linesMax)
  const rest = keys.length - shown.length
  return [
    ...shown.map((key) => `${sign} ${key}`),
    ...(rest > 0 ? [`${sign} … and ${rest} more (--all shows them)`] : [])
  ]
}

const report = ({ imported: { document, warnings }, diff }: ImportPlan, all: boolean) => [
  ...lines("+", diff.added, all),
  ...lines("~", diff.changed, all),
  ...lines("-", diff.removed, all),
  ...lines(
    "!",
    warnings.map(({ where, message }) => (where === "" ? message : `${where}: ${message}`)),
    all
  ),
  `${document.provider}: ${document.endpoints.length} endpoints; ${diff.added.length} added, ${diff.changed.length} changed, ${diff.removed.length} removed, ${diff.unchanged} unchanged, ${warnings.length} warnings.`
]

const Imports = CatalogImports.layer.pipe(Layer.provideMerge(Storage))

export interface ImportFlags {
  readonly request: ImportRequest
  readonly dry_run: boolean
  readonly all: boolean
}

/** In production, actors run only if the operator lists them, so an import alone may not be enough. */
const actorNote = (
  { imported: { document } }: ImportPlan,
  allow: ReadonlyArray<string>,
  listed: ReadonlyArray<string> | null
): string | null => {
  const actors = document.endpoints.filter((one) => one.body_type === "actor_input")
  if (actors.length === 0) return null
  const wanted = allow.length === 0 ? "owner/name,owner/*" : allow.join(",")
  if (listed === null)
    return `RUNGATE_ACTORS is not set, so only the actors that the package ships run. To run others, set RUNGATE_ACTORS=${wanted} for every process.`
  const isListed = hasActor(listed)
  const running = actors.filter(({ path }) => isListed(path)).length
  return `RUNGATE_ACTORS allows ${running} of these ${actors.length} actors. The others don't run and are not shown.`
}

export const importCatalog = ({ request, dry_run, all }: ImportFlags) =>
  Effect.gen(function* () {
    const imports = yield* CatalogImports
    yield* Console.error(`Reading ${request.location}`)
    const plan = yield* imports.prepare(request)
    for (const line of report(plan, all)) yield* Console.log(line)
    if (dry_run) return yield* Console.error("Nothing was changed (--dry-run).")
    const { added, changed, removed } = plan.diff
    if (added.length + changed.length + removed.length === 0)
      return yield* Console.error("The catalog is up to date. Nothing was changed.")
    yield* asOperator(imports.apply(plan))
    yield* Console.error("Imported. Running services use it within 5 seconds.")
    const { actors, mode } = yield* Settings
    const note = mode === "sandbox" ? null : actorNote(plan, request.allow, actors)
    if (note !== null) yield* Console.error(note)
  }).pipe(Effect.provide(Imports))

export const resetCatalog = (provider: string) =>
  Effect.gen(function* () {
    const imports = yield* CatalogImports
    const done = yield* asOperator(imports.reset(provider))
    yield* Console.log(
      done
        ? `${provider}: deleted the import; the shipped catalog is used`
        : `${provider}: there is no import, so nothing was changed`
    )
  }).pipe(Effect.provide(Imports))
