/**
 * `rungate` as one file, compiled as users have it (scripts/compile.ts), for tests that start it hundreds of times: it starts in a fifth of
 * the time that the sources take.
 *
 * Each process has a name of its own for the file, so nobody removes it from under a running test.
 */
import { linkSync, mkdtempSync } from "node:fs"
import { join } from "node:path"
import { filesUnder, keptFolder, scratch } from "./build-cache.ts"
import { afterwards, once } from "./process-end.ts"

const script = join(import.meta.dir, "..", "..", "scripts", "compile.ts")
const sources = () => [...filesUnder("src/**/*.{ts,sql}"), "scripts/compile.ts", "package.json", "package-lock.json"]

const compile = async (folder: string) => {
  const child = Bun.spawn([process.execPath, script, "", folder], { stdout: "pipe", stderr: "pipe" })
  const [err, code] = await Promise.all([new Response(child.stderr).text(), child.exited])
  if (code !== 0 || err !== "") throw new Error(`scripts/compile.ts ended with ${code}: ${err}`)
}

const make = () =>
  keptFolder("command", sources, compile, (folder) => {
    const own = mkdtempSync(join(scratch, "rungate-"))
    afterwards('rm -rf "$1"', own)
    const command = join(own, "rungate")
    linkSync(join(folder, "rungate"), command)
    return command
  })

/** The path of the compiled command. */
export const compiledCommand = (): Promise<string> => once("command", make)
