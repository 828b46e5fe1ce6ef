/**
 * Runs tests and ends with `N passed, N failed`:
 *
 *   npm test                     the fast tier (scripts/tiers.ts)
 *   npm run test:all             the fast and the slow tier
 *   npm run test:chaos           the files of chaos, two at once; with --due those of the day's seed
 *   npm run test:security        tools that look for mistakes; TEST_INPUTS=few takes a minute
 *   npm test -- <files or flags of bun test>
 *
 * TEST_SLOWNESS=3 gives tests three times as long (test/kit/slowness.ts).
 *
 * A test file that takes the whole process with it (a crash, a stray `process.exit`) counts as one failure and does not
 * hide the files behind it: they run in another process. The exit code is 0 only when nothing failed and something ran.
 *
 * What failed is repeated at the end, where it is found below thousands of lines. With TEST_FLAKY_FILES=6, as in `.ci/run`, at most six
 * files with failed tests run three times more. If they pass each time, they are named as flaky and not counted as failed; with
 * TEST_FLAKY_LIST=<file> their names are appended to that file too. Broken books ("violation" in the output) are never tried again. Below
 * the failures stands whether they failed again, or why they were not tried again.
 *
 * All files run in several processes, each with servers of its own; whichever is free takes the next, the longest first. How long they
 * take stands in test/timings.json: `npm run test:all -- --update-timings`, on a quiet machine, writes it anew.
 */
import { spawn } from "node:child_process"
import { appendFileSync, existsSync, readFileSync, statSync } from "node:fs"
import { availableParallelism } from "node:os"
import { dirname, join, relative, resolve } from "node:path"
import { testMillis } from "../test/kit/slowness.ts"
import { alone, chaosDue, commandOf, type Tier, tierOf } from "./tiers.ts"

const root = join(import.meta.dir, "..")
/** Fewer files than this are not worth a second process. */
const processesFrom = 20
/** One more than two cores have room for, because each waits about a third of its time. */
const processesMax = 3
const timings = join(root, "test", "timings.json")
/** Flags of `bun test` that take the next argument. */
const valued = new Set(["-t", "--test-name-pattern", "--timeout", "--seed", "--rerun-each", "--max-concurrency"])

const flags: Array<string> = []
const wanted: Array<string> = []
const chaos = process.argv.includes("--chaos")
const security = process.argv.includes("--security")
const tiersOf = (): ReadonlyArray<Tier> => {
  if (chaos) return ["chaos"]
  if (security) return ["security"]
  return process.argv.includes("--all") ? ["fast", "slow"] : ["fast"]
}
const tiers = tiersOf()
const due = process.argv.includes("--due")
const ours = new Set(["--all", "--chaos", "--security", "--due"])
const given = process.argv.slice(2).filter((word) => !ours.has(word))
// How many inputs the tests with large matrices try (test/kit/input-samples.ts).
if (tiers.includes("slow")) process.env["TEST_INPUTS"] ??= "quarter"
if (security) process.env["TEST_INPUTS"] ??= "all"
for (let at = 0; at < given.length; at += 1) {
  const word = given[at] ?? ""
  if (!word.startsWith("-")) wanted.push(word)
  else flags.push(...(valued.has(word) ? given.slice(at, (at += 1) + 1) : [word]))
}

// Also for files that a process runs after its first one: they don't have the default of test/kit/preload.ts.
if (!flags.some((flag) => flag.startsWith("--timeout"))) flags.push(`--timeout=${Math.round(testMillis)}`)

const all = Array.from(new Bun.Glob("test/**/*.test.{ts,tsx}").scanSync(root)).sort()
const matches = (file: string, word: string) => {
  const path = resolve(word)
  if (!existsSync(path)) return file.includes(word)
  const inside = relative(root, path)
  return statSync(path).isDirectory() ? file.startsWith(`${inside}/`) || inside === "" : file === inside
}
const named = (file: string) => wanted.length === 0 || wanted.some((word) => matches(file, word))
/** Names choose from all tiers, unless a flag says which. */
const inTiers =
  wanted.length > 0 && tiers.length === 1 && !chaos && !security
    ? all
    : all.filter((file) => tiers.includes(tierOf(file)))
const seed = Number(process.env["TEST_SEED"] ?? Math.floor(Date.now() / 86_400_000))
const chosen = (due ? chaosDue(inTiers, seed) : inTiers).filter(named)

