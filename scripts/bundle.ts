/**
 * `bun scripts/bundle.ts`: `rungate` as two files with their bytecode: dist/cli/rungate.js for clients, dist/service/rungate.js for operators and
 * the service itself. And dist/console, the web console that the service serves (console.ts).
 *
 * Loading the modules one by one is two thirds of a client's command and half of the service's start, so both start from here
 * (scripts/rungate). A file is made when it is missing or older than the sources, and comes with the package.
 */
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import type { BunPlugin } from "bun"

export type Kind = "cli" | "service"
/** What is built for a start. */
type Part = Kind | "console"

const root = join(import.meta.dir, "..")
export const bundled = (kind: Kind) => join(root, "dist", kind, "rungate.js")
/** The file of a part that is written last. */
const made = (part: Part) => (part === "console" ? join(root, "dist", part, "manifest.json") : bundled(part))
/** What they are made of. */
const sources = ["src", "scripts", "docs", "package.json", "package-lock.json", "node_modules/.package-lock.json"]

/** The client's file lists, explains and completes the operators' commands; scripts/rungate starts them from the other file. */
const withoutOperators: BunPlugin = {
  name: "without operators",
  setup: (build) => {
    build.onLoad(
      {
        filter:
          /[/\\]src[/\\](serve|http[/\\](operator[/\\](InProcess|resources)|upkeep[/\\](audit|backup|catalog|migrate|move|moveCell|reindex|reload)))\.ts$/
      },
      () => ({
        contents: 'throw new Error("This command runs from the package: rungate, or node scripts/rungate.mjs")',
        loader: "js"
      })
    )
  }
}

/** Logs of the service name places in the sources. Without their text, the map is a sixth as large. */
const writeMap = (draft: string, file: string) => {
  const map: { readonly sources: ReadonlyArray<string> } = JSON.parse(readFileSync(draft, "utf8"))
  // The draft's folder is one level deeper.
  const sources = map.sources.map((path) => path.replace("../", ""))
  writeFileSync(draft, JSON.stringify({ ...map, sources, sourcesContent: sources.map(() => ""), names: [] }))
  renameSync(draft, file)
}

/** Makes a file. A command that starts meanwhile has the old one or the new one, and bytecode that is not the file's is not used. */
export const bundle = async (kind: Kind, file = bundled(kind)): Promise<void> => {
  const folder = join(file, "..")
  mkdirSync(folder, { recursive: true })
  const draft = mkdtempSync(join(folder, ".draft-"))
  try {
    const began = new Date()
    await Bun.build({
      entrypoints: [kind === "cli" ? join(root, "src", "main.ts") : join(import.meta.dir, "bundled.ts")],
      outdir: draft,
      naming: "rungate.js",
      target: "bun",
      format: "cjs",
      bytecode: true,
      ...(kind === "cli"
        ? { minify: true, plugins: [withoutOperators] }
        : { minify: { whitespace: true, syntax: true }, sourcemap: "linked" }),
      // CommonJS knows no import.meta. The sources ask it for their folder, from which the service finds the package's other files.
      banner: `const ownFolder = __dirname; ${kind === "cli" ? "" : "Error.stackTraceLimit = 0;"}`,
      define: { "import.meta.dir": "ownFolder", "import.meta": "globalThis" }
    })
    // What changes while it is made is newer than it.
    utimesSync(join(draft, "rungate.js"), began, began)
    if (kind === "service") writeMap(join(draft, "rungate.js.map"), `${file}.map`)
    renameSync(join(draft, "rungate.js.jsc"), `${file}.jsc`)
    renameSync(join(draft, "rungate.js"), file)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

const changedMillis = (path: string) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0

/** A package among others came with the files, and the dates of its files are those of its unpacking. */
const installedByOthers = basename(dirname(root)) === "node_modules"

/** Whether the file is there and no source is newer. */
const isFresh = (part: Part): boolean => {
  const madeAt = changedMillis(made(part))
  if (installedByOthers) return madeAt > 0
  return (
    madeAt > 0 &&
    sources.every((source) => changedMillis(join(root, source)) <= madeAt) &&
    Array.from(new Bun.Glob("{src,scripts,docs}/**").scanSync({ cwd: root, onlyFiles: false })).every(
      (path) => changedMillis(join(root, path)) <= madeAt
    )
  )
}

const progressMillis = 1_000

/** In a process of its own: what a build leaves in memory, a service would keep for weeks. */
const build = async (part: Part): Promise<boolean> => {
  const child = Bun.spawn([process.execPath, import.meta.path, part], { stdio: ["ignore", "ignore", "ignore"] })
  return (await child.exited) === 0
}

/** What to start: the file, made anew when the sources are newer; the sources themselves where that can't be done. */
export const startable = async (kind: Kind): Promise<string> => {
  const needed: ReadonlyArray<Part> = kind === "service" ? [kind, "console"] : [kind]
  const old = needed.filter((part) => !isFresh(part))
  if (old.length === 0) return bundled(kind)
  const progress = setTimeout(() => console.error("rungate: getting ready (once after each change)"), progressMillis)
  // A folder that this user may not write, or sources that somebody is just editing: those say themselves what is wrong.
  const built = await Promise.all(old.map(build))
  clearTimeout(progress)
  // The service runs without a console too, such as after `npm ci --omit=dev`, which leaves out what a console is made of.
  const isStartable = built[old.indexOf(kind)] ?? true
  return isStartable ? bundled(kind) : join(root, "src", "main.ts")
}

if (import.meta.main) {
  const wanted = process.argv.slice(2)
  for (const kind of ["cli", "service"] as const) if (wanted.length === 0 || wanted.includes(kind)) await bundle(kind)
  // Loaded here only, because a start of the service needs no compiler of styles.
  if (wanted.length === 0 || wanted.includes("console")) await (await import("./console.ts")).buildConsole()
}
