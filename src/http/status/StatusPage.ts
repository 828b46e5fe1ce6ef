/**
 * `/status`: the service's and the providers' health, as a page, or as JSON for a program. Public if RUNGATE_STATUS_PAGE is on, else 404.
 *
 * The answers are made at most once in five seconds and kept with their compressed forms, so a flood of requests costs no query.
 */
import { Clock, Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Catalog } from "../../layers/catalog/Catalog.ts"
import { Endpoints } from "../../layers/catalog/Endpoints.ts"
import { readinessOf } from "../../layers/catalog/ProviderReadiness.ts"
import { Health } from "../../layers/executor/Health.ts"
import { Settings } from "../../layers/platform/Settings.ts"
import { problem, statusOf } from "../../schema/Errors.ts"
import type { HealthStatus } from "../../schema/runs/Health.ts"
import type { Limits } from "../middleware/Limits.ts"
import { statusPath } from "../middleware/Paths.ts"
import { rateLimitedPage } from "../middleware/RequestChecks.ts"
import { escaped, page } from "../pages/Page.ts"
import { type CheckServices, serviceChecks } from "./ServiceChecks.ts"
import { providerHealth } from "../views/CatalogView.ts"
import { type Part, reportOf, type StatusReport, type Verdict } from "./StatusReport.ts"

const keptSeconds = 5

const off = HttpServerResponse.jsonUnsafe(
  problem("not_found", "This service has no status page. Its operator can switch it on with RUNGATE_STATUS_PAGE=on."),
  { status: statusOf.not_found }
)

/** Each with a sign beside its words, never a colour alone. */
const verdicts: Readonly<Record<Verdict, string>> = {
  ok: "✓ Everything works",
  degraded: "⚠ Some providers fail; runs go to others where they can",
  outage: "✗ The service can't do its work at present"
}
const parts: Readonly<Record<Part["part"], string>> = {
  api: "API",
  storage: "Storage",
  queue: "Execution of runs"
}
const words: Readonly<Record<Part["status"] | HealthStatus, string>> = {
  ok: "✓ works",
  healthy: "✓ works",
  stable: "✓ works",
  degraded: "⚠ fails often",
  outage: "✗ down",
  unknown: "– not measured lately"
}

const table = (label: string, rows: ReadonlyArray<readonly [string, string]>) => `<table>
<caption>${escaped(label)}</caption>
${rows.map(([name, word]) => `<tr><th scope="row">${escaped(name)}</th><td>${escaped(word)}</td></tr>`).join("\n")}
</table>`

const tableLook = `<style>
table { border-collapse: collapse; width: 100%; margin: 1.5rem 0 } caption { text-align: left; font-weight: 600; padding: .3rem 0 }
th, td { text-align: left; padding: .3rem .5rem .3rem 0; border-top: 1px solid #8884; font-weight: 400; overflow-wrap: anywhere }
td { white-space: nowrap; width: 12rem }
</style>`

const shown = ({ status, checked_at, service, providers }: StatusReport) =>
  page(
    200,
    "Status",
    `${tableLook}<p><strong>${escaped(verdicts[status])}.</strong></p>
${table(
  "Service",
  service.map((one) => [parts[one.part], words[one.status]])
)}
${
  providers.length === 0
    ? ""
    : table(
        "Providers",
        providers.map((one) => [one.title, words[one.status]] as const)
      )
}
<p>Checked at <time datetime="${checked_at}">${checked_at.slice(0, 19).replace("T", " ")} UTC</time>. A provider's word is that of its offer with the most calls in the last hour and the last 30 days. Programs get this page as JSON.</p>`
  )

const cached = HttpServerResponse.setHeaders({
  "cache-control": `public, max-age=${keptSeconds}`,
  vary: "accept, accept-encoding"
})

export const StatusRoute = Layer.unwrap(
  Effect.gen(function* () {
    const { statusPage } = yield* Settings
    if (!statusPage) return HttpRouter.add("GET", statusPath, rateLimitedPage(Effect.succeed(off)))
    const catalog = yield* Catalog
    const endpoints = yield* Endpoints
    const health = yield* Health
    const context = yield* Effect.context<CheckServices>()
    const { providers: providerRows } = readinessOf(catalog.entries, catalog.providers, catalog.isConfigured)
    const readiness = new Map(providerRows.map((one) => [one.provider, one]))

    /** Providers that this service calls. */
    const providers = () =>
      [...endpoints.snapshot().providers.values()].flatMap(({ slug, title, status }) => {
        const ready = readiness.get(slug)
        const isCalled = catalog.sandbox || (ready?.configured ?? status === "live")
        if (!isCalled) return []
        return [{ provider: slug, title, status: providerHealth(health, slug, ready?.serves ?? []).status }]
      })

    const pages = Effect.gen(function* () {
      const checks = yield* serviceChecks
      const report = reportOf(checks, providers(), new Date(yield* Clock.currentTimeMillis))
      return { html: cached(shown(report)), json: cached(HttpServerResponse.jsonUnsafe(report)) }
    })
    // A client that hangs up must not end what others wait for.
    const kept = yield* Effect.cachedWithTTL(
      Effect.uninterruptible(Effect.provideContext(pages, context)),
      `${keptSeconds} seconds`
    )
    const answer = Effect.gen(function* () {
      const { headers } = yield* HttpServerRequest.HttpServerRequest
      const { html, json } = yield* kept
      return (headers["accept"] ?? "").includes("text/html") ? html : json
    })
    return HttpRouter.add("GET", statusPath, rateLimitedPage(answer))
  })
)

/** Services that this route needs. */
export type StatusServices = CheckServices | Limits