/** The providers' own documents lie beside the project where it is developed. Elsewhere the tests that read them are left out. */
const documents = join(root, "..", "shared", "specs")
const readsDocuments = (file: string, seen = new Set<string>()): boolean => {
  if (seen.has(file) || !existsSync(file)) return false
  seen.add(file)
  const text = readFileSync(file, "utf8")
  if (/"shared"|\.\.\/shared\b/.test(text)) return true
  return Array.from(text.matchAll(/from "(\.{1,2}\/[^"]+)"/g)).some(([, path = ""]) => {
    const target = join(dirname(file), path)
    return target.startsWith(join(root, "test")) && readsDocuments(target, seen)
  })
}
const leftOut = existsSync(documents) ? [] : chosen.filter((file) => readsDocuments(join(root, file)))

const running = chosen.filter((file) => !leftOut.includes(file))

/** One failed test, and what was printed since the test before it ended. */
interface Failure {
  readonly file: string
  readonly text: string
}

interface Round {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  readonly failures: ReadonlyArray<Failure>
  /** Files that need not run again. */
  readonly done: ReadonlySet<string>
}

// oxlint-disable-next-line no-control-regex -- colors are control characters
const colors = /\u001b\[[0-9;]*m/g

/** Most tests wait for a database or a process, so several at once take little more time than one. */
const division = (files: ReadonlyArray<string>): ReadonlyArray<string> => {
  const isChaos = files.some((file) => tierOf(file) === "chaos")
  // A file of chaos starts several processes and servers of its own, and waits for them with time limits.
  const [processes, from] = isChaos ? [2, 2] : [processesMax, processesFrom]
  const several = files.length >= from && availableParallelism() > 1 && !files.some((file) => alone.includes(file))
  return [
    ...(several ? [`--parallel=${processes}`, "--no-isolate"] : []),
    ...((several && existsSync(timings)) || flags.includes("--update-timings") ? [`--timings=${timings}`] : [])
  ]
}

/** A failed test's own message and stack are its last lines. The ones before are the service's log. */
const failureLinesMax = 60

/** Each failed test with the lines that belong to it. After many tests bun names the failed ones a second time, at its end. */
const failuresIn = (lines: ReadonlyArray<string>, files: ReadonlyArray<string>): ReadonlyArray<Failure> => {
  const failures: Array<Failure> = []
  let file = ""
  let block: Array<string> = []
  for (const line of lines) {
    if (/^\d+ tests? failed:$/.test(line)) break
    const header = line.replace(/^::group::/, "").replace(/:$/, "")
    if (files.includes(header)) file = header
    if (line.startsWith("(fail) ")) failures.push({ file, text: [...block.slice(-failureLinesMax), line].join("\n") })
    block = files.includes(header) || /^\((pass|fail|skip|todo)\) /.test(line) ? [] : [...block, line]
  }
  return failures
}

/** One `bun test` over some files. Its report is read on the way. */
const run = async (files: ReadonlyArray<string>, together = division(files)): Promise<Round> => {
  const paths = files.map((file) => `./${file}`)
  const child = spawn(process.execPath, ["test", ...together, ...flags, ...paths], {
    cwd: root,
    stdio: ["ignore", "inherit", "pipe"],
    env: { ...process.env, ...(process.stderr.isTTY ? { FORCE_COLOR: "1" } : {}) }
  })
  const stop = (signal: NodeJS.Signals) => {
    child.kill(signal)
    process.exit(130)
  }
  process.once("SIGINT", stop).once("SIGTERM", stop)
  let report = ""
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    report += text
    process.stderr.write(text)
  })
  const [code, signal] = await new Promise<[number | null, string | null]>((done) =>
    child.once("close", (...end) => done(end))
  )
  process.off("SIGINT", stop).off("SIGTERM", stop)

  const lines = report.replace(colors, "").split("\n")
  const marked = (mark: string) => lines.filter((line) => line.startsWith(`(${mark}) `)).length
  const started = new Set(
    lines.map((line) => line.replace(/^::group::/, "").replace(/:$/, "")).filter((line) => files.includes(line))
  )
  const ran = lines.findLastIndex((line) => /^Ran \d+ tests? across/.test(line))
  if (ran < 0) {
    const how = signal === null ? `exit code ${code}` : signal
    console.error(`\nbun test ended before its summary (${how}) in ${Array.from(started).at(-1) ?? "no file"}`)
    const unloaded = lines.filter((line) => line === "# Unhandled error between tests").length
    const end = { file: Array.from(started).at(-1) ?? "", text: `bun test ended before its summary (${how})` }
    return {
      passed: marked("pass"),
      failed: marked("fail") + unloaded + 1,
      skipped: marked("skip"),
      failures: [...failuresIn(lines, files), end],
      done: started
    }
  }
  const counted = (name: string) => {
    const line = lines.slice(0, ran).findLast((line) => new RegExp(`^ *\\d+ ${name}s?$`).test(line))
    return line === undefined ? 0 : Number.parseInt(line, 10)
  }
  // An error outside every test is no failed test for bun, but it is one for us.
  const failed = Math.max(counted("fail"), code === 0 ? 0 : 1)
  // Of a process that died among others, bun counts the end and leaves out what had passed.
  const passed = Math.max(counted("pass"), marked("pass"))
  return { passed, failed, skipped: counted("skip"), failures: failuresIn(lines, files), done: new Set(files) }
}

