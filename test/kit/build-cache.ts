/**
 * What takes seconds to make from the sources, made once for one state of them and kept below .scratch for the next run.
 *
 * Whichever test process asks first makes it; the others wait. `use` runs under the same lock, so nobody removes the folder meanwhile.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs"
import { join } from "node:path"
import { takeLock } from "../../src/layers/postgres/embedded/EmbeddedPostgresFiles.ts"

const root = join(import.meta.dir, "..", "..")
export const scratch = join(root, ".scratch")
/** Making one takes up to ten seconds on an idle machine. */
const waitMillisMax = 120_000

/** The same for the same files and Bun. */
export const keyOf = (files: ReadonlyArray<string>): string => {
  const hash = new Bun.CryptoHasher("sha256").update(Bun.version)
  for (const path of files.toSorted()) hash.update(path).update(readFileSync(join(root, path)))
  return hash.digest("hex").slice(0, 16)
}

export const filesUnder = (pattern: string): ReadonlyArray<string> =>
  Array.from(new Bun.Glob(pattern).scanSync({ cwd: root, onlyFiles: true }))

export const keptFolder = async <A>(
  name: string,
  files: () => ReadonlyArray<string>,
  make: (folder: string) => Promise<void>,
  use: (folder: string) => A
): Promise<A> => {
  const kept = join(scratch, name)
  mkdirSync(kept, { recursive: true })
  for (const end = performance.now() + waitMillisMax; performance.now() < end; await Bun.sleep(50)) {
    const lock = takeLock(join(kept, "lock"))
    if (lock === undefined) continue
    try {
      const key = keyOf(files())
      const folders = () => readdirSync(kept, { withFileTypes: true }).filter((entry) => entry.isDirectory())
      if (!folders().some((entry) => entry.name === key)) {
        const draft = mkdtempSync(join(kept, "draft-"))
        await make(draft)
        renameSync(draft, join(kept, key))
      }
      // A hundred megabytes for each state that the sources ever had would fill the disk.
      for (const entry of folders())
        if (entry.name !== key) rmSync(join(kept, entry.name), { recursive: true, force: true })
      return use(join(kept, key))
    } finally {
      lock.close()
    }
  }
  throw new Error(`another process makes ${kept} and does not end`)
}
