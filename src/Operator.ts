/**
 * The operator's commands beside `serve`: they work on the database itself, with the settings of the service.
 *
 * `catalog import` shows what would change before anything does, and changes all of it or nothing.
 */
import { Console, Effect, Layer, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { Storage } from "./App.ts"
import { Audit } from "./layers/Audit.ts"
import { CatalogImports, type ImportPlan } from "./layers/CatalogImports.ts"
import { CommandFailed } from "./http/client/Client.ts"

export const audit = Command.make("audit", {}, () =>
  Effect.gen(function* () {
    const report = yield* Effect.flatMap(Audit, (books) => books.run)
    for (const violation of report.violations)
      yield* Console.log(`VIOLATION ${violation.equation}: ${violation.subject}: ${violation.detail}`)
    const good = report.violations.length === 0
    yield* Console.log(
      `${good ? "The books add up" : `${report.violations.length} violations`}: ${report.wallets} wallets, ${report.entries} ledger entries, ${report.runs} runs checked.`
    )
    if (!good) return yield* new CommandFailed({ message: "the books do not add up", exit_code: 1 })
  }).pipe(Effect.provide(Storage))
).pipe(Command.withDescription("Recompute the books from the ledger; exit code 1 when something does not add up"))

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

const all = Flag.Boolean("all").pipe(Flag.withDescription("show every line"), Flag.withDefault(false))
const patterns = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.between(0, 100))

const importCommand = Command.make(
  "import",
  {
    location: Argument.String("source").pipe(
      Argument.withDescription("a file or an address: an OpenAPI 2, 3.0 or 3.1 document, or a manifest; or: apify")
    ),
    provider: Flag.String("provider").pipe(Flag.withDescription("whose catalog an OpenAPI document is"), Flag.optional),
    title: Flag.String("title").pipe(Flag.withDescription("the provider's name, when it is new"), Flag.optional),
    sources: Flag.String("sources").pipe(
      Flag.withDescription("folder of the documents that a manifest names"),
      Flag.optional
    ),
    task: Flag.Boolean("task").pipe(Flag.withDescription("bodies are arrays of task objects"), Flag.withDefault(false)),
    include: patterns("include", "only these operations, such as 'GET /v1/*'; may be repeated"),
    exclude: patterns("exclude", "not these operations; may be repeated"),
    dry_run: Flag.Boolean("dry-run").pipe(Flag.withDescription("only show what would change"), Flag.withDefault(false)),
    all
  },
  Effect.fnUntraced(function* ({ location, provider, title, sources, task, include, exclude, dry_run, all }) {
    const imports = yield* CatalogImports
    yield* Console.error(`reading ${location}`)
    const plan = yield* imports.prepare({
      location,
      provider: Option.getOrNull(provider),
      title: Option.getOrNull(title),
      sources: Option.getOrNull(sources),
      body_type: task ? "task" : "json",
      include,
      exclude
    })
    for (const line of report(plan, all)) yield* Console.log(line)
    if (dry_run) return yield* Console.error("nothing was changed (--dry-run)")
    const { added, changed, removed } = plan.diff
    if (added.length + changed.length + removed.length === 0) return yield* Console.error("nothing to change")
    yield* imports.apply(plan)
    yield* Console.error("imported; running services see it within 5 seconds")
  })
).pipe(
  Command.provide(Imports),
  Command.withDescription(
    "Import a provider's raw endpoints: shows the difference, and replaces all of them or nothing"
  )
)

const reset = Command.make(
  "reset",
  { provider: Argument.String("provider") },
  Effect.fnUntraced(function* ({ provider }) {
    const imports = yield* CatalogImports
    const done = yield* imports.reset(provider)
    yield* Console.log(
      done ? `${provider}: back to what the package ships` : `${provider}: nothing was imported, so nothing changes`
    )
  })
).pipe(Command.provide(Imports), Command.withDescription("Forget a provider's import, and use what the package ships"))

export const catalog = Command.make("catalog").pipe(
  Command.withDescription("Maintain the catalog of raw endpoints"),
  Command.withSubcommands([importCommand, reset])
)
