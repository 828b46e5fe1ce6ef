/**
 * Renders a small HTML page with text and at most one form. It loads nothing and runs no script, so it works without JavaScript and offers
 * no target for injection.
 */
import { HttpServerResponse } from "effect/http"

const headersOf = (body: string) => ({
  "content-security-policy": `default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action ${body.includes("<form ") ? "'self'" : "'none'"}; frame-ancestors 'none'`,
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

/** The console's colours, by the theme of the system: a page without a script knows no other. */
const look = `
:root { color-scheme: light dark; --page: #fff; --panel: #fff; --sunken: #f6f6f7; --line: #e2e2e6; --strong: #8a8a96; --text: #18181b; --muted: #5b5b66; --accent: #4338ca; --on: #fff; --green: #15703a; --amber: #8a5200; --red: #b3261e }
@media (prefers-color-scheme: dark) { :root { --page: #111113; --panel: #161618; --sunken: #1c1c1f; --line: #2e2e33; --strong: #797984; --text: #ededf0; --muted: #a6a6b0; --accent: #a5adff; --on: #15162e; --green: #5fd08a; --amber: #f0b85a; --red: #ff8f87 } }
body { font: .875rem/1.5 system-ui, sans-serif; margin: 0; color: var(--text); background: var(--page) }
header, main { max-width: 48rem; margin: 0 auto; padding: 1rem }
header { display: flex; gap: 1rem; justify-content: space-between; border-bottom: 1px solid var(--line) }
header > a { font-weight: 600; color: var(--text); text-decoration: none }
nav { display: flex; gap: 1rem }
main { padding-top: 1.5rem }
h1 { font-size: 1.25rem; line-height: 1.75rem } h2 { font-size: .875rem; margin-top: 1.5rem }
a { color: var(--accent) }
pre { background: var(--sunken); padding: 1rem; overflow-x: auto; border-radius: 6px }
code { font: .9em ui-monospace, monospace; overflow-wrap: break-word }
label { display: block; margin: 1rem 0 }
input { display: block; font: inherit; width: 100%; max-width: 24rem; padding: .4rem .6rem; box-sizing: border-box; color: inherit; background: var(--page); border: 1px solid var(--strong); border-radius: 6px }
button { font: inherit; font-weight: 500; padding: .4rem .8rem; color: var(--on); background: var(--accent); border: 0; border-radius: 6px }
table { border-collapse: collapse; width: 100%; margin: 1.5rem 0; border: 1px solid var(--line) }
caption { text-align: left; font-weight: 600; padding: .5rem 0 }
th, td { text-align: left; vertical-align: top; padding: .5rem .75rem; border-top: 1px solid var(--line); font-weight: 400; overflow-wrap: break-word }
thead th { background: var(--sunken); color: var(--muted); font-weight: 500 }
td { color: var(--muted) } td:last-child { min-width: 8rem }
@media (max-width: 40rem) { thead { display: none } tr { display: block; border-top: 1px solid var(--line); padding: .4rem 0 } th, td { display: block; border: 0; padding: .1rem .75rem; overflow-wrap: anywhere } }
.good { color: var(--green) } .poor { color: var(--amber) } .bad { color: var(--red) }
strong.good, strong.poor, strong.bad { display: block; padding: .75rem 1rem; border: 1px solid; border-radius: 6px; font-size: 1rem }`

/** A table of HTML cells, whose first one names the row. */
export const table = (
  caption: string,
  head: ReadonlyArray<string>,
  rows: ReadonlyArray<ReadonlyArray<string>>
) => `<table>
<caption>${escaped(caption)}</caption>
<thead><tr>${head.map((title) => `<th scope="col">${escaped(title)}</th>`).join("")}</tr></thead>
<tbody>
${rows.map(([name = "", ...cells]) => `<tr><th scope="row">${name}</th>${cells.map((cell) => `<td>${cell}</td>`).join("")}</tr>`).join("\n")}
</tbody>
</table>`

/** `body` is HTML: whatever comes from a request or the database must be escaped in it. Only a page with a form may send one. */
export const page = (status: number, title: string, body: string) =>
  HttpServerResponse.text(
    `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escaped(title)}</title>
<style>${look}
</style>
</head>
<body>
<header><a href="/">Rungate</a><nav aria-label="Service"><a href="/docs">Docs</a><a href="/docs/api">API reference</a></nav></header>
<main>
<h1>${escaped(title)}</h1>
${body}
</main>
</body>
</html>
`,
    { status, contentType: "text/html; charset=utf-8", headers: headersOf(body) }
  )
