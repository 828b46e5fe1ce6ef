/**
 * `npm run mutants`: plants faults in the code that decides about money, leases and roles, and says which of them no test notices.
 *
 * Faults are planted in copies of the tree (`.scratch/mutants/`), never in the tree itself. Several runs at once don't disturb each other,
 * and an interrupted run leaves nothing behind. The result is in `.scratch/mutants/<seed>.json`, also of an interrupted run.
 */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { keyOf, type Mutant } from "./mutants/edits.ts"
import { reachOf } from "./mutants/reach.ts"
import { type Result, runnerOf } from "./mutants/run.ts"
import { acceptedFile, allMutants, folders, readAccepted, sampled, spread, withoutAccepted } from "./mutants/sample.ts"
import { newStage, scratchFolder } from "./mutants/stage.ts"

const root = join(import.meta.dir, "..")
const help = `npm run mutants -- [options]

Plants faults and runs the tests of the fast tier that execute their lines. The exit code is 0 only if each fault is caught.
A fault that is none belongs into ${acceptedFile}, with its reason.

  --folder <path>    only this folder (may be repeated)
  --file <path>      only this file, all its faults
  --line <number>    only this line of the file
  --each <number>    faults of each folder (default 100)
  --count <number>   faults of all folders together, in place of --each
  --seed <number>    chooses the sample (default: the day's number)
  --survivors        only what survived the last run with this seed
  --resume           without what the last run with this seed has tried
  --workers <number> test processes at a time (default 2)
  --seconds <number> of tests, after which a fault counts as survived (default 240)
  --unmeasured       tries all test files that may reach a line, nearest first: faster for a few faults on a fresh clone
  --longest <number> leaves out test files that take longer, in milliseconds
  --tests <path>     only test files in this folder (may be repeated)
  --list             prints the faults, and runs nothing
  --help             prints this`

const text = { type: "string" } as const
const flag = { type: "boolean", default: false } as const
const options = {
  folder: { type: "string", multiple: true },
  file: text,
  line: text,
  each: text,
  count: text,
  seed: text,
  survivors: flag,
  resume: flag,
  workers: text,
  seconds: text,
  unmeasured: flag,
  longest: text,
  tests: { type: "string", multiple: true },
  list: flag,
  help: flag
} as const

const fail = (message: string): never => {
  console.error(`mutants: ${message}`)
  process.exit(2)
}
const given = (() => {
  try {
    return parseArgs({ args: process.argv.slice(2), options }).values
  } catch (error) {
    return fail(`${error instanceof Error ? error.message : error}\n\n${help}`)
  }
})()
const numberOf = (name: "line" | "each" | "count" | "seed" | "workers" | "seconds" | "longest", otherwise: number) => {
  const value = given[name] === undefined ? otherwise : Number(given[name])
  return Number.isInteger(value) && value >= 0 ? value : fail(`--${name} needs a whole number, not ${given[name]}`)
}
if (given.help) {
  console.log(help)
  process.exit(0)
}

const dayMillis = 86_400_000
const seed = numberOf("seed", Math.floor(Date.now() / dayMillis))
const home = join(root, ".scratch", "mutants")
const report = join(home, `${seed}.json`)
mkdirSync(home, { recursive: true })

const places =
  given.file === undefined ? (given.folder?.map((path) => path.replace(/\/$/, "")) ?? folders) : [given.file]
for (const place of places) {
  if (!folders.some((folder) => place === folder || place.startsWith(`${folder}/`)))
    fail(`${place} is not in a folder that faults are planted in:\n  ${folders.join("\n  ")}`)
  if (!existsSync(join(root, place))) fail(`${place} does not exist`)
}

const accepted = readAccepted(root)
const made = allMutants(root, places)
const entries = accepted.filter(({ file }) => places.some((place) => file === place || file.startsWith(`${place}/`)))
const { faults, unmatched } = withoutAccepted([...made.values()].flat(), entries)
for (const { file, line, mutation } of unmatched)
  console.log(`${acceptedFile} has an entry that matches nothing: ${file}: ${line}: ${mutation}`)
const open = new Set(faults)
const groups = [...made.values()].map((mutants) => mutants.filter((mutant) => open.has(mutant)))

