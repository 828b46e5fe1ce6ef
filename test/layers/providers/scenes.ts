/**
 * What the adapters' own tests play, for tests of the whole service: inputs, the answers to them, what was asked and what it
 * came to. The payloads stay where each adapter's test has them, many of them in ../shared, so that a pair that gets a test is
 * played here too.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Recorded } from "./stage.ts"

/** Runs the adapters' tests in a process of their own, which takes some three seconds, and reads what they recorded. */
export const playedScenes = async (): Promise<ReadonlyArray<Recorded>> => {
  const folder = mkdtempSync(join(tmpdir(), "rungate-scenes-"))
  const file = join(folder, "scenes.jsonl")
  try {
    const child = Bun.spawn([process.execPath, "test", "--timeout=30000", import.meta.dir], {
      cwd: join(import.meta.dir, "..", "..", ".."),
      env: { ...process.env, RUNGATE_TEST_SCENES: file },
      stdio: ["ignore", "ignore", "ignore"]
    })
    await child.exited
    return readFileSync(file, "utf8")
      .trimEnd()
      .split("\n")
      .map((line): Recorded => JSON.parse(line))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
