/** Importing opt-outs at the terminal: a file of several parts, with and without a header, and rows that have no value. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { batchRowsMax } from "../../../../src/schema/batches/Batch.ts"
import { type App, startApp, type Tenant } from "../../../kit/app.ts"
import { type Home, newHome } from "../../../http/cli/shell.ts"

let app: App
let org: Tenant
let home: Home
beforeAll(async () => {
  app = await startApp()
  org = await app.tenant()
  home = newHome({ RUNGATE_URL: app.url, RUNGATE_API_KEY: org.key })
})
afterAll(async () => {
  home.remove()
  await app.stop()
})

const imported = async (lines: ReadonlyArray<string>, flags = "") => {
  writeFileSync(join(home.folder, "list.csv"), `${lines.join("\n")}\n`)
  return home.shell(`rungate opt-outs import list.csv ${flags}`)
}
const addresses = (prefix: string) => Array.from({ length: batchRowsMax + 2 }, (_, n) => `${prefix}${n}@example.com`)

test("a file without a header is sent in parts, each value once, and rows without a value are named", async () => {
  const lines = addresses("p")
  lines[2] = "nobody"
  lines[batchRowsMax] = "co.uk"
  const { code, body } = await imported(lines, "--json")
  expect([code, body]).toEqual([
    0,
    {
      added: batchRowsMax,
      already: 0,
      refused: 2,
      refusals: [
        `row 3: "nobody" is no address, domain, phone number or profile`,
        `row ${batchRowsMax + 1}: "co.uk" is no address, domain, phone number or profile`
      ]
    }
  ])
})

test("a file with a header has its columns in each part, and a person reads which rows were left out", async () => {
  const lines = ["name,value", ...addresses("h").map((value) => `x,${value}`)]
  lines[1] = "x,"
  lines[batchRowsMax + 1] = "x,=cmd|' /C calc'!A0"
  const { code, err } = await imported(lines)
  expect(code).toBe(0)
  expect(err).toContain(`Added ${batchRowsMax}. The list had 0 already. 2 rows have no value that can be read:`)
  expect(err).toContain("row 1: it is empty\n")
  expect(err).toContain(
    `row ${batchRowsMax + 1}: "=cmd|' /C calc'!A0" is no address, domain, phone number or profile\n`
  )
  const many = await imported(["value", ...Array.from({ length: 25 }, (_, n) => `bad ${n}`)])
  expect(many.err.match(/^row \d+: /gm)).toHaveLength(20)
  expect(many.err).toContain("and 5 more")
})
