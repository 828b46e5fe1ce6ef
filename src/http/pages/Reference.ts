/**
 * The API reference at `/docs`: a page that loads Scalar from this service and shows `/openapi.json`.
 *
 * It shares its origin with the console's cookie, so the page has no script of its own and asks this service only: its policy forbids other
 * origins, inline scripts and frames. Scalar can also share a document on its makers' servers and load their fonts, which is turned off.
 */
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApi, HttpApiScalar } from "effect/http-api"
import type { Limits } from "../middleware/Limits.ts"
import { rateLimitedPage } from "../middleware/RequestChecks.ts"
import { escaped } from "./Page.ts"

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  // Scalar adds its style sheet when it runs.
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'"
].join("; ")

const common = { "x-content-type-options": "nosniff", "cross-origin-resource-policy": "same-origin" }
const pageHeaders = {
  ...common,
  "content-security-policy": policy,
  "cross-origin-opener-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=()",
  "referrer-policy": "no-referrer",
  "x-frame-options": "DENY"
}

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

const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>API reference</title>
<script defer src="${escaped(scriptPath)}"></script>
</head>
<body>
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
        HttpServerResponse.text(`${source}\nScalar.createApiReference("#reference", ${JSON.stringify(settings)})\n`, {
          contentType: "text/javascript; charset=utf-8",
          headers: common
        })
      )
    )
    const page = HttpServerResponse.text(html, { contentType: "text/html; charset=utf-8", headers: pageHeaders })
    return Layer.mergeAll(
      HttpRouter.add("GET", "/docs", rateLimitedPage(Effect.succeed(page))),
      HttpRouter.add("GET", scriptPath, rateLimitedPage(script))
    )
  })
)

/** Services that these routes need. */
export type ReferenceServices = Limits
