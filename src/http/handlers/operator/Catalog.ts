/**
 * Imports of raw endpoints from the console: the same document is sent twice, to be compared and then to be applied, so the service keeps
 * nothing between the two.
 *
 * The importers are loaded at the first import, because most processes never make one.
 */
import { Effect } from "effect"
import type { ImportPlan } from "../../../layers/catalog/CatalogImports.ts"
import type { CatalogStore } from "../../../layers/catalog/CatalogStore.ts"
import type { Marketplace } from "../../../layers/catalog/Marketplace.ts"
import { refused, refusedWith } from "../../../schema/Errors.ts"
import { makeAsOperator } from "../../access/OperatorCookie.ts"
import { group } from "../group.ts"

const refusedAt = (path: string, message: string) => refused(path, message, `${path}: ${message}`)
const changedMeanwhile = refusedAt(
  "based_on",
  "Another import changed this provider since you compared. Nothing was changed; compare again."
)
/** The directory of the cells is away. */
const refusedNow = ({ message }: { readonly message: string }) => refusedWith("service_unavailable", message)

const basedOn = ({ expected }: ImportPlan) => (expected === null ? null : String(expected))

const view = (plan: ImportPlan, applied: boolean) => {
  const { document, warnings } = plan.imported
  const { added, changed, removed, unchanged } = plan.diff
  return {
    provider: document.provider,
    base_url: document.base_url,
    endpoints: document.endpoints.length,
    added,
    changed,
    removed,
    unchanged,
    warnings: warnings.map(({ where, message }) => (where === "" ? message : `${where}: ${message}`)),
    based_on: basedOn(plan),
    applied
  }
}

export const OperatorCatalogHandlers = group(
  "operatorCatalog",
  Effect.fnUntraced(function* (handlers) {
    const asOperator = yield* makeAsOperator
    const context = yield* Effect.context<CatalogStore | Marketplace>()
    const loaded = yield* Effect.promise(() => import("../../../layers/catalog/CatalogImports.ts")).pipe(
      Effect.flatMap(({ CatalogImports }) =>
        CatalogImports.use((service) => Effect.succeed(service)).pipe(Effect.provide(CatalogImports.layer))
      ),
      Effect.provideContext(context),
      Effect.cached
    )

    return handlers.handleAll({
      import: Effect.fnUntraced(function* ({ payload }) {
        const imports = yield* loaded
        const plan = yield* imports
          .prepareText({
            text: payload.document,
            provider: payload.provider ?? null,
            title: payload.title ?? null,
            body_type: payload.task === true ? "task" : "json",
            include: payload.include ?? [],
            exclude: payload.exclude ?? []
          })
          .pipe(
            Effect.catchTag("DirectoryAway", refusedNow),
            Effect.catchTag("ImportFailed", ({ message }) => refusedAt("document", message))
          )
        const { added, changed, removed } = plan.diff
        if (payload.apply !== true || added.length + changed.length + removed.length === 0) return view(plan, false)
        if ((payload.based_on ?? null) !== basedOn(plan)) return yield* changedMeanwhile
        yield* asOperator(imports.apply(plan)).pipe(
          Effect.catchTag("DirectoryAway", refusedNow),
          Effect.catchTag("ImportFailed", () => changedMeanwhile)
        )
        return view(plan, true)
      }),

      reset: Effect.fnUntraced(function* ({ params: { provider } }) {
        const imports = yield* loaded
        const reset = yield* Effect.catchTag(asOperator(imports.reset(provider)), "DirectoryAway", refusedNow)
        return { provider, reset }
      })
    })
  })
)
