/** A change to the house stays as small as it is: docs/architecture.md, "What a change costs". */
import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { drills, page, sources, touched, withoutComments, written } from "./drills.ts"

const files = sources()

describe("a change touches no more files than before", () => {
  test.each(drills.map((drill) => [drill.change, drill] as const))("%s", (_, drill) => {
    const now = touched(drill, files)
    expect(now.length === 0 ? "nothing is counted: the example is gone" : null).toBeNull()
    expect(now.length > drill.most ? now : null).toBeNull()
  })

  const drill = { change: "Add a lamp", example: "files that name lamps", names: [/\blamp\b/], most: 1 }
  const counted = (file: string, text: string) => touched(drill, new Map([[file, withoutComments(file, text)]])).length

  test("a name counts in code, in texts and in the file's path, and not in a comment", () => {
    expect(counted("schema/Light.ts", "export const lamp = 1")).toBe(1)
    expect(counted("schema/Light.ts", 'export const address = "https://lamp.example"')).toBe(1)
    expect(counted("schema/lamp.sql", "CREATE TABLE lights ()")).toBe(1)
    expect(counted("schema/Light.ts", "/** A lamp\n * is a lamp. */\nexport const light = 1 // no lamp")).toBe(0)
    expect(counted("schema/light.sql", "-- A lamp.\nCREATE TABLE lights ()")).toBe(0)
  })
})

test("docs/architecture.md lists what is touched today: bun test/drills.ts writes it", () => {
  const text = readFileSync(page, "utf8")
  expect(text).toBe(written(text, files))
})
