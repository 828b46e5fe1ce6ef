/** The modules of the Python client that are generated from the contract are in the repository, so that a checkout can be imported. */
import { expect, test } from "bun:test"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { writeGenerated } from "../scripts/packages/python.ts"

test("they are those of this contract and version; to renew them: npx bun scripts/packages/python.ts", () => {
  const folder = mkdtempSync(join(tmpdir(), "rungate-python-"))
  try {
    writeGenerated(folder)
    const names = readdirSync(folder).sort()
    expect(names).toEqual(["_version.py", "api.py", "types.py"])
    const stored = join(import.meta.dir, "..", "packages", "python", "rungate")
    const outdated = names.filter((name) => {
      return readFileSync(join(folder, name), "utf8") !== readFileSync(join(stored, name), "utf8")
    })
    expect(outdated).toEqual([])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
