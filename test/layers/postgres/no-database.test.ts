/** Commands that read the database of a service, in a folder that has none. */
import { expect, test } from "bun:test"
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Layer } from "effect"
import { Settings } from "../../../src/layers/platform/Settings.ts"
import { DatabaseUrl } from "../../../src/layers/postgres/connection/DatabaseUrl.ts"

test("a command creates no database, and says where it looked for one", async () => {
  const folder = mkdtempSync(join(tmpdir(), "rungate-no-database-"))
  const data = join(folder, "data")
  const settings = Settings.layerFrom({ DATABASE_URL: "", RUNGATE_DATA_DIR: data })
  const found = await Effect.runPromise(
    Effect.scoped(Effect.flip(Layer.build(DatabaseUrl.layer.pipe(Layer.provide(settings)))))
  )
  expect(String(found)).toContain(`There is no database in ${data} (RUNGATE_DATA_DIR)`)
  expect(existsSync(data)).toBe(false)
  rmSync(folder, { recursive: true })
})
