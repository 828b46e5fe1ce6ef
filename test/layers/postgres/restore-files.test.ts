/** A restored file has the bytes of the backup, however they were cut into parts on the way. */
import { expect, test } from "bun:test"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { writeNew } from "../../../src/layers/postgres/embedded/backup/Restore.ts"

test("a file is written as its parts say, with small and large ones first", async () => {
  const folder = mkdtempSync(join(tmpdir(), "rungate-parts-"))
  const wrong: Array<string> = []
  try {
    for (let first = 1; first <= 8_192; first += 64)
      for (const second of [1, 1_024, 5_000, 16_384]) {
        const parts = [Buffer.alloc(first, "a"), Buffer.alloc(second, "b")]
        const path = join(folder, `${first}-${second}`)
        const given = async function* () {
          yield* parts
        }
        await writeNew(path, given())
        if (!readFileSync(path).equals(Buffer.concat(parts))) wrong.push(`${first} and ${second} bytes`)
        rmSync(path)
      }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  expect(wrong).toEqual([])
})
