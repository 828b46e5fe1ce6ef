/**
 * `bun scripts/bundle.ts`: what clients use of `rungate`, as one file with its bytecode, dist/cli/rungate.js.
 *
 * Loading some 300 modules is two thirds of a command's time, so the command starts from here (scripts/rungate); it is made when it is
 * missing or older than the sources, and comes with the package. What operators use needs files of the package and stays in src.
 */
import { mkdirSync, mkdtempSync, renameSync, rmSync, statSync, utimesSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import type { BunPlugin } from "bun"

const root = join(import.meta.dir, "..")
export const bundled = join(root, "dist", "cli", "rungate.js")
/** What it is made of. */
const sources = ["src", "package.json", "package-lock.json", "node_modules/.package-lock.json"]

/** The operators' commands are listed, helped and completed; scripts/rungate starts them from the sources. */
const withoutOperators: BunPlugin = {
  name: "without operators",
  setup: (build) => {
    build.onLoad(
      {
        filter:
          /[/\\]src[/\\](serve|http[/\\]operator[/\\](operations|migrate|admin|show|losses|unknown|resources))\.ts$/
      },
      () => ({
        contents: 'throw new Error("This command runs from the package: rungate, or node scripts/rungate.mjs")',
        loader: "js"
      })
    )
  }
}

/** Makes the file. A command that starts meanwhile has the old one or the new one, and bytecode that is not the file's is not used. */
export const bundle = async (file = bundled): Promise<void> => {
  const folder = join(file, "..")
  mkdirSync(folder, { recursive: true })
  const draft = mkdtempSync(join(folder, ".draft-"))
  try {
    const began = new Date()
    await Bun.build({
      entrypoints: [join(root, "src", "main.ts")],
      outdir: draft,
      naming: "rungate.js",
      target: "bun",
      format: "cjs",
      bytecode: true,
      minify: true,
      // CommonJS knows no import.meta, which the sources ask for their folder.
      define: { "import.meta": "globalThis" },
      plugins: [withoutOperators]
    })
    // What changes while it is made is newer than it.
    utimesSync(join(draft, "rungate.js"), began, began)
    renameSync(join(draft, "rungate.js.jsc"), `${file}.jsc`)
    renameSync(join(draft, "rungate.js"), file)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
}

const changedMillis = (path: string) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0

/** A package among others came with the file, and the dates of its files are those of its unpacking. */
const installedByOthers = basename(dirname(root)) === "node_modules"

/** Whether the file is there and no source is newer. */
export const isFresh = (): boolean => {
  const made = changedMillis(bundled)
  if (installedByOthers) return made > 0
  return (
    made > 0 &&
    sources.every((source) => changedMillis(join(root, source)) <= made) &&
    Array.from(new Bun.Glob("src/**").scanSync({ cwd: root, onlyFiles: false })).every(
      (path) => changedMillis(join(root, path)) <= made
    )
  )
}

if (import.meta.main) await bundle()
