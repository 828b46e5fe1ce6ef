/**
 * `npm run release -- --dry-run [--into <folder>]`: builds everything that a release publishes, in dist/release, and says what it would publish.
 *
 * Without `--dry-run` it also publishes: it wants a clean tree and a section of this version in CHANGELOG.md, which `npm version` makes. A step whose
 * place is not named (RELEASE_REGISTRY, for the image and the chart) is left out, and said. docs/releasing.md has the order and what to do when a step
 * fails: each can be repeated.
 */
import { join, resolve } from "node:path"
import packageJson from "../../package.json" with { type: "json" }
import { buildParts, root, said } from "./parts.ts"
import { publishSteps } from "./publish.ts"
import { checksumsOf, provenanceOf, writeText } from "./provenance.ts"
import { releaseNotes, versionProblems } from "./version.ts"

const flags = process.argv.slice(2)
const isDry = flags.includes("--dry-run")
const into = flags.indexOf("--into")
const unknown = flags.filter((flag, at) => !["--dry-run", "--into"].includes(flag) && at !== into + 1)
if (unknown.length > 0 || (into >= 0 && flags[into + 1] === undefined)) {
  console.error("usage: npm run release -- [--dry-run] [--into <folder>]")
  process.exit(2)
}
const { version } = packageJson
const folder = resolve((into >= 0 ? flags[into + 1] : undefined) ?? join(root, "dist", "release"))

const isClean = said(["git", "status", "--porcelain"]) === ""
const problems = versionProblems(version)
if (!isClean) problems.push("The tree has changes that are not committed. The image is built from the last commit.")
for (const problem of problems) console.error(`${isDry ? "A release would refuse" : "Refused"}: ${problem}`)
if (problems.length > 0 && !isDry) process.exit(1)

const began = new Date()
const files = buildParts(folder, version)
writeText(join(folder, "NOTES.md"), releaseNotes(version))
const statement = provenanceOf(folder, files, { version, isClean, began, ended: new Date() })
writeText(join(folder, `rungate-${version}.provenance.json`), `${JSON.stringify(statement, null, 2)}\n`)
writeText(join(folder, "SHA256SUMS"), checksumsOf(folder, [...files, `rungate-${version}.provenance.json`, "NOTES.md"]))
console.log(`\n${folder} has the release ${version}:`)
for (const { name, digest } of statement.subject) console.log(`  ${digest.sha256.slice(0, 12)}  ${name}`)

const steps = publishSteps(folder, version, process.env["RELEASE_REGISTRY"])
for (const { title, command, missing } of steps) {
  const words = command.join(" ")
  if (missing !== null) console.log(`\nleft out: ${title}, because ${missing}`)
  else if (isDry) console.log(`\nwould run: ${words}`)
  else {
    console.log(`\n${title}: ${words}`)
    const { exitCode } = Bun.spawnSync([...command], { cwd: root, stdio: ["inherit", "inherit", "inherit"] })
    if (exitCode !== 0) {
      console.error(
        `${title} ended with ${exitCode}. What was published before it stays. Run the rest of the commands by hand.`
      )
      process.exit(1)
    }
  }
}
