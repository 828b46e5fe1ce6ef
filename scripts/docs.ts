/**
 * The guides for people: each page of docs/*.md as a static page below /docs, with the sections that its search reads. scripts/console.ts
 * writes them beside the console, with the same policy: nothing in them is inline.
 *
 * Bun's own Markdown parser renders them. A page of docs/ that `groups` does not name, a link to no page and one to no heading fail the build.
 */
import { dirname, join } from "node:path"
import type { Section } from "../src/http/console/docs/docs.ts"
import { type DocPage, docPages } from "../src/http/pages/Docs.ts"
import { escaped } from "../src/http/pages/Page.ts"

/** The order in which one reads them. Pages in a folder, such as decisions/runs.md, follow the page of that name. */
const groups = {
  Start: ["quickstart", "concepts"],
  "Call it": ["api", "errors", "cli", "client", "agents", "mcp"],
  "Money and proofs": ["allowances", "own-accounts", "receipts", "warranty"],
  "Run it for others": [
    "operate",
    "payments",
    "providers",
    "security",
    "scaling",
    "cells",
    "database-roles",
    "runbooks"
  ],
  "How it is made": ["architecture", "decisions", "reliability", "benchmarks", "benchmarks-history", "releasing"]
} as const

export const docsPath = "/docs"
export const referencePath = "/docs/api"

/** Where a page is. The reference has the address of the page `api`. */
const addressOf = (name: string) => `${docsPath}/${name === "api" ? "http-api" : name}`

interface Heading {
  readonly level: number
  readonly id: string
  readonly text: string
}

interface Rendered {
  readonly name: string
  readonly title: string
  readonly about: string
  readonly html: string
  readonly headings: ReadonlyArray<Heading>
  readonly sections: ReadonlyArray<Section>
}

/** What the HTML says, as text. */
const words = (html: string) =>
  html
    .replace(/<[^>]+>/g, " ")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&")
    .replace(/\s+/g, " ")
    .trim()

/** Another page's address for a link to its file. Null for a file of the project that is no page. */
const targetOf = (from: string, href: string): string | null => {
  if (/^[a-z]+:|^#/.test(href)) return href
  const path = join(dirname(from), href)
  const [, name, anchor = ""] = /^([a-z-]+(?:\/[a-z-]+)?)\.md(#.*)?$/.exec(path) ?? []
  if (name !== undefined) return `${addressOf(name)}${anchor}`
  return path.startsWith("../") ? null : `${docsPath}/${path}`
}

/** Comments of a shell are dimmed. */
const shellComments = (code: string) => code.replace(/(^| {2,})(# .*)$/gm, '$1<span class="text-muted">$2</span>')

const render = ({ path, title, about, text }: DocPage): Rendered => {
  const name = path.replace(/\.md$/, "")
  const plain = Bun.markdown
    .html(text.replace(/<!--[^]*?-->/g, ""), { headings: { ids: true } })
    .replace(/<pre><code class="language-sh[^"]*">([^]*?)<\/code>/g, (all, code: string) =>
      all.replace(code, () => shellComments(code))
    )
  const parts = plain.split(/(?=<h[1-6] id=)/)
  const headings = parts.flatMap((part): ReadonlyArray<Heading> => {
    const [, level, id, inner] = /^<h([1-6]) id="([^"]*)">([^]*?)<\/h/.exec(part) ?? []
    return id === undefined ? [] : [{ level: Number(level), id, text: words(inner ?? "") }]
  })
  const sections = parts.flatMap((part): ReadonlyArray<Section> => {
    const [heading, id, inner] = /^<h[1-6] id="([^"]*)">([^]*?)<\/h[1-6]>/.exec(part) ?? []
    if (heading === undefined) return []
    const isPage = id === headings[0]?.id
    const address = `${addressOf(name)}${isPage ? "" : `#${id}`}`
    return [{ id: address, page: title, heading: words(inner ?? ""), text: words(part.slice(heading.length)) }]
  })
  const html = new HTMLRewriter()
    .on("a[href]", {
      element: (link) => {
        const target = targetOf(path, link.getAttribute("href") ?? "")
        if (target === null) link.removeAndKeepContent()
        else link.setAttribute("href", target)
      }
    })
    .on("h2, h3, h4", {
      element: (heading) => {
        const id = heading.getAttribute("id") ?? ""
        const label = headings.find((one) => one.id === id)?.text ?? ""
        heading.setAttribute("class", "group")
        const look = "ml-1.5 text-muted no-underline opacity-0 group-hover:opacity-100 focus-visible:opacity-100"
        heading.append(` <a class="${look}" href="#${id}" aria-label="Link to: ${escaped(label)}">#</a>`, {
          html: true
        })
      }
    })
    .on("pre", {
      element: (block) => {
        block
          .before('<div class="code relative">', { html: true })
          .after("</div>", { html: true })
          .setAttribute("tabindex", "0")
      }
    })
    .on("table", {
      element: (table) => {
        table.before('<div class="columns-scroll overflow-x-auto" tabindex="0" role="group" aria-label="Table">', {
          html: true
        })
        table.after("</div>", { html: true })
      }
    })
    .transform(plain)
  return { name, title, about, html, headings, sections }
}

