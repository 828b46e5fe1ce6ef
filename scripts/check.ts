/**
 * `npm run check [-- --no-test]`: types, lint, format, tests, in the order of their speed; stops at the first that fails.
 */
import { spawnSync } from "node:child_process"
import { join } from "node:path"

const root = join(import.meta.dir, "..")
/** npm's tools are scripts for some recent Node; Bun runs them whatever Node this machine has. */
const tool = (name: string, ...args: Array<string>) => [join(root, "node_modules", ".bin", name), ...args]

/** Data and scratch files are nobody's to format. */
const gitIgnores = ["--vcs-enabled=true", "--vcs-client-kind=git", "--vcs-use-ignore-file=true"]

interface Step {
  readonly name: string
  readonly args: ReadonlyArray<string>
  readonly advice: string
}

const steps: ReadonlyArray<Step> = [
  { name: "types", args: tool("tsc"), advice: "fix the type errors above" },
  {
    name: "lint",
    args: tool("oxlint", "--deny-warnings"),
    advice: "fix the findings above, or say why not in .oxlintrc.json"
  },
  { name: "format", args: tool("biome", "format", ...gitIgnores, "."), advice: "run: npm run format" },
  {
    name: "tests",
    args: ["scripts/test.ts"],
    advice: "run the failed file alone: npm test -- <file>"
  }
]

const seconds = (millis: number) => `${(millis / 1_000).toFixed(1)} s`
const began = performance.now()

for (const { name, args, advice } of steps) {
  if (name === "tests" && process.argv.includes("--no-test")) continue
  const start = performance.now()
  const { status, error } = spawnSync(process.execPath, args, { cwd: root, stdio: "inherit" })
  const took = seconds(performance.now() - start)
  if (status !== 0) {
    console.error(`\ncheck: ${name} FAILED after ${took}${error === undefined ? "" : ` (${error.message})`}: ${advice}`)
    process.exit(1)
  }
  console.log(`check: ${name} passed (${took})`)
}
console.log(`check: everything passed (${seconds(performance.now() - began)})`)
