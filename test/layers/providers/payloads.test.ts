/** The adapters' payloads are in this project, so a clone proves every adapter: each pair has one, and each payload names its source. */
import { expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { filesUnder } from "../../kit/build-cache.ts"
import { providers } from "../../../src/layers/providers/index.ts"
import { callsProvider } from "./pairs.ts"
import { playedScenes } from "./scenes.ts"

const root = join(import.meta.dir, "../../..")
const folder = join(root, "test/fixtures/payloads")
const sources: { payloads: Record<string, { shape: string; source: string }> } = JSON.parse(
  readFileSync(join(folder, "SOURCES.json"), "utf8")
)

test("every pair of provider and capability has an answer of this project that it makes a result of", async () => {
  const wired = providers.flatMap(({ slug, offers }) =>
    offers.filter(callsProvider).map(({ capability }) => `${slug} ${capability}`)
  )
  const matched = new Set(
    (await playedScenes())
      .filter(({ output }) => typeof output === "object" && output !== null)
      .map(({ provider, capability }) => `${provider} ${capability}`)
  )
  expect(wired.length).toBeGreaterThan(100)
  expect(wired.filter((pair) => !matched.has(pair))).toEqual([])
})

test("adapters' tests read nothing outside of the project", () => {
  const outside = filesUnder("test/layers/providers/**/*.ts").filter((path) =>
    /\bshared["/]/.test(readFileSync(join(root, path), "utf8"))
  )
  expect(outside.filter((path) => !path.endsWith("/payloads.test.ts"))).toEqual([])
})

test("every payload says what its shape was read from, and no other is named", () => {
  const files = readdirSync(folder, { withFileTypes: true })
    .filter((one) => one.isDirectory())
    .flatMap((one) => readdirSync(join(folder, one.name)).map((name) => `${one.name}/${name}`))
  expect(files.toSorted()).toEqual(Object.keys(sources.payloads).toSorted())
  for (const [name, { shape, source }] of Object.entries(sources.payloads))
    expect([name, shape.length > 3, source.length > 3]).toEqual([name, true, true])
})
