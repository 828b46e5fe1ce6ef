/**
 * Which tests execute a line, and in which order they are tried on a fault of it.
 *
 * Imports say which test files may reach a source file. What a test file executes is measured once, by the coverage of `bun test`, and kept
 * in `.scratch/mutants/reach.json` until the test file changes. For a source file that has changed since, each of its lines counts as executed.
 */
import { createHash } from "node:crypto"
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { tierOf } from "../tiers.ts"

type Ranges = ReadonlyArray<readonly [from: number, to: number]>

/** What one run of a test file without a fault showed. */
export interface Measured {
  readonly test: string
  readonly passed: boolean
  readonly millis: number
  readonly files: Readonly<Record<string, { readonly hash: string; readonly executed: Ranges }>>
}

export const hashOf = (text: string): string => createHash("sha1").update(text).digest("hex").slice(0, 16)

/** Lines that were executed, by file. A line without a count of its own continues the counted line before it. */
export const executedLines = (lcov: string): ReadonlyMap<string, Ranges> => {
  const files = new Map<string, Ranges>()
  for (const record of lcov.split("end_of_record")) {
    const file = /^SF:(.+)$/m.exec(record)?.[1]
    if (file === undefined) continue
    const counts = Array.from(record.matchAll(/^DA:(\d+),(\d+)/gm), ([, line, count]) => [Number(line), Number(count)])
    const executed: Array<[number, number]> = []
    counts.forEach(([line = 0, count = 0], at) => {
      const to = (counts[at + 1]?.[0] ?? Number.MAX_SAFE_INTEGER) - 1
      const last = executed.at(-1)
      if (count === 0) return
      if (last !== undefined && last[1] === line - 1) last[1] = to
      else executed.push([line, to])
    })
    files.set(file, executed)
  }
  return files
}

/** How many imports lie between each file and those that it reaches. */
const distances = (from: string, importsOf: (file: string) => ReadonlyArray<string>): ReadonlyMap<string, number> => {
  const seen = new Map([[from, 0]])
  for (const [file, distance] of seen)
    for (const next of importsOf(file)) if (!seen.has(next)) seen.set(next, distance + 1)
  return seen
}

/** The words of a path or a line, of camelCase and snake_case too, without the plural. */
const wordsOf = (text: string): ReadonlySet<string> =>
  new Set(
    Array.from(text.matchAll(/[A-Z]?[a-z]{2,}/g), ([word]) => word.toLowerCase().replace(/(?<=[a-z]{3})(es|s)$/, ""))
  )

/** A test file that no time is known of. */
const unknownMillis = 5_000

export const reachOf = (root: string, among: (file: string) => boolean) => {
  const store = join(root, ".scratch", "mutants", "reach.json")
  const stored: Record<string, Measured> = existsSync(store) ? JSON.parse(readFileSync(store, "utf8")) : {}
  // What failed the last time may have failed by chance, so it is measured again.
  const kept = Object.fromEntries(Object.entries(stored).filter(([, { passed }]) => passed))
  const timings: Record<string, number> = JSON.parse(readFileSync(join(root, "test", "timings.json"), "utf8")).files

  const imports = new Map<string, ReadonlyArray<string>>()
  const importsOf = (file: string) => {
    const known = imports.get(file)
    if (known !== undefined) return known
    const text = /\.tsx?$/.test(file) ? readFileSync(join(root, file), "utf8") : ""
    const found = Array.from(text.matchAll(/(?:from|import\(?)\s*"(\.{1,2}\/[^"]+)"/g), ([, path = ""]) =>
      join(dirname(file), path)
    ).filter((path) => existsSync(join(root, path)))
    imports.set(file, found)
    return found
  }
  const tests = [...new Bun.Glob("test/**/*.test.{ts,tsx}").scanSync(root)].filter(
    (file) => tierOf(file) === "fast" && among(file)
  )
  const reached = new Map(tests.sort().map((test) => [test, distances(test, importsOf)]))
  const hashes = new Map(tests.map((test) => [test, hashOf(readFileSync(join(root, test), "utf8"))]))
  const named = new Map(tests.map((test) => [test, wordsOf(test)]))
  const testsWith = new Map<string, number>()
  for (const words of named.values()) for (const word of words) testsWith.set(word, (testsWith.get(word) ?? 0) + 1)
  const everMeasured = new Set(Object.values(kept).flatMap(({ files }) => Object.keys(files)))
  /** How many faults of a file each test file has caught. */
  const caught = new Map<string, number>()

  const measured = (test: string): Measured | undefined => {
    const known = kept[test]
    return known?.test === hashes.get(test) ? known : undefined
  }
  const millisOf = (test: string) => measured(test)?.millis ?? timings[test] ?? unknownMillis

  return {
    millisOf,
    measured,
    needsDatabase: (test: string): boolean => reached.get(test)?.has("test/kit/postgres.ts") === true,
    keep: (test: string, result: Omit<Measured, "test">) => {
      kept[test] = { test: hashes.get(test) ?? "", ...result }
      mkdirSync(dirname(store), { recursive: true })
      writeFileSync(`${store}.new`, JSON.stringify(kept))
      renameSync(`${store}.new`, store)
    },
    /** Whether a measured test file executes the line. */
    executes: (test: string, file: string, line: number, hash: string): boolean => {
      const entry = measured(test)?.files[file]
      if (entry === undefined) return !everMeasured.has(file)
      return entry.hash !== hash || entry.executed.some(([from, to]) => from <= line && line <= to)
    },
    hasCaught: (test: string, file: string): boolean => caught.has(`${file} ${test}`),
    noteCatch: (test: string, file: string) => {
      caught.set(`${file} ${test}`, (caught.get(`${file} ${test}`) ?? 0) + 1)
    },
    /**
     * The test files that may reach a line. Short ones come first, and those that are close to it, share rare words with it, or have caught
     * faults of its file.
     */
    candidates: (file: string, line: string): ReadonlyArray<string> => {
      const words = wordsOf(`${file.slice(file.lastIndexOf("/"))} ${line}`)
      const weight = (test: string) => {
        const distance = reached.get(test)?.get(file) ?? 0
        const near = distance <= 1 ? 8 : distance === 2 ? 3 : 1
        const shared = [...(named.get(test) ?? [])].filter((word) => words.has(word))
        const alike = shared.reduce((sum, word) => sum + Math.min(8, 40 / (testsWith.get(word) ?? 1)), 1)
        return near * alike * (1 + 4 * (caught.get(`${file} ${test}`) ?? 0))
      }
      const cost = new Map(tests.map((test) => [test, (millisOf(test) + 300) / weight(test)]))
      return tests
        .filter((test) => reached.get(test)?.has(file))
        .toSorted((a, b) => (cost.get(a) ?? 0) - (cost.get(b) ?? 0))
    }
  }
}
export type Reach = ReturnType<typeof reachOf>
