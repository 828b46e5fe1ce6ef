/** The recording in README shows what its commands print today. `bun scripts/pictures.ts` makes it anew. */
import { expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { commands, label } from "../../../../scripts/pictures.ts"
import { record, svgOf, wordsOf } from "../../../../scripts/pictures/terminal.ts"
import { runMain } from "../../../chaos/processes.ts"
import { until } from "../../../kit/app.ts"
import { freshDatabase } from "../../../kit/postgres.ts"
import { newHome } from "../../../http/cli/shell.ts"

test("docs/terminal.svg shows what the commands print", async () => {
  const service = runMain(["serve"], { PORT: "0", DATABASE_URL: await freshDatabase(), REDIS_URL: "" })
  const said = await until("the service's first words", service.output, (text) => text.includes("/v1/discover"), 30)
  const part = (pattern: RegExp) => pattern.exec(said)?.[0] ?? expect.unreachable(said)
  const settings = { RUNGATE_URL: part(/http:\/\/127\.0\.0\.1:\d+/), RUNGATE_API_KEY: part(/rg_test_\w+/) }
  const home = newHome({ ...settings, TERM: "xterm-256color" })
  try {
    const lines = await record(commands, home.environment, home.folder)
    const file = join(import.meta.dir, "..", "..", "..", "..", "docs", "terminal.svg")
    expect(wordsOf(readFileSync(file, "utf8"))).toEqual(wordsOf(svgOf(lines, label)))
  } finally {
    service.child.kill("SIGTERM")
    await service.ended
    home.remove()
  }
})