let passed = 0
let failed = 0
let skipped = 0
const failures: Array<Failure> = []

/** Runs files in as many rounds as it takes when some die. */
const runAll = async (files: ReadonlyArray<string>) => {
  for (let left = files; left.length > 0; ) {
    const round = await run(left)
    passed += round.passed
    failed += round.failed
    skipped += round.skipped
    failures.push(...round.failures)
    const next = left.filter((file) => !round.done.has(file))
    if (next.length === left.length) break
    left = next
  }
}

await runAll(running.filter((file) => !alone.includes(file)))
await runAll(running.filter((file) => alone.includes(file)))

/** How many files may be tried again, and how often each must pass then. */
const flakyFilesMax = Number(process.env["TEST_FLAKY_FILES"] ?? 0)
const passesAgain = 3
const failedFiles = Array.from(new Set(failures.map((failure) => failure.file)))
/** Why the failed files do not run again; null when they do. */
const notAgain = (): string | null => {
  if (failed !== failures.length || failedFiles.includes("")) return "an error happened outside of every test"
  if (failures.some(({ text }) => /violation(?!s"?: ?0\b)/i.test(text))) return "the books were broken"
  const count = failedFiles.length
  return count > flakyFilesMax ? `${count} files failed, and at most ${flakyFilesMax} may (TEST_FLAKY_FILES)` : null
}
/** What became of the failed files, for whoever reads the list of failures. */
let again = ""
let isFlaky = false
if (failed > 0 && flakyFilesMax > 0) {
  const reason = notAgain()
  if (reason !== null) again = `not tried again: ${reason}`
  else {
    console.log(`\ntrying again, ${passesAgain} times: ${failedFiles.join(" ")}`)
    let round: Round | undefined
    let tries = 0
    while (tries < passesAgain && (round === undefined || round.failed === 0)) {
      round = await run(failedFiles, [])
      tries += 1
    }
    isFlaky = round?.failed === 0
    if (isFlaky) {
      passed += failed
      failed = 0
    } else {
      const files = new Set(round?.failures.map(({ file }) => file))
      again = `failed again, in try ${tries} of ${passesAgain}: ${[...files].join(" ")}`
    }
  }
}

for (const { file, text } of failures) console.log(`\n=== failed in ${file}\n${text}`)
console.log()
if (again !== "") console.log(again)
if (isFlaky) {
  const line = `FLAKY: ${failedFiles.join(" ")} failed once and then passed ${passesAgain} times`
  console.log(line)
  const list = process.env["TEST_FLAKY_LIST"]
  if (list !== undefined) appendFileSync(list, `${line}\n`)
}
if (leftOut.length > 0)
  console.log(
    `${leftOut.length} test files were left out: they read the providers' documents, which are not beside this project`
  )
if (chosen.length === 0) console.log(`no test file matches ${wanted.join(" ")}`)
if (skipped > 0) console.log(`${skipped} skipped`)
if (Bun.which("redis-server") === null && !process.env.TEST_REDIS_URL) {
  console.log("redis-server is not installed: the tests ran without their Redis halves (Postgres-only mode is tested)")
}
if (wanted.length === 0 && !chaos && !security)
  for (const tier of ["slow", "chaos", "security"] as const) {
    const count = all.filter((file) => tierOf(file) === tier).length
    if (!tiers.includes(tier) && count > 0)
      console.log(`not run: ${count} ${tier} test file${count === 1 ? "" : "s"} (${commandOf[tier]})`)
  }
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed === 0 && passed > 0 ? 0 : 1)