const childrenOf = (pages: ReadonlyArray<Rendered>, parent: string) =>
  pages.filter(({ name }) => name.startsWith(`${parent}/`))

const checked = (pages: ReadonlyArray<Rendered>) => {
  const ordered = Object.values(groups)
    .flat()
    .flatMap((name) => [name, ...childrenOf(pages, name).map((one) => one.name)])
  const missing = pages.map(({ name }) => name).filter((name) => !ordered.includes(name))
  if (missing.length > 0) throw new Error(`docs/${missing[0]}.md is in no group of scripts/docs.ts`)
  const anchors = new Set(
    pages.flatMap(({ name, headings }) => [addressOf(name), ...headings.map(({ id }) => `${addressOf(name)}#${id}`)])
  )
  for (const { name, html } of pages)
    for (const [, href = ""] of html.matchAll(/<a href="([^"]+)"/g)) {
      const target = href.startsWith("#") ? `${addressOf(name)}${href}` : href
      if (target.startsWith(`${docsPath}/`) && !target.endsWith(".md") && !anchors.has(target))
        throw new Error(`docs/${name}.md links to ${href}, which is no heading of a page`)
    }
  return ordered.flatMap((name) => pages.find((one) => one.name === name) ?? [])
}

/** Names of the built files that a page loads. */
export interface DocsFiles {
  readonly style: string
  readonly theme: string
  readonly script: string
  readonly icon: string
  readonly sections: string
}

const current = (isCurrent: boolean) => (isCurrent ? ' aria-current="page"' : "")
const linkTo = ({ name, title }: Rendered, shown?: Rendered) =>
  `<a href="${addressOf(name)}"${current(name === shown?.name)}>${escaped(title)}</a>`

const pageList = (pages: ReadonlyArray<Rendered>, shown?: Rendered) =>
  Object.entries(groups)
    .map(([title, names]) => {
      const items = names.flatMap((name) => pages.find((one) => one.name === name) ?? [])
      const links = items.map((page) => {
        const isOpen = shown?.name.split("/")[0] === page.name
        const inside = isOpen ? childrenOf(pages, page.name).map((one) => `<li>${linkTo(one, shown)}</li>`) : []
        return `<li>${linkTo(page, shown)}${inside.length === 0 ? "" : `<ul class="mb-0 pl-3">${inside.join("\n")}</ul>`}</li>`
      })
      const reference = title === "Call it" ? [`<li><a href="${referencePath}">API reference</a></li>`] : []
      return `<p>${title}</p>\n<ul>\n${[...links, ...reference].join("\n")}\n</ul>`
    })
    .join("\n")

/** Of the pages on the left, and of the headings on the right. */
const sideLook =
  "sticky top-[3.6rem] max-h-[calc(100dvh-3.6rem)] self-start overflow-y-auto py-6 text-[0.875rem] leading-[1.4]"

const contents = ({ headings }: Rendered) => {
  const shown = headings.filter(({ level }) => level === 2 || level === 3)
  if (shown.length < 2) return ""
  const items = shown.map(
    ({ level, id, text }) => `<li${level === 3 ? ' class="my-0 pl-3"' : ""}><a href="#${id}">${escaped(text)}</a></li>`
  )
  return `<nav class="${sideLook} text-muted max-[75rem]:hidden" aria-label="On this page">\n<p class="text-text">On this page</p>\n<ul>\n${items.join("\n")}\n</ul>\n</nav>`
}

