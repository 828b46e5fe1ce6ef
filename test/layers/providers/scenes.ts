/**
 * What the adapters' own tests play, for tests of the whole service: inputs, the answers to them, what was asked and what it
 * came to. The payloads stay where each adapter's test has them, so that a pair that gets a test is played here too.
 */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { filesUnder, keptFolder } from "../../kit/build-cache.ts"
import type { Recorded } from "./stage.ts"

const root = join(import.meta.dir, "..", "..", "..")
const recorded = "scenes.jsonl"
const tests = () =>
  filesUnder("test/layers/providers/*.test.ts").filter((path) =>
    /\/stage\.ts"/.test(readFileSync(join(root, path), "utf8"))
  )
const sources = () => [
  ...filesUnder("src/**/*.{ts,sql}"),
  ...filesUnder("test/layers/providers/**/*"),
  ...filesUnder("test/fixtures/{payloads,specifications}/**/*")
]

/** Runs the adapters' tests in a process of their own, which takes some ten seconds. */
const record = async (folder: string) => {
  const paths = tests().map((path) => `./${path}`)
  const child = Bun.spawn([process.execPath, "test", "--timeout=30000", ...paths], {
    cwd: root,
    env: { ...process.env, RUNGATE_TEST_SCENES: join(folder, recorded) },
    stdio: ["ignore", "ignore", "ignore"]
  })
  if ((await child.exited) !== 0) throw new Error("the adapters' tests failed, so there are no scenes")
}

/** Reads what the adapters' tests recorded, which they do once for one state of the sources. */
export const playedScenes = (): Promise<ReadonlyArray<Recorded>> =>
  keptFolder("scenes", sources, record, (folder) =>
    readFileSync(join(folder, recorded), "utf8")
      .trimEnd()
      .split("\n")
      .map((line): Recorded => JSON.parse(line))
  )
