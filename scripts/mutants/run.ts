/**
 * Tries faults on the tests that execute their lines, until one fails.
 *
 * A test file counts only if it passes without the fault. Test files run a few at a time: a fault is mostly caught by the first ones, and
 * a process for each file would cost more than its tests.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Mutant, planted } from "./edits.ts"
import { executedLines, hashOf, type Measured, type Reach } from "./reach.ts"
import { folders } from "./sample.ts"
import type { Stage } from "./stage.ts"

/** `invalid`: PostgreSQL could not parse the statement, so it is no fault that anybody would overlook. */
export type Verdict = "caught" | "survived" | "invalid"

export interface Result extends Mutant {
  readonly verdict: Verdict
  /** What caught it, or how far its tests were tried. */
  readonly by: string
  readonly millis: number
}

/** Expected length of the first and the longest round of test files. */
const roundMillis = { first: 4_000, longest: 60_000 }
/** A round may take this much longer than expected, before it counts as hanging. */
const slower = { factor: 5, millis: 25_000 }
const measureMillisMax = 240_000
const coverageReport = join(".scratch", "coverage", "lcov.info")
const unparsed = /syntax error at or near|syntax error at end of input/
const tooLate = /^ {2}\^ this test timed out after/m
const failedTest = /^\(fail\) (.*?)(?: \[[\d.]+m?s\])?$/m

/** `measures`: what a test file executes is measured before it is tried. Without that, all that may reach the line are tried. */
export const runnerOf = (reach: Reach, secondsMax: number, measures: boolean, say: (line: string) => void) => {
  /** Test files that passed without a fault in this run. */
  const sound = new Map<string, Promise<boolean>>()

  /** Runs a test file without a fault, and keeps what it executed. */
  const measure = async (stage: Stage, test: string): Promise<boolean> => {
    rmSync(join(stage.tree, coverageReport), { force: true })
    const flags = ["--coverage", "--coverage-reporter=lcov", `./${test}`]
    const { passed, millis } = await stage.run(flags, measureMillisMax, reach.needsDatabase(test))
    const files: Record<string, Measured["files"][string]> = {}
    if (passed) {
      for (const [file, executed] of executedLines(readFileSync(join(stage.tree, coverageReport), "utf8"))) {
        if (!folders.some((folder) => file.startsWith(`${folder}/`))) continue
        files[file] = { hash: hashOf(readFileSync(join(stage.tree, file), "utf8")), executed }
      }
    } else say(`left out, because it fails without a fault: ${test}`)
    reach.keep(test, { passed, millis: Math.round(millis), files })
    await stage.clean()
    return passed
  }
  const isSound = (stage: Stage, test: string): Promise<boolean> => {
    const known = sound.get(test) ?? measure(stage, test)
    sound.set(test, known)
    return known
  }

  return async (stage: Stage, mutant: Mutant): Promise<Result> => {
    const { file, line } = mutant
    const path = join(stage.tree, file)
    const source = readFileSync(path, "utf8")
    const hash = hashOf(source)
    const faulty = planted(source, mutant)
    const began = performance.now()
    const result = (verdict: Verdict, by: string): Result => ({
      ...mutant,
      verdict,
      by,
      millis: Math.round(performance.now() - began)
    })
    const left = [...reach.candidates(file, mutant.source)]
    let spent = 0
    const tried = new Set<string>()

    const runFaulty = async (tests: ReadonlyArray<string>) => {
      const expected = tests.reduce((sum, test) => sum + reach.millisOf(test), 0)
      const limit = expected * slower.factor + slower.millis
      writeFileSync(path, faulty)
      const outcome = await stage
        .run(["--bail=1", ...tests.map((test) => `./${test}`)], limit, tests.some(reach.needsDatabase))
        .finally(() => writeFileSync(path, source))
      await stage.clean()
      spent += outcome.millis
      for (const test of tests) tried.add(test)
      return outcome
    }

    /** One process over some test files. Null if all pass. */
    const tryOn = async (tests: ReadonlyArray<string>): Promise<Result | null> => {
      let outcome = await runFaulty(tests)
      if (outcome.passed) return null
      const begun = (test: string) => outcome.output.lastIndexOf(`${test}:\n`)
      const by = tests.filter((test) => begun(test) >= 0).toSorted((a, b) => begun(b) - begun(a))[0] ?? tests[0] ?? ""
      // On a busy machine a test may fail by chance. One that has caught faults of the file before is believed.
      const byChance = outcome.stopped === "time" || tooLate.test(outcome.output) || !reach.hasCaught(by, file)
      const first = failedTest.exec(outcome.output)?.[1]
      if (byChance && reach.needsDatabase(by)) outcome = await runFaulty([by])
      const last = failedTest.exec(outcome.output)?.[1]
      const another = first !== undefined && last !== undefined && first !== last
      // A test file that fails anyway catches nothing. The others of the round are tried again without it.
      if (outcome.passed || another || !(await isSound(stage, by)))
        return tests.length === 1 ? null : tryOn(tests.filter((test) => test !== by))
      reach.noteCatch(by, file)
      if (outcome.stopped !== null) return result("caught", `${by}: stopped, too much ${outcome.stopped}`)
      if (mutant.sql === true && unparsed.test(outcome.output)) return result("invalid", by)
      return result("caught", `${by}: ${last ?? "does not load"}`)
    }

    for (let size: number = roundMillis.first; left.length > 0; size = Math.min(size * 2, roundMillis.longest)) {
      const round: Array<string> = []
      for (let millis = 0; left.length > 0 && millis < size; ) {
        // While another worker measures a test file, this one goes on with the next.
        const next = left.findIndex((test) => !measures || reach.measured(test) !== undefined || !sound.has(test))
        const [test = ""] = left.splice(Math.max(0, next), 1)
        if (measures && reach.measured(test) === undefined) await isSound(stage, test)
        const known = reach.measured(test)
        if (known === undefined ? measures : !known.passed || !reach.executes(test, file, line, hash)) continue
        round.push(test)
        millis += reach.millisOf(test)
      }
      const found = round.length === 0 ? null : await tryOn(round)
      if (found !== null) return found
      if (spent > secondsMax * 1_000) break
    }
    if (tried.size === 0) return result("survived", "no test executes it")
    return result(
      "survived",
      `${tried.size} test files pass${left.length > 0 ? `, ${left.length} were not tried` : ""}`
    )
  }
}