const frame = (files: DocsFiles, pages: ReadonlyArray<Rendered>, shown: Rendered | undefined, content: string) => {
  const side = shown === undefined ? "" : contents(shown)
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${shown === undefined ? "Rungate docs" : `${escaped(shown.title)} | Rungate docs`}</title>
<meta name="description" content="${escaped(shown?.about ?? "Guides and reference of Rungate.")}">
<link rel="icon" href="/console/${files.icon}" type="image/svg+xml">
<link rel="stylesheet" href="/console/${files.style}">
${shown === undefined ? '<link rel="alternate" type="text/plain" href="/llms.txt">' : `<link rel="alternate" type="text/markdown" href="${docsPath}/${shown.name}.md">`}
<script src="/console/${files.theme}"></script>
<script type="module" src="/console/${files.script}"></script>
</head>
<body>
<header class="sticky top-0 z-10 flex flex-wrap items-center gap-x-6 gap-y-2 border-b border-line bg-page px-5 py-[0.6rem] text-[0.9rem]">
<a class="flex items-center gap-2 font-semibold" href="/"><img src="/console/${files.icon}" width="20" height="20" alt="">Rungate</a>
<nav class="flex items-center gap-4" aria-label="Site">
<a href="${docsPath}"${current(shown === undefined)}>Docs</a>
<a href="${referencePath}">API reference</a>
<a href="/">Console</a>
</nav>
<div id="tools" class="ml-auto flex items-center gap-4 max-[50rem]:w-full max-[50rem]:justify-between" data-sections="/console/${files.sections}"></div>
</header>
<div class="grid justify-center gap-10 px-5 max-[75rem]:grid-cols-[14rem_minmax(0,1fr)] max-[50rem]:block ${side === "" ? "grid-cols-[15rem_minmax(0,61.5rem)]" : "grid-cols-[15rem_minmax(0,46rem)_13rem]"}">
<nav class="${sideLook} max-[50rem]:hidden" aria-label="Pages">
${pageList(pages, shown)}
</nav>
<main class="pt-6 pb-16">
<details class="mt-4 rounded border border-line px-3 py-2 min-[50.01rem]:hidden">
<summary>All pages</summary>
<nav aria-label="All pages">
${pageList(pages, shown)}
</nav>
</details>
${content}
</main>
${side}
</div>
</body>
</html>
`
}

const around = (pages: ReadonlyArray<Rendered>, page: Rendered) => {
  const at = pages.indexOf(page)
  const [before, after] = [pages[at - 1], pages[at + 1]]
  return `<p class="flex flex-wrap justify-between gap-x-6 gap-y-2 border-t border-line pt-4">
<span>${before === undefined ? "" : `Before: ${linkTo(before)}`}</span>
<a href="${docsPath}/${page.name}.md">This page as Markdown</a>
<span>${after === undefined ? "" : `Next: ${linkTo(after)}`}</span>
</p>`
}

const index = (pages: ReadonlyArray<Rendered>) => `<h1>Docs</h1>
<p>One API and one prepaid wallet for data and outreach providers, on your own server. Begin with the <a href="${addressOf("quickstart")}">quickstart</a>.
Agents read the same pages as Markdown: <a href="/llms.txt">/llms.txt</a> lists them.</p>
${Object.entries(groups)
  .map(
    ([title, names]) => `<h2>${title}</h2>
<ul>
${names
  .flatMap((name) => pages.find((one) => one.name === name) ?? [])
  .map((page) => `<li>${linkTo(page)}<br><span class="text-muted">${escaped(page.about)}</span></li>`)
  .join("\n")}
</ul>`
  )
  .join("\n")}`

/** The text that the search reads, and each page by its address once the names of its files are known. */
export const renderDocs = (folder = join(import.meta.dir, "..", "docs")) => {
  const pages = checked(docPages(folder).flatMap((page) => (page.path.startsWith("skill/") ? [] : [render(page)])))
  return {
    sections: JSON.stringify(pages.flatMap(({ sections }) => sections)),
    pagesWith: (files: DocsFiles): ReadonlyMap<string, string> =>
      new Map([
        [docsPath, frame(files, pages, undefined, index(pages))],
        ...pages.map((page): readonly [string, string] => [
          addressOf(page.name),
          frame(files, pages, page, `<article>\n${page.html}\n${around(pages, page)}\n</article>`)
        ])
      ])
  }
}
