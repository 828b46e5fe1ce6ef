/** docs/agents.md, followed by a program: every command of every block in its order, in a pipe; what the page shows must come out. */
import { afterAll, beforeAll, expect, test } from "bun:test"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { exits } from "../../../../src/http/cli/terminal/exits.ts"
import { withApp } from "../../../kit/app.ts"
import { type Home, newHome } from "../../../http/cli/shell.ts"

const page = readFileSync(join(import.meta.dir, "..", "..", "..", "..", "docs", "agents.md"), "utf8")
const blocks = Array.from(
  page.matchAll(/```sh\n([^]*?)```\n(?:\n```text\n([^]*?)```)?/g),
  ([, commands = "", shown = ""]) => ({ commands, shown: shown.split("\n").filter((line) => line !== "") })
)

let home: Home
const app = withApp({ settings: { RUNGATE_REPEAT_GUARD: "" } })
beforeAll(async () => {
  const org = await app.tenant("25.00")
  home = newHome({ RUNGATE_URL: app.url, RUNGATE_API_KEY: org.key })
})
afterAll(async () => {
  home.remove()
})

test("each block works, and prints what stands below it", async () => {
  expect(blocks.length).toBeGreaterThan(9)
  const went: Array<unknown> = []
  for (const { commands, shown } of blocks) {
    writeFileSync(join(home.folder, "block.sh"), commands)
    const { code, out, err } = await home.shell("sh -e block.sh")
    const missing = shown.filter((line) => !out.split("\n").includes(line))
    if (code !== 0 || missing.length > 0) went.push({ commands, code, err, missing })
  }
  expect(went).toEqual([])
})

test("its table has every exit code once", () => {
  const codes = Array.from(page.matchAll(/^\| (\d+) +\|/gm), ([, code]) => Number(code))
  expect(codes).toEqual(Object.values(exits).sort((a, b) => a - b))
})
