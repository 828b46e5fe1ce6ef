/**
 * `rungate` as one file, compiled as users have it (scripts/compile.ts), for tests that start it hundreds of times: it starts in a fifth of
 * the time that the sources take.
 *
 * Made once for one state of the sources, whichever process asks first, and kept for the next run. Each process has a name of its own for
 * the file, so nobody removes it from under a running test.
 */
import { linkSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs"
import { join } from "node:path"
import { takeLock } from "../src/layers/postgres/embedded/EmbeddedPostgresFiles.ts"
import { afterwards, once } from "./undertaker.ts"

const root = join(import.meta.dir, "..")
const scratch = join(root, ".scratch")
const kept = join(scratch, "command")
/** Compiling takes two or three seconds; somebody else's is waited for. */
const waitMillisMax = 60_000

/** The same for the same sources, packages and Bun. */
const keyOfSources = () => {
  const hash = new Bun.CryptoHasher("sha256").update(Bun.version)
  const sources = Array.from(new Bun.Glob("src/**/*.ts").scanSync(root)).sort()
  for (const path of [...sources, "scripts/compile.ts", "package.json", "package-lock.json"]) {
    hash.update(path).update(readFileSync(join(root, path)))
  }
  return hash.digest("hex").slice(0, 16)
}

const compile = async (key: string) => {
  const folder = mkdtempSync(join(kept, "draft-"))
  const child = Bun.spawn([process.execPath, join(root, "scripts", "compile.ts"), "", folder], {
    stdout: "pipe",
    stderr: "pipe"
  })
  const [err, code] = await Promise.all([new Response(child.stderr).text(), child.exited])
  if (code !== 0 || err !== "") throw new Error(`scripts/compile.ts ended with ${code}: ${err}`)
  renameSync(folder, join(kept, key))
}

const make = async () => {
  mkdirSync(kept, { recursive: true })
  const own = mkdtempSync(join(scratch, "rungate-"))
  afterwards('rm -rf "$1"', own)
  const command = join(own, "rungate")
  for (const end = performance.now() + waitMillisMax; performance.now() < end; await Bun.sleep(50)) {
    const lock = takeLock(join(kept, "lock"))
    if (lock === undefined) continue
    try {
      const key = keyOfSources()
      const entries = readdirSync(kept, { withFileTypes: true }).filter((entry) => entry.isDirectory())
      if (!entries.some(({ name }) => name === key)) await compile(key)
      // A hundred megabytes for each state that the sources ever had would fill the disk.
      for (const { name } of entries) if (name !== key) rmSync(join(kept, name), { recursive: true, force: true })
      linkSync(join(kept, key, "rungate"), command)
      return command
    } finally {
      lock.close()
    }
  }
  throw new Error(`another process compiles ${kept} and does not end`)
}

/** The path of the compiled command. */
export const compiledCommand = (): Promise<string> => once("command", make)
