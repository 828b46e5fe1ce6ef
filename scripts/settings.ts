/** `bun scripts/settings.ts`: writes the table of settings into docs/operate.md and .env.example. A test compares both with it. */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { plainText, settingsTable } from "../src/layers/platform/settings/settingsTable.ts"

const root = join(import.meta.dir, "..")
const docsPath = join(root, "docs", "operate.md")
const examplePath = join(root, ".env.example")

const head = `# Every setting of Rungate, with its default. All are optional. docs/operate.md says more about many of them.
# A secret may come from a file instead: STRIPE_SECRET_KEY_FILE=/run/secrets/stripe names the file with STRIPE_SECRET_KEY.
# <SLUG> is a provider's slug in capitals, such as HUNTER (docs/providers.md lists them).
`

/** The text of .env.example. */
export const exampleText = () =>
  head +
  settingsTable
    .map(({ name, default: usual, description }) => {
      const [, value] = /^`([^`]*)`$/.exec(usual) ?? []
      const words = plainText(description)
      if (value !== undefined) return `\n# ${words}\n${name}=${value}\n`
      return `\n# ${words}${usual === "unset" ? "" : ` (default: ${plainText(usual)})`}\n# ${name}=\n`
    })
    .join("")

/** A table of Markdown, its columns as wide as their longest cell. */
export const markdownTable = (rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const [title = "", ...lines] = rows.map(
    (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(" | ")} |`
  )
  return [title, `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`, ...lines].join("\n")
}

/** The table of docs/operate.md. */
export const tableText = () =>
  markdownTable([
    ["variable", "default", "meaning"],
    ...settingsTable.map((one) => [`\`${one.name}\``, one.default, one.description])
  ])

const tableOf = /^\| variable +\| default [\s\S]*?\|(?=\n\n)/m

if (import.meta.main) {
  writeFileSync(examplePath, exampleText())
  writeFileSync(docsPath, readFileSync(docsPath, "utf8").replace(tableOf, tableText))
}
