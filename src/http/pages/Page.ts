/**
 * Renders a small HTML page with text and at most one form. It loads nothing and runs no script, so it works without JavaScript and offers
 * no target for injection.
 */
import { HttpServerResponse } from "effect/http"

const headersOf = (formAction: "'none'" | "'self'") => ({
  "content-security-policy": `default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action ${formAction}; frame-ancestors 'none'`,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store"
})

const escapes: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;"
}
export const escaped = (text: string) => text.replace(/[&<>"']/g, (letter) => escapes[letter] ?? letter)

/** `body` is HTML: whatever comes from a request or the database must be escaped in it. */
export const page = (status: number, title: string, body: string, form = false) =>
  HttpServerResponse.text(
    `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escaped(title)}</title>
<style>
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 42rem; margin: 3rem auto; padding: 0 1rem; color: #1c1c1c; background: #fff }
pre { background: #f3f3f1; padding: 1rem; overflow-x: auto; border-radius: .4rem }
code { font-family: ui-monospace, monospace }
label { display: block; margin: 1rem 0 }
input { display: block; font: inherit; width: 100%; max-width: 24rem; padding: .4rem; box-sizing: border-box }
button { font: inherit; padding: .4rem 1rem }
@media (prefers-color-scheme: dark) { body { color: #e8e8e6; background: #161616 } pre { background: #242424 } a { color: #9cc4ff } }
</style>
</head>
<body>
<main>
<h1>${escaped(title)}</h1>
${body}
</main>
</body>
</html>
`,
    { status, contentType: "text/html; charset=utf-8", headers: headersOf(form ? "'self'" : "'none'") }
  )