const before: ReadonlyArray<Result> = existsSync(report) ? JSON.parse(readFileSync(report, "utf8")).results : []
const results = new Map(before.map((result) => [keyOf(result), result]))
const line = numberOf("line", 0)
const chosenOf = (): ReadonlyArray<Mutant> => {
  if (given.file !== undefined) return faults.filter((mutant) => line === 0 || mutant.line === line)
  if (given.count !== undefined) return spread(groups, seed, numberOf("count", 10))
  return groups.flatMap((group) => sampled(group, seed, numberOf("each", 100)))
}
const chosen = chosenOf().filter((mutant) => {
  const last = results.get(keyOf(mutant))
  return (!given.survivors || last?.verdict === "survived") && (!given.resume || last === undefined)
})
const shown = (mutant: Mutant) => `${mutant.file}:${mutant.line}  ${mutant.mutation}`
console.log(`seed ${seed}: ${chosen.length} of ${faults.length} faults`)
if (given.list) {
  for (const mutant of chosen) console.log(shown(mutant))
  process.exit(0)
}

const timings: Record<string, number> = JSON.parse(readFileSync(join(root, "test", "timings.json"), "utf8")).files
const longest = numberOf("longest", Number.MAX_SAFE_INTEGER)
const isWanted = (test: string) => given.tests === undefined || given.tests.some((path) => test.startsWith(path))
const reach = reachOf(root, (test) => isWanted(test) && (timings[test] ?? 0) <= longest)
// What caught faults of a file before is tried first.
for (const { by, file, verdict } of before) if (verdict === "caught") reach.noteCatch(by.split(":")[0] ?? "", file)
const tree = mkdtempSync(join(home, "run-"))
const shared = join(root, "..", "shared")
// The providers' documents lie beside the project where it is developed. Some tests read them.
if (existsSync(shared)) symlinkSync(shared, join(tree, "shared"))
const scratch = scratchFolder(tree)
const workers = Math.max(1, Math.min(numberOf("workers", 2), chosen.length))
const stages = Array.from({ length: workers }, (_, at) => newStage(root, tree, String(at), scratch))
const end = () => {
  for (const stage of stages) stage.stopAll()
  rmSync(tree, { recursive: true, force: true })
}
for (const signal of ["SIGINT", "SIGTERM"] as const)
  process.once(signal, () => {
    end()
    console.log(`stopped by ${signal}; what was tried is in ${report.slice(root.length + 1)}`)
    process.exit(130)
  })

const keep = () => writeFileSync(report, `${JSON.stringify({ seed, results: [...results.values()] }, null, 1)}\n`)
const run = runnerOf(reach, numberOf("seconds", 240), !given.unmeasured, (said) => console.log(said))
const queue = [...chosen]
const done: Array<Result> = []
await Promise.all(
  stages.map(async (stage) => {
    for (let mutant = queue.shift(); mutant !== undefined; mutant = queue.shift()) {
      const result = await run(stage, mutant)
      done.push(result)
      results.set(keyOf(result), result)
      keep()
      const seconds = (result.millis / 1_000).toFixed(1)
      console.log(`${done.length}/${chosen.length} ${result.verdict}  ${shown(result)}  [${result.by}, ${seconds} s]`)
    }
  })
)
end()

console.log()
for (const place of places) {
  const here = done.filter(
    ({ file, verdict }) => (file === place || file.startsWith(`${place}/`)) && verdict !== "invalid"
  )
  const caught = here.filter(({ verdict }) => verdict === "caught").length
  const share = here.length === 0 ? "none tried" : `${((100 * caught) / here.length).toFixed(1)} %`
  console.log(`${place.padEnd(20)} ${share.padStart(10)}  ${caught} of ${here.length} caught`)
}
const survivors = done.filter(({ verdict }) => verdict === "survived")
for (const survivor of survivors)
  console.log(`survived: ${shown(survivor)}  [${survivor.by}]\n          ${survivor.source}`)
console.log(`${survivors.length} survived; the full result is ${report.slice(root.length + 1)}`)
process.exit(survivors.length === 0 ? 0 : 1)
