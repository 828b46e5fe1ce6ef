/**
 * The API reference at `/docs/api`: a page that loads Scalar from this service and shows `/openapi.json`.
 *
 * A bar leads to the docs and the console, and Scalar's own links are left out. It shares its origin with the console's cookie, so the page has no script of its own and asks this service only: its policy forbids other
 * origins, inline scripts and frames. Scalar can also share a document on its makers' servers and load their fonts, which is turned off.
 */
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApi, HttpApiScalar } from "effect/http-api"
import { rateLimitedPage } from "../middleware/RequestChecks.ts"
import { escaped } from "./Page.ts"
import { fileHeaders, pageHeaders } from "./PageHeaders.ts"

/** Scalar adds its style sheet when it runs. */
const headers = pageHeaders({ "style-src": "'self' 'unsafe-inline'", "form-action": "'none'" })

const scriptPath = "/docs/reference.js"

const settings = {
  url: "/openapi.json",
  authentication: { preferredSecurityScheme: "bearer" },

  // With all operations open at once the page takes five times as long.
  defaultOpenAllTags: false,
  hideModels: true,
  withDefaultFonts: false,
  // What leads to Scalar's own services.
  showDeveloperTools: "never",
  hideClientButton: true,
  agent: { disabled: true },
  telemetry: false
}

/** In the theme that the console and the docs show (src/http/console/look/theme.ts). */
const start = `
let chosen = null
try { chosen = localStorage.getItem("rungate.theme") } catch {}
const isDark = chosen === "dark" || (chosen !== "light" && matchMedia("(prefers-color-scheme: dark)").matches)
Scalar.createApiReference("#reference", { ...${JSON.stringify(settings)}, forceDarkModeState: isDark ? "dark" : "light" })
`

/** Scalar's columns begin below this bar, and have the same colours. */
const style = `
:root { --scalar-custom-header-height: 3rem }
body { margin: 0 }
header { position: sticky; top: 0; z-index: 10; display: flex; gap: 1.25rem; align-items: center; box-sizing: border-box; height: 3rem; padding: 0 1.25rem; font: .9rem system-ui, sans-serif; background: var(--scalar-background-1, #fff); border-bottom: 1px solid var(--scalar-border-color, #e2e2e6) }
header a { color: var(--scalar-color-1, #18181b); text-decoration: none }
header a:hover { text-decoration: underline }
.darklight-reference { display: none !important }
header :is(strong, [aria-current]) { font-weight: 600 }
`

const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API reference | Rungate docs</title>
<style>${style}</style>
<script defer src="${escaped(scriptPath)}"></script>
</head>
<body>
<header>
<a href="/"><strong>Rungate</strong></a>
<a href="/docs">Docs</a>
<a href="/docs/api" aria-current="page">API reference</a>
<a href="/">Console</a>
</header>
<div id="reference"></div>
<noscript><p>The reference needs JavaScript. <a href="/openapi.json">/openapi.json</a> has the same, and <a href="/docs/api.md">/docs/api.md</a> an overview.</p></noscript>
</body>
</html>
`

/** Scalar, as Effect ships it: the first script of its own page for an API. */
const scalar = Effect.gen(function* () {
  const shown = yield* HttpRouter.toHttpEffect(HttpApiScalar.layer(HttpApi.make("none"), { path: "/" }))
  const request = HttpServerRequest.fromWeb(new Request("http://localhost/"))
  const response = yield* Effect.provideService(shown, HttpServerRequest.HttpServerRequest, request)
  const text = yield* Effect.promise(() => HttpServerResponse.toWeb(response).text())
  const source = /<script>([^]*?)<\/script>/.exec(text)?.[1] ?? ""
  // Its map is elsewhere.
  return source.replace(/\/\/# sourceMappingURL=\S+\s*$/, "")
}).pipe(Effect.scoped, Effect.orDie)

export const ReferenceRoutes = Layer.unwrap(
  Effect.gen(function* () {
    // Three megabytes, which most processes never need.
    const script = yield* Effect.cached(
      Effect.map(scalar, (source) =>
        HttpServerResponse.text(`${source}${start}`, {
          contentType: "text/javascript; charset=utf-8",
          headers: fileHeaders
        })
      )
    )
    const page = HttpServerResponse.text(html, { contentType: "text/html; charset=utf-8", headers })
    return Layer.mergeAll(
      HttpRouter.add("GET", "/docs/api", rateLimitedPage(Effect.succeed(page))),
      HttpRouter.add("GET", scriptPath, rateLimitedPage(script))
    )
  })
)
