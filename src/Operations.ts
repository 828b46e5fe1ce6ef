/**
 * What the operator's commands do: the books, and imports into the catalog. Loaded when one of them is run, because a client's command
 * needs nothing of it and should start at once.
 */
import { Console, Effect, Layer } from "effect"
import { service, worker } from "./App.ts"
import { CommandFailed } from "./http/client/Client.ts"
import { Audit } from "./layers/Audit.ts"
import type { Sheet } from "./layers/audit/sheet.ts"
import { CatalogImports, type ImportPlan, type ImportRequest } from "./layers/CatalogImports.ts"
import type { Role } from "./layers/Settings.ts"
import { usd } from "./schema/Money.ts"
import { Storage } from "./Storage.ts"
import { welcome } from "./Welcome.ts"

export const serve = (role: Role) =>
  role === "worker"
    ? Effect.scoped(
        Effect.gen(function* () {
          yield* Layer.build(worker)
          yield* Effect.logInfo("Rungate worker is taking turns and executing runs")
          yield* Effect.never
        })
      )
    : Effect.scoped(
        Effect.gen(function* () {
          const context = yield* Layer.build(service(role))
          yield* Effect.provideContext(welcome, context)
          yield* Effect.never
        })
      )

/** Where the money of all wallets came from and where it went. */
const sheetLines = (sheet: Sheet): ReadonlyArray<string> => {
  const rows: ReadonlyArray<readonly [string, bigint]> = [
    ["money in by top-ups", sheet.topups],
    ["clawed back by refunds and disputes", sheet.clawed_back],
    ["bonuses, of referrals too", sheet.bonuses],
    ["refunds", sheet.refunds],
    ["charged to runs", sheet.charged],
    ["the wallets hold", sheet.balances],
    ["the runs' providers took", sheet.provider_cost]
  ]
  const width = Math.max(...rows.map(([, amount]) => usd(amount).split(".")[0]?.length ?? 0))
  const unknown =
    sheet.cost_unknown === 0n ? [] : [`(of ${sheet.cost_unknown} charged runs it is not known what they cost)`]
  const line = ([label, amount]: readonly [string, bigint]) => {
    const [whole = "", fraction = ""] = usd(amount).split(".")
    return `${label.padEnd(38)}${whole.padStart(width)}.${fraction}`
  }
  return [...rows.map(line), ...unknown]
}

export const audit = Effect.gen(function* () {
  const auditor = yield* Audit
  const report = yield* auditor.run
  yield* auditor.record(report)
  for (const line of sheetLines(report.sheet)) yield* Console.log(line)
  for (const violation of report.violations)
    yield* Console.log(`VIOLATION ${violation.equation}: ${violation.subject}: ${violation.detail}`)
  const good = report.violations.length === 0
  yield* Console.log(
    `${good ? "The books add up" : `${report.violations.length} violations`}: ${report.wallets} wallets, ${report.entries} ledger entries, ${report.runs} runs checked.`
  )
  if (!good) return yield* new CommandFailed({ message: "the books do not add up", exit_code: 1 })
}).pipe(Effect.provide(Storage))

/** Lines of one kind that are shown; the rest are counted. */
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

const Imports = CatalogImports.layer.pipe(Layer.provide(Storage))

export interface ImportFlags {
  readonly request: ImportRequest
  readonly dry_run: boolean
  readonly all: boolean
}

export const importCatalog = ({ request, dry_run, all }: ImportFlags) =>
  Effect.gen(function* () {
    const imports = yield* CatalogImports
    yield* Console.error(`reading ${request.location}`)
    const plan = yield* imports.prepare(request)
    for (const line of report(plan, all)) yield* Console.log(line)
    if (dry_run) return yield* Console.error("nothing was changed (--dry-run)")
    const { added, changed, removed } = plan.diff
    if (added.length + changed.length + removed.length === 0) return yield* Console.error("nothing to change")
    yield* imports.apply(plan)
    yield* Console.error("imported; running services see it within 5 seconds")
  }).pipe(Effect.provide(Imports))

export const resetCatalog = (provider: string) =>
  Effect.gen(function* () {
    const imports = yield* CatalogImports
    const done = yield* imports.reset(provider)
    yield* Console.log(
      done ? `${provider}: back to what the package ships` : `${provider}: nothing was imported, so nothing changes`
    )
  }).pipe(Effect.provide(Imports))
