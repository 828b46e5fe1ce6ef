/**
 * Builds the web console and the docs into dist/console: bundles with hashed names, their compressed forms, and manifest.json, which the service reads.
 *
 * The manifest is written last and in one step, and names never change their content. So a service that reads the folder meanwhile finds
 * either the old console or the new one.
 */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { brotliCompressSync, constants, gzipSync } from "node:zlib"
import { compile } from "tailwindcss"
import { pages } from "../src/http/console/pages.ts"
import { renderDocs } from "./docs.ts"

const root = join(import.meta.dir, "..")
const source = join(root, "src", "http", "console")
export const consoleFolder = join(root, "dist", "console")
export const consoleManifest = join(consoleFolder, "manifest.json")

/** A style sheet of a package that ours imports. */
const stylesheetOf = (id: string) => join(root, "node_modules", id === "tailwindcss" ? "tailwindcss/index.css" : id)

/** The files whose words may be names of utilities. */
const sources = {
  console: ["src/http/console/**/*.{ts,tsx}"],
  docs: ["src/http/console/docs/*.ts", "scripts/docs.ts"]
} as const

/** Everything in the sources that could be the name of a utility. What is none, Tailwind leaves out. */
const candidates = (part: keyof typeof sources): Array<string> => {
  const paths = sources[part].flatMap((glob) => Array.from(new Bun.Glob(glob).scanSync(root)))
  const texts = paths.map((path) => readFileSync(join(root, path), "utf8"))
  return [...new Set(texts.flatMap((text) => text.split(/["'`\s]+/)))]
}

/** Utilities that the sources use, and the tokens, as one small file. The docs have rules of their own for the HTML of Markdown. */
const styles = async (part: keyof typeof sources): Promise<string> => {
  const own = part === "docs" ? readFileSync(join(source, "docs", "docs.css"), "utf8") : ""
  const css = `${readFileSync(join(source, "look", "style.css"), "utf8")}\n${own}`
  const { build } = await compile(css, {
    base: root,
    loadStylesheet: async (id) => {
      const path = stylesheetOf(id)
      return { path, base: root, content: readFileSync(path, "utf8") }
    }
  })
  const draft = join(mkdtempSync(join(tmpdir(), "rungate-console-")), "style.css")
  try {
    writeFileSync(draft, build(candidates(part)))
    const { outputs } = await Bun.build({ entrypoints: [draft], minify: true, target: "browser" })
    return (await outputs[0]?.text()) ?? ""
  } finally {
    rmSync(dirname(draft), { recursive: true, force: true })
  }
}

interface Made {
  readonly name: string
  readonly bytes: Uint8Array
}

const hashOf = (bytes: Uint8Array | string) => Bun.hash(bytes).toString(36).slice(0, 8)
const named = (name: string, type: string, text: string): Made => ({
  name: `${name}-${hashOf(text)}.${type}`,
  bytes: new TextEncoder().encode(text)
})

interface Bundles {
  readonly entry: string
  readonly theme: string
  readonly docs: string
  readonly files: Array<Made>
}

const bundles = async (): Promise<Bundles> => {
  const build = await Bun.build({
    entrypoints: [join(source, "main.tsx"), join(source, "look", "theme.ts"), join(source, "docs", "docs.ts")],
    target: "browser",
    format: "esm",
    splitting: true,
    minify: true,
    naming: { entry: "[name]-[hash].[ext]", chunk: "part-[hash].[ext]" },
    define: { "process.env.NODE_ENV": '"production"' }
  })
  const files = await Promise.all(
    build.outputs.map(async (one) => ({
      name: one.path.replace(/^\.\//, ""),
      bytes: new Uint8Array(await one.arrayBuffer())
    }))
  )
  const entries = build.outputs
    .filter(({ kind }) => kind === "entry-point")
    .map(({ path }) => path.replace(/^\.\//, ""))
  const entryOf = (name: string) => entries.find((one) => one.startsWith(`${name}-`)) ?? ""
  return { entry: entryOf("main"), theme: entryOf("theme"), docs: entryOf("docs"), files }
}

/** Files that a bundle imports before it runs, also through others. */
const importsOf = (name: string, files: ReadonlyArray<Made>): ReadonlyArray<string> => {
  const seen = new Set<string>()
  const visit = (one: string) => {
    const text = new TextDecoder().decode(files.find((file) => file.name === one)?.bytes)
    for (const [, path = ""] of text.matchAll(/(?:from|import)\s*"\.\/([^"]+\.js)"/g)) {
      if (seen.has(path) || !files.some((file) => file.name === path)) continue
      seen.add(path)
      visit(path)
    }
  }
  visit(name)
  return [...seen]
}

/** The page that every address of the console answers. Nothing in it is inline, so the Content-Security-Policy can forbid that. */
const shell = (entry: string, theme: string, css: string, preloads: ReadonlyArray<string>) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Rungate</title>
<link rel="icon" href="/console/${iconName}" type="image/svg+xml">
<link rel="stylesheet" href="/console/${css}">
<script src="/console/${theme}"></script>
${preloads.map((name) => `<link rel="modulepreload" href="/console/${name}">`).join("\n")}
<script type="module" src="/console/${entry}"></script>
</head>
<body>
<div id="root"></div>
<noscript><p>The console needs JavaScript. Everything that it does is also in the <a href="/docs">API</a> and in the command <code>rungate</code>.</p></noscript>
</body>
</html>
`

const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#4f46e5"/><path d="M10 23V9h8a4.5 4.5 0 0 1 1 8.9L23 23M10 18h7" fill="none" stroke="#fff" stroke-width="2.6" stroke-linecap="round" stroke-linejoin="round"/></svg>`
const iconName = `icon-${hashOf(icon)}.svg`

/** An address of the console as a regular expression: `/runs/$run_id` matches one segment, and a final `$` the rest. */
const patternOf = (path: string) =>
  `^${path
    .replace(/\/\$$/, "/.+")
    .replace(/\$[a-z_]+/g, "[^/]+")
    .replaceAll(".", "\\.")
    .replaceAll("/\\.+", "/.+")}/?$`

const compressed = ({ name, bytes }: Made): ReadonlyArray<Made> => [
  { name, bytes },
  { name: `${name}.gz`, bytes: gzipSync(bytes, { level: 9 }) },
  {
    name: `${name}.br`,
    bytes: brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } })
  }
]

/** Makes the console. Returns the compressed bytes of everything that the first page loads. */
export const buildConsole = async (folder = consoleFolder): Promise<number> => {
  const began = new Date()
  mkdirSync(folder, { recursive: true })
  const [css, docsCss, { entry, theme, docs, files }] = await Promise.all([
    styles("console"),
    styles("docs"),
    bundles()
  ])
  const style = named("style", "css", css)
  const docsStyle = named("docs", "css", docsCss)
  const { sections, pagesWith } = renderDocs()
  const words = named("sections", "json", sections)
  const preloads = importsOf(entry, files)
  const bytesOf = (text: string) => new TextEncoder().encode(text)
  const assets = [...files, style, docsStyle, words, { name: iconName, bytes: bytesOf(icon) }]
  const html: Made = { name: "shell.html", bytes: bytesOf(shell(entry, theme, style.name, preloads)) }
  const guides = Array.from(
    pagesWith({ style: docsStyle.name, theme, script: docs, icon: iconName, sections: words.name }),
    ([path, text]) => ({ path, name: `${path.slice(1).replaceAll("/", "-")}.html`, bytes: bytesOf(text) })
  )
  const all = [...assets, html, ...guides].flatMap(compressed)
  for (const { name, bytes } of all) writeFileSync(join(folder, name), bytes)
  const first = [html.name, entry, theme, style.name, ...preloads]
  const bytesFirst = first.reduce(
    (sum, name) => sum + (all.find((one) => one.name === `${name}.br`)?.bytes.length ?? 0),
    0
  )
  const manifest = {
    assets: assets.map(({ name }) => name),
    first,
    first_load_bytes: bytesFirst,
    routes: pages.map(({ path }) => patternOf(path)),
    docs: Object.fromEntries(guides.map(({ path, name }) => [path, name]))
  }
  const draft = join(folder, `.manifest-${process.pid}.json`)
  writeFileSync(draft, JSON.stringify(manifest, null, 1))
  // What changes while it is made is newer than it.
  utimesSync(draft, began, began)
  renameSync(draft, join(folder, "manifest.json"))
  const current = new Set([...all.map(({ name }) => name), "manifest.json"])
  for (const name of readdirSync(folder))
    if (!current.has(name) && !name.startsWith(".")) rmSync(join(folder, name), { force: true })
  return bytesFirst
}

if (import.meta.main) {
  const start = performance.now()
  const bytes = await buildConsole()
  console.log(
    `console: first load ${(bytes / 1_000).toFixed(1)} kB compressed, built in ${Math.round(performance.now() - start)} ms`
  )
}
