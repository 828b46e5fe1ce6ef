/**
 * `rungate` as the one file that starts a user's service (scripts/bundle.ts), for tests that start processes of the service.
 *
 * Loading the sources module by module is a third of what a start costs. All test processes have the same file, which is made once for each
 * state of the sources. Each has a name of its own for it, so nobody removes it from under a running test.
 */
import { linkSync, mkdtempSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { filesUnder, keptFolder, scratch } from "./build-cache.ts"
import { afterwards, once } from "./process-end.ts"

const script = join(import.meta.dir, "..", "..", "scripts", "bundle.ts")
const sources = () => [
  ...filesUnder("{src,docs}/**"),
  "scripts/bundle.ts",
  "scripts/bundled.ts",
  "package.json",
  "package-lock.json"
]

/** In a process of its own, because a build leaves a lot of memory behind. */
const build = async (folder: string) => {
  const program = `const { bundle } = await import(${JSON.stringify(script)}); await bundle("service", ${JSON.stringify(join(folder, "rungate.js"))})`
  const child = Bun.spawn([process.execPath, "-e", program], { stdout: "ignore", stderr: "pipe" })
  const [err, code] = await Promise.all([new Response(child.stderr).text(), child.exited])
  if (code !== 0) throw new Error(`scripts/bundle.ts ended with ${code}: ${err}`)
}

const make = () =>
  keptFolder("service", sources, build, (folder) => {
    const own = mkdtempSync(join(scratch, "service-"))
    afterwards('rm -rf "$1"', own)
    for (const name of readdirSync(folder)) linkSync(join(folder, name), join(own, name))
    return join(own, "rungate.js")
  })

/** The path of the file. */
export const serviceFile = (): Promise<string> => once("service-file", make)
