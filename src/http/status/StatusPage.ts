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
import { problem } from "../../schema/Errors.ts"
import type { HealthStatus } from "../../schema/runs/Health.ts"
import { statusPath } from "../middleware/Paths.ts"
import { rateLimitedPage } from "../middleware/RequestChecks.ts"
import { escaped, page, table } from "../pages/Page.ts"
import { type CheckServices, serviceChecks } from "./ServiceChecks.ts"
import { providerHealth } from "../handlers/catalog/CatalogItems.ts"
import { type Part, reportOf, type StatusReport, type Verdict } from "./StatusReport.ts"
import { problemAnswer } from "../standards/ProblemType.ts"

const keptSeconds = 5

const offWords = "This service has no status page. Its operator can switch it on with RUNGATE_STATUS_PAGE=on."
const off = { html: page(404, "Not found", `<p>${offWords}</p>`), json: problemAnswer(problem("not_found", offWords)) }

type Look = "good" | "poor" | "bad" | "unknown"

/** Each with a sign beside its words, never a colour alone. */
const verdicts: Readonly<Record<Verdict, readonly [Look, string]>> = {
  ok: ["good", "✓ Everything works"],
  degraded: ["poor", "⚠ Some providers fail; runs go to others where they can"],
  outage: ["bad", "✗ The service can't do its work at present"]
}
const parts: Readonly<Record<Part["part"], string>> = {
  api: "API",
  storage: "Storage",
  queue: "Execution of runs"
}
const words: Readonly<Record<Part["status"] | HealthStatus, readonly [Look, string]>> = {
  ok: ["good", "✓ works"],
  healthy: ["good", "✓ works"],
  stable: ["good", "✓ works"],
  degraded: ["poor", "⚠ fails often"],
  outage: ["bad", "✗ down"],
  unknown: ["unknown", "– not measured lately"]
}

const health = (status: keyof typeof words) => {
  const [look, word] = words[status]
  return `<span class="${look}">${word}</span>`
}

const shown = ({ status, checked_at, service, providers }: StatusReport) => {
  const [look, verdict] = verdicts[status]
  return page(
    200,
    "Status",
    `<p><strong class="${look}">${verdict}.</strong></p>
${table(
  "Service",
  ["Part", "Health"],
  service.map((one) => [parts[one.part], health(one.status)])
)}
${
  providers.length === 0
    ? ""
    : table(
        "Providers",
        ["Provider", "Health"],
        providers.map((one) => [escaped(one.title), health(one.status)])
      )
}
<p>Checked at <time datetime="${checked_at}">${checked_at.slice(0, 19).replace("T", " ")} UTC</time>. A provider's word is that of its offer with the most calls in the last hour and the last 30 days. Programs get this page as JSON.</p>`
  )
}

const cached = HttpServerResponse.setHeaders({
  "cache-control": `public, max-age=${keptSeconds}`,
  vary: "accept, accept-encoding"
})

type Answer = HttpServerResponse.HttpServerResponse

/** A page for a browser, JSON for a program. */
const route = (answers: Effect.Effect<{ readonly html: Answer; readonly json: Answer }>) => {
  const answer = Effect.gen(function* () {
    const { headers } = yield* HttpServerRequest.HttpServerRequest
    const { html, json } = yield* answers
    return (headers["accept"] ?? "").includes("text/html") ? html : json
  })
  return HttpRouter.add("GET", statusPath, rateLimitedPage(answer))
}

export const StatusRoute = Layer.unwrap(
  Effect.gen(function* () {
    const { statusPage } = yield* Settings
    if (!statusPage) return route(Effect.succeed(off))
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
    return route(kept)
  })
)
