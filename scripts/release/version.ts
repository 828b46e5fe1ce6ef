/**
 * `bun scripts/release/version.ts`: what `npm version <minor|patch|…>` runs after it has changed package.json and before its commit. It gives the chart
 * the entry of MCP registries and the Python client the same version, and the changes under "Unreleased" a section of their own.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import packageJson from "../../package.json" with { type: "json" }

const root = join(import.meta.dir, "..", "..")
const changelogFile = join(root, "CHANGELOG.md")
const chartFile = join(root, "deploy", "helm", "rungate", "Chart.yaml")
const serverFile = join(root, "server.json")
const heading = (version: string) => new RegExp(`^## ${version.replaceAll(".", "\\.")}(?: .*)?$`, "m")

/** The chart with a version. */
export const chartWith = (text: string, version: string): string =>
  text.replace(/^version: .*$/m, `version: ${version}`).replace(/^appVersion: .*$/m, `appVersion: "${version}"`)

/** The entry of MCP registries with a version: its own, and that of its package. */
export const serverWith = (text: string, version: string): string =>
  text.replace(/^( *)"version": "[^"]*"/gm, `$1"version": "${version}"`)

/** The changelog with what was unreleased under a version. `day` is like 2026-01-31. */
export const changelogWith = (text: string, version: string, day: string): string => {
  if (heading(version).test(text)) return text
  return text.replace(/^## Unreleased\n/m, `## Unreleased\n\n## ${version} (${day})\n`)
}

/** The section of a version, or what is unreleased if it has none yet. */
export const sectionOf = (text: string, version: string): string => {
  const start = heading(version).exec(text) ?? heading("Unreleased").exec(text)
  if (start === null) return ""
  const rest = text.slice(start.index + start[0].length)
  const end = rest.search(/^## /m)
  return rest.slice(0, end < 0 ? undefined : end).trim()
}

/** What a release page shows. */
export const releaseNotes = (version: string): string =>
  `# Rungate ${version}\n\n${sectionOf(readFileSync(changelogFile, "utf8"), version)}\n`

/** Why this tree is not that of a release. */
export const versionProblems = (version: string): Array<string> => {
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"))
  const chart = readFileSync(chartFile, "utf8")
  const server = readFileSync(serverFile, "utf8")
  return [
    ...(heading(version).test(readFileSync(changelogFile, "utf8"))
      ? []
      : [`CHANGELOG.md has no section ${version}. Run npm version.`]),
    ...(lock.version === version ? [] : [`package-lock.json has the version ${lock.version}. Run npm install.`]),
    ...(serverWith(server, version) === server
      ? []
      : [`server.json has another version than ${version}. Run npm version.`]),
    ...(chartWith(chart, version) === chart ? [] : [`The chart has another version than ${version}. Run npm version.`])
  ]
}

if (import.meta.main) {
  const { version } = packageJson
  const day = new Date().toISOString().slice(0, 10)
  writeFileSync(changelogFile, changelogWith(readFileSync(changelogFile, "utf8"), version, day))
  writeFileSync(chartFile, chartWith(readFileSync(chartFile, "utf8"), version))
  writeFileSync(serverFile, serverWith(readFileSync(serverFile, "utf8"), version))
  // Loads the whole contract, which no importer of this file needs.
  const { writeGenerated } = await import("../packages/python.ts")
  writeGenerated()
}
