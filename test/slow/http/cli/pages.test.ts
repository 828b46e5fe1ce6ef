/**
 * Runs the command blocks of README and docs, page by page and in their order, and compares what a page shows below a block.
 *
 * quickstart.md and agents.md have tests of their own. A label after `sh` says what a block needs: `operator` runs with the service's
 * settings. The others are not run here: they start, set up or develop the service, follow a stream without an end, or need a session.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { asShipped } from "../../../kit/credit-prices.ts"
import { withApp } from "../../../kit/app.ts"
import { indexedAndCounted } from "../../../kit/finished-work.ts"
import { blocksOf, pages, pageText } from "../../../http/cli/pages.ts"
import { type Home, newHome } from "../../../http/cli/shell.ts"

const labels = ["", "operator", "service", "setup", "production", "develop", "stream", "session"]
const elsewhere = ["docs/quickstart.md", "docs/agents.md"]
const curl = Bun.which("curl") !== null

const app = withApp({ settings: { ...asShipped, RUNGATE_WARRANTY_SHARE: "1" } })
beforeAll(async () => {
  // Refunds are a share of what others were charged.
  const customer = await app.tenant("5.00")
  await customer.run({ capability: "people.search", input: { titles: ["buyer"], limit: 25 } })
  await indexedAndCounted(app)
})

type Json = ReturnType<typeof JSON.parse>

/** Ids, times, messages and paths differ from one run to the next; `…` stands for the rest of a text. */
const volatile = ["message", "duration_ms", "command"]
const shows = (shown: Json, actual: Json, path = ""): ReadonlyArray<string> => {
  const name = path.split(".").at(-1) ?? ""
  if (typeof shown === "object" && shown !== null) {
    if (typeof actual !== "object" || actual === null) return [path]
    return Object.keys(shown).flatMap((key) => shows(shown[key], actual[key], path === "" ? key : `${path}.${key}`))
  }
  if (volatile.includes(name)) return typeof shown === typeof actual ? [] : [path]
  const plain = (text: unknown) =>
    String(text)
      .replace(/^([a-z]+_)[0-9a-zA-Z]{8,}…?$/, "$1")
      .replace(/^\d{4}-.*Z$/, "")
  const [start = ""] = plain(shown).split("…")
  return (String(shown).includes("…") ? plain(actual).startsWith(start) : plain(actual) === plain(shown)) ? [] : [path]
}

test("each block has a label that is known", () => {
  const unknown = pages.flatMap((page) =>
    blocksOf(pageText(page))
      .filter(({ label }) => !labels.includes(label))
      .map(({ label }) => `${page}: ${label}`)
  )
  expect(unknown).toEqual([])
})

const runnable = pages
  .filter((page) => !elsewhere.includes(page))
  .map((page) => ({ page, blocks: blocksOf(pageText(page)).filter(({ label }) => ["", "operator"].includes(label)) }))
  .filter(({ blocks }) => blocks.length > 0)

describe.each(runnable)("$page", ({ blocks }) => {
  let home: Home
  let org_id: string
  beforeAll(async () => {
    const org = await app.tenant("25.00")
    org_id = org.org_id
    home = newHome({ RUNGATE_URL: app.url, RUNGATE_API_KEY: org.key })
  })
  afterAll(() => home.remove())

  test.each(blocks.map((block) => ({ ...block, title: block.commands.split("\n")[0] ?? "" })))(
    "$title",
    async ({ label, commands, shown, json }) => {
      if (!curl && commands.includes("curl ")) return
      // curl succeeds on an HTTP error, unless the page shows that error.
      const strict = json?.includes('"error"') === true ? "curl -s " : "curl -sf "
      const local = (text: string) => text.replaceAll("http://127.0.0.1:8787", app.url)
      writeFileSync(join(home.folder, "block.sh"), local(commands).replaceAll("curl -s ", strict))
      const more = label === "operator" ? { ...app.settings, ORG: org_id } : {}
      const { code, out, err, body } = await home.shell("sh -e block.sh", more)
      expect([code, code === 0 ? "" : `${out}${err}`]).toEqual([0, ""])
      expect(shown.filter((line) => !out.split("\n").includes(line))).toEqual([])
      if (json !== null) expect(shows(JSON.parse(local(json)), body)).toEqual([])
    },
    60_000
  )
})
