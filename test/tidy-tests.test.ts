/**
 * Refuses a test that asserts nothing, because it passes whatever the service does, and a limit of time that a slow machine breaks.
 *
 * The linter reads the syntax tree. It knows the tests of Vitest and not those of Bun, so it gets copies that name Vitest.
 */
import { afterAll, describe, expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { slowness, testMillis } from "./kit/slowness.ts"

/** What counts as an assertion. A helper is here only if it throws when the service is wrong; others are named `expect…`. */
const assertions = [
  "expect",
  "expect*",
  // Throws when its condition does not hold in time.
  "until",
  // Asserts every equation of the books (test/kit/app.ts).
  "**.books",
  // The browser's own: they throw when the element or the address does not come.
  "**.waitFor",
  "**.waitForURL",
  // Asserts that a page has no finding of accessibility, no error and no overflow (test/console/visitor.ts).
  "looked"
]
const lint = {
  plugins: ["jest"],
  categories: { correctness: "off" },
  rules: { "jest/expect-expect": ["error", { assertFunctionNames: assertions }] }
}

const folders: Array<string> = []
const newFolder = () => {
  const path = mkdtempSync(join(tmpdir(), "rungate-tidy-tests-"))
  folders.push(path)
  return path
}
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** Lines stay where they are. `effect` and `live` of test/kit/effect-tests.ts make tests as well. Vitest has no `test.if`. */
const asVitest = (text: string) =>
  text
    .replaceAll('from "bun:test"', 'from "vitest"')
    .replaceAll("test.if(", "test.skipIf(")
    .replace(/^( *)(?:it\.)?(?:effect|live)\(/gm, "$1test(")

interface Report {
  readonly number_of_files: number
  readonly diagnostics: ReadonlyArray<{
    readonly filename: string
    readonly labels: ReadonlyArray<{ readonly span: { readonly line: number } }>
  }>
}

/** Every test without an assertion. */
const findings = (files: Readonly<Record<string, string>>): ReadonlyArray<string> => {
  const root = newFolder()
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, file)), { recursive: true })
    writeFileSync(join(root, file), asVitest(text))
  }
  const config = join(newFolder(), "lint.json")
  writeFileSync(config, JSON.stringify(lint))
  const oxlint = join(import.meta.dir, "..", "node_modules", ".bin", "oxlint")
  // A file, because the linter may end before a pipe has taken all of a long report.
  const report = join(newFolder(), "report.json")
  const { stderr } = Bun.spawnSync([process.execPath, oxlint, "-c", config, "--no-ignore", "--format=json", "."], {
    cwd: root,
    stdout: Bun.file(report)
  })
  const written = readFileSync(report, "utf8")
  if (!written.startsWith("{")) throw new Error(`oxlint printed no report: ${stderr.toString()}${written}`)
  const { diagnostics, number_of_files }: Report = JSON.parse(written)
  expect(number_of_files).toBe(Object.keys(files).length)
  return diagnostics.map(({ filename, labels }) => `${filename}:${labels[0]?.span.line}: a test that asserts nothing`)
}

const paths = Array.from(new Bun.Glob("**/*.test.{ts,tsx}").scanSync(import.meta.dir))
const tests = paths.map((path) => [path, readFileSync(join(import.meta.dir, path), "utf8")] as const)

/** The lines with a test's or hook's own limit that is no longer than the one of all (test/kit/slowness.ts). */
const smallLimits = (text: string): ReadonlyArray<number> =>
  Array.from(
    text.matchAll(
      /^( *)(?:test|beforeAll|beforeEach|afterAll|afterEach)\b[^\n]*\n(?:\1 [^\n]*\n|\n)*\1\}, ([\d_]+)\)$/gm
    )
  )
    .filter(([, , limit = ""]) => Number(limit.replaceAll("_", "")) <= testMillis / slowness)
    .map(({ 0: whole, index }) => text.slice(0, index + whole.length).split("\n").length)

describe("tests", () => {
  test("each of them asserts something", () => {
    expect(paths.length).toBeGreaterThan(300)
    expect(findings(Object.fromEntries(tests))).toEqual([])
  })

  test("none has a limit of time below that of all, which grows with the slowness of the machine", () => {
    expect(tests.flatMap(([path, text]) => smallLimits(text).map((line) => `${path}:${line}`))).toEqual([])
    const some =
      'test("a", () => {\n  go()\n}, 60_000)\nsetInterval(() => {\n  go()\n}, 10)\nafterAll(() => {\n  go()\n}, 600_000)'
    expect(smallLimits(some)).toEqual([3])
  })
})

describe("tidy finds", () => {
  const fromBun = 'import { describe, expect, test } from "bun:test"\n'
  const cases: ReadonlyArray<readonly [name: string, text: string, lines: ReadonlyArray<number>]> = [
    ["nothing in a test that asserts", 'test("a", () => expect(1).toBe(1))', []],
    ["an empty test, and one that only prints", 'test("a", () => {})\ntest("b", () => console.log(1))', [2, 3]],
    [
      "one in a group, a test of each value, and a test that may be skipped",
      'describe("g", () => {\n  test("a", () => {})\n})\ntest.each([1])("%p", (n) => go(n))\ntest.if(yes)("b", () => {})',
      [3, 5, 6]
    ],
    [
      "one that asserts only if something happens to be so",
      'test("a", () => {\n  for (const one of all) if (one.free) expect(one.price).toBe(0)\n})',
      [2]
    ],
    [
      "tests that run an effect",
      'import { effect, live } from "../kit/effect-tests.ts"\neffect("a", () => Effect.void)\nlive("b", () => Effect.void)\neffect("c", () => Effect.sync(() => expect(1).toBe(1)))',
      [3, 4]
    ],
    [
      "nothing where a helper asserts, and its name says so",
      [
        'test("a", () => until("done", look, (is) => is))',
        'test("b", async () => {\n  await app.books()\n})',
        'test("c", () => expectRefused(1))',
        'test("d", () => page.getByText("e").waitFor())',
        'test("e", () => fc.assert(fc.property(fc.string(), (text) => expect(text).toBe(text))))'
      ].join("\n"),
      []
    ],
    ["one whose helper may assert or not", 'const check = () => expect(1).toBe(1)\ntest("a", () => check())', [3]],
    ["another name for `test`, which would hide its tests", "const onRedis = test.skipIf(no)", [2]]
  ]
  test.each(cases)("%s", (_name, text, lines) => {
    const found = findings({ "a/some.test.ts": `${fromBun}${text}\n` })
    expect(found).toEqual(lines.map((line) => `a/some.test.ts:${line}: a test that asserts nothing`))
  })
})
