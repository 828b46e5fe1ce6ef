/**
 * The package's documentation for agents: `/llms.txt`, every page at `/docs/<page>.md`, and the skill at `/docs/skill/SKILL.md`. Browsers get
 * `/docs` and `/docs/<page>` as pages (scripts/docs.ts); programs get the list and the Markdown there too.
 *
 * The files are those of the package, read once at the first request. A request names one of them and no path, so it can read nothing else.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { packageFolder } from "../../layers/platform/packageFolder.ts"
import { addressOf, Settings } from "../../layers/platform/Settings.ts"
import { problem } from "../../schema/Errors.ts"
import { rateLimitedPage } from "../middleware/RequestChecks.ts"

const cacheSeconds = 300
const headers = { "cache-control": `public, max-age=${cacheSeconds}`, "x-content-type-options": "nosniff" }

/** Listed first, because agents need them most. */
const first = ["quickstart", "concepts", "mcp", "agents", "api", "errors"]
const skill = "skill/SKILL.md"

export interface DocPage {
  /** Below /docs/, such as `mcp.md`. */
  readonly path: string
  readonly title: string
  /** How the text below the title begins. */
  readonly about: string
  readonly text: string
}

/** Markdown as plain words: links without their addresses, no code marks, no emphasis. */
const plain = (text: string) => text.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/[`*]/g, "")

/** A shorter sentence needs the next one to say what a page is about. */
const aboutCharsMin = 40

/** The first sentence of a paragraph, and the next one after a short one. */
const beginningOf = (paragraph: string): string => {
  const sentences = paragraph.split(/(?<=[.:])\s/)
  const [one = "", two] = sentences
  return (one.length < aboutCharsMin && two !== undefined ? `${one} ${two}` : one).replace(/:$/, ".")
}

const pageOf = (path: string, text: string): DocPage => {
  const prose = text.replace(/^---\n[^]*?\n---\n/, "").replace(/<!--[^]*?-->/g, "")
  const title = /^# (.+)$/m.exec(prose)?.[1] ?? path
  const below = prose.slice(prose.indexOf(title) + title.length).trimStart()
  // A page may begin with its first heading.
  const paragraph = plain((below.split(/\n\n/)[0] ?? "").replace(/^#+ /, "").replaceAll("\n", " "))
  return { path, title: plain(title), about: beginningOf(paragraph), text }
}

const rankOf = ({ path }: DocPage) => {
  const at = first.indexOf(path.replace(/\.md$/, ""))
  return at < 0 ? first.length : at
}

/** Empty if the package has no docs, as in the command's one file. */
export const docPages = (folder: string): ReadonlyArray<DocPage> => {
  if (!existsSync(folder)) return []
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".md"))
  const pages = paths.sort().map((path) => pageOf(path, readFileSync(join(folder, path), "utf8")))
  return pages.toSorted((one, other) => rankOf(one) - rankOf(other))
}

/** The index of https://llmstxt.org. */
export const llmsText = (pages: ReadonlyArray<DocPage>, address: string): string => {
  const line = ({ path, title, about }: DocPage) => `- [${title}](${address}/docs/${path}): ${about}`
  return `# Rungate

> One API and one prepaid wallet for data and outreach providers. An agent finds a capability, sees its price, runs it with a cap, and pays for what was delivered.

Agents connect to ${address}/mcp (Model Context Protocol). A host with OAuth needs this address only. Others send the header Authorization: Bearer <API key>.

## API

- [OpenAPI document](${address}/openapi.json): every endpoint of the HTTP API, with examples.

## Skill

${pages
  .filter(({ path }) => path === skill)
  .map(line)
  .join("\n")}

## Docs

${pages
  .filter(({ path }) => path !== skill)
  .map(line)
  .join("\n")}
`
}

const unknownPage = problem("not_found", "There is no such page of the documentation. /llms.txt lists them all.")

const text = (body: string, contentType: string) => HttpServerResponse.text(body, { contentType, headers })

export const DocsRoutes = Layer.unwrap(
  Effect.gen(function* () {
    const address = addressOf(yield* Settings)
    // One answer for a page, so that its tag and its compressed forms are made once.
    const read = yield* Effect.cached(
      Effect.sync(() =>
        docPages(join(packageFolder, "docs")).map((page) => ({
          ...page,
          answer: text(page.text, "text/markdown; charset=utf-8")
        }))
      )
    )
    const pageAt = (path: string) =>
      Effect.map(read, (pages) => {
        const page = pages.find((one) => one.path === path || one.path === `${path}.md`)
        return page === undefined ? HttpServerResponse.jsonUnsafe(unknownPage, { status: 404 }) : page.answer
      })
    const index = yield* Effect.cached(
      Effect.map(read, (pages) => text(llmsText(pages, address), "text/plain; charset=utf-8"))
    )
    const named = Effect.flatMap(HttpRouter.params, ({ folder, page = "" }) =>
      pageAt(folder === undefined ? page : `${folder}/${page}`)
    )
    return Layer.mergeAll(
      HttpRouter.add("GET", "/llms.txt", rateLimitedPage(index)),
      HttpRouter.add("GET", "/docs", rateLimitedPage(index)),
      HttpRouter.add("GET", "/docs/:page", rateLimitedPage(named)),
      HttpRouter.add("GET", "/docs/:folder/:page", rateLimitedPage(named))
    )
  })
)
