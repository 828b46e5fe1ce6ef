/**
 * `npm run check [-- --no-test]`: types, lint, format, tests, in the order of their speed; stops at the first that fails.
 */
import { spawnSync } from "node:child_process"
import { join } from "node:path"

const root = join(import.meta.dir, "..")
const bin = (name: string) => join(root, "node_modules", ".bin", name)

interface Step {
  readonly name: string
  readonly command: readonly [string, ...Array<string>]
  readonly advice: string
}

const steps: ReadonlyArray<Step> = [
  { name: "types", command: [bin("tsc")], advice: "fix the type errors above" },
  {
    name: "lint",
    command: [bin("oxlint"), "--deny-warnings"],
    advice: "fix the findings above, or say why not in .oxlintrc.json"
  },
  { name: "format", command: [bin("biome"), "format", "."], advice: "run: npm run format" },
  {
    name: "tests",
    command: [process.execPath, "scripts/test.ts"],
    advice: "run the failed file alone: npm test -- <file>"
  }
]

const seconds = (millis: number) => `${(millis / 1_000).toFixed(1)} s`
const began = performance.now()

for (const { name, command, advice } of steps) {
  if (name === "tests" && process.argv.includes("--no-test")) continue
  const [program, ...args] = command
  const start = performance.now()
  const { status, error } = spawnSync(program, args, { cwd: root, stdio: "inherit" })
  const took = seconds(performance.now() - start)
  if (status !== 0) {
    console.error(`\ncheck: ${name} FAILED after ${took}${error === undefined ? "" : ` (${error.message})`}: ${advice}`)
    process.exit(1)
  }
  console.log(`check: ${name} passed (${took})`)
}
console.log(`check: everything passed (${seconds(performance.now() - began)})`)
