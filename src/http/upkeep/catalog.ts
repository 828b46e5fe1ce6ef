/** Handlers of `rungate catalog`. Loaded on demand. */
import { Console, Effect, Layer } from "effect"
import { asOperator } from "../operator/database.ts"
import { hasActor } from "../../layers/catalog/import/marketplace/allowed.ts"
import { CatalogImports, type ImportPlan, type ImportRequest } from "../../layers/catalog/CatalogImports.ts"
import { Settings } from "../../layers/platform/Settings.ts"
import { Storage } from "../../layers/Storage.ts"

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
