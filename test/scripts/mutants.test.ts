/** Which faults `npm run mutants` makes, which of them it tries, and that its list of accepted ones is up to date. */
import { describe, expect, test } from "bun:test"
import { join } from "node:path"
import { planted } from "../../scripts/mutants/edits.ts"
import { executedLines } from "../../scripts/mutants/reach.ts"
import {
  allMutants,
  folders,
  mutantsOf,
  readAccepted,
  sampled,
  spread,
  withoutAccepted
} from "../../scripts/mutants/sample.ts"

const root = join(import.meta.dir, "..", "..")
const mutations = (source: string) => mutantsOf("a.ts", source).map(({ mutation }) => mutation)
const results = (source: string) => mutantsOf("a.ts", source).map((mutant) => planted(source, mutant))
const inSql = (sql: string) =>
  results(`const q = sql\`${sql}\``).map((text) => text.slice("const q = sql`".length, -1).replace(/ +/g, " "))

describe("faults in TypeScript", () => {
  const cases: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
    ["const f = (a: number) => a < b", ["< → <=", "< → >="]],
    ["const f = () => a === b && c", ["=== → !==", "&& → ||"]],
    ["const f = () => a - b * 2n", ["- → +", "* → /", "2n → 1n", "2n → 3n"]],
    ["const limit = 86_400_000", ["86_400_000 → 864000000"]],
    ["const f = () => a ?? 0n", ["a ?? 0n → 0n", "a ?? 0n → a", "0n → 1n"]],
    ["const f = () => a ?? null", ["a ?? null → null"]],
    ["const f = () => (a ? b : c)", ["a → !(a)"]],
    ["const f = () => !a", ["!a → a"]],
    ["const f = () => [a]", ["[a] → []"]],
    ['const f = () => "open"', ['"open" → ""']],
    ["const f = () => Math.min(a, b)", ["min → max"]],
    ['import { minus, plus } from "./Money.ts"\nconst f = () => plus(a, b)', ["plus → minus"]],
    ['import { plus } from "./Money.ts"\nconst f = () => plus(a, b)', ["plus(a, b) → a", "plus(a, b) → b"]],
    ["const f = () => list.filter(isOpen).some(isMine)", [".filter(isOpen) → nothing", "some → every"]],
    ['const needed = { run: "member", list: "viewer" }', ['"member" → "viewer"', '"viewer" → "member"']],
    ["function f() { if (a) return\n  change(b)\n}", ["if (a) return → nothing", "a → !(a)", "change(b) → nothing"]]
  ]
  test.each(cases)("%s", (source, expected) => expect(mutations(source).toSorted()).toEqual(expected.toSorted()))

  test("leave types, imports, comments, messages, logs and empty lists alone", () => {
    const source = `import { a } from "./1.ts"
type Limit = 5 | true
// a < b
const f = function* (x: 3) {
  if (x.length === 0) return
  yield* Effect.logError(\`took \${1 + 1}\`)
  problem("forbidden", a ? "one" : "two")
  throw new RangeError(a ? "one" : "two")
}`
    expect(mutations(source)).toEqual(
      ["=== → !==", "0 → 1", 'problem("forbidden", a ? "one" : "two") → nothing'].slice(0, 2)
    )
  })

  test("a second fault of the same kind on a line has a number", () => {
    expect(mutations("const f = () => a === b || c === d")).toEqual(["=== → !==", "|| → &&", "=== → !== (2)"])
  })
})

describe("faults in SQL", () => {
  test("each condition is dropped, with its interpolations, and a lone one becomes true", () => {
    // biome-ignore format: one statement a line
    expect(inSql("UPDATE w SET a = n.a WHERE w.id = ${id} AND w.v BETWEEN 200 AND ${x} AND (b OR c IS NULL) RETURNING 1")).toEqual([
      "UPDATE w SET a = n.a WHERE w.v BETWEEN 200 AND ${x} AND (b OR c IS NULL) RETURNING 1",
      "UPDATE w SET a = n.a WHERE w.id <> ${id} AND w.v BETWEEN 200 AND ${x} AND (b OR c IS NULL) RETURNING 1",
      "UPDATE w SET a = n.a WHERE w.id = ${id} AND (b OR c IS NULL) RETURNING 1",
      "UPDATE w SET a = n.a WHERE w.id = ${id} AND w.v BETWEEN 2000 AND ${x} AND (b OR c IS NULL) RETURNING 1",
      "UPDATE w SET a = n.a WHERE w.id = ${id} AND w.v BETWEEN 200 AND ${x} RETURNING 1",
      "UPDATE w SET a = n.a WHERE w.id = ${id} AND w.v BETWEEN 200 AND ${x} AND (c IS NULL) RETURNING 1",
      "UPDATE w SET a = n.a WHERE w.id = ${id} AND w.v BETWEEN 200 AND ${x} AND (b ) RETURNING 1",
      "UPDATE w SET a = n.a WHERE w.id = ${id} AND w.v BETWEEN 200 AND ${x} AND (b OR c IS NOT NULL) RETURNING 1"
    ])
    expect(inSql("DELETE FROM w WHERE ${mine}")).toEqual(["DELETE FROM w WHERE true"])
    expect(inSql(" AND ${mine}")).toEqual([" "])
  })

  test("each column of SET is dropped, and its = is no comparison", () => {
    expect(inSql("UPDATE w SET a = 7, b = n.b FROM n")).toEqual([
      "UPDATE w SET b = n.b FROM n",
      "UPDATE w SET a = 6, b = n.b FROM n",
      "UPDATE w SET a = 8, b = n.b FROM n",
      "UPDATE w SET a = 7 FROM n"
    ])
  })

  const cases: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
    ["SELECT a FROM b LIMIT 1 FOR UPDATE SKIP LOCKED", ["FOR UPDATE SKIP LOCKED → nothing", "1 → 0", "1 → 2"]],
    ["SELECT coalesce(a + ${b}, 7) FROM c", ["coalesce(a + ${b}, 7) → a + ${b}", "+ → -", "7 → 6", "7 → 8"]],
    ["SELECT least(a, b) * ${c}", ["least → greatest", "* → /"]],
    ["SELECT count(*), n.* FROM n", []],
    ["SELECT a->>'b' = c, f(x => 'y')", ["= → <>"]],
    ["SELECT a < now() - interval '5 minutes', b <= c", ["'5 minutes' → '50 minutes'", "- → +", "< → >", "<= → <"]],
    [
      "SELECT NOT a, b IS NOT DISTINCT FROM c, EXISTS (SELECT)",
      ["NOT → nothing", "NOT → nothing (2)", "nothing → NOT"]
    ],
    ["SELECT DISTINCT a FROM b LEFT JOIN c USING (d)", ["DISTINCT → nothing", "LEFT → nothing"]],
    ["SELECT a ORDER BY b, c", ["nothing → DESC"]],
    ["SELECT a ORDER BY b DESC", ["DESC → ASC"]],
    ["INSERT INTO a SELECT b ON CONFLICT (c) DO NOTHING", ["ON CONFLICT (c) DO NOTHING → nothing"]],
    ["SELECT true -- a < b", ["true → false"]]
  ]
  test.each(cases)("%s", (sql, expected) =>
    expect(mutations(`const q = sql\`${sql}\``).toSorted()).toEqual(expected.toSorted())
  )
})

describe("the sample", () => {
  const source = Array.from({ length: 40 }, (_, at) => `const f${at} = () => a${at} === b`).join("\n")
  const faults = mutantsOf("a.ts", source)

  test("is the same for a seed, also when lines move, and another one for another seed", () => {
    const lines = (text: string, seed: number) => sampled(mutantsOf("a.ts", text), seed, 5).map((one) => one.source)
    expect(lines(source, 1)).toHaveLength(5)
    expect(lines(`// moved\n\n${source}`, 1)).toEqual(lines(source, 1))
    expect(lines(source, 2)).not.toEqual(lines(source, 1))
  })

  test("of all folders takes each in turn", () => {
    const other = mutantsOf("b.ts", "const f = () => !a")
    const files = spread([faults, other, []], 3, 6).map(({ file }) => file)
    expect(files.toSorted()).toEqual(["a.ts", "a.ts", "a.ts", "a.ts", "a.ts", "b.ts"])
  })

  test("leaves out what is accepted, and names entries that match nothing", () => {
    const entry = { file: "a.ts", line: "const f3 = () => a3 === b", mutation: "=== → !==", reason: "" }
    const { faults: left, unmatched } = withoutAccepted(faults, [entry, { ...entry, line: "gone" }])
    expect([left.length, unmatched.map(({ line }) => line)]).toEqual([39, ["gone"]])
  })
})

test("a line without a count of its own is executed as the line before it", () => {
  const lcov = "SF:src/a.ts\nDA:3,1\nDA:5,2\nDA:6,0\nDA:9,1\nend_of_record\nSF:src/b.ts\nDA:1,0\nend_of_record\n"
  const lines = executedLines(lcov)
  const isExecuted = (line: number) => lines.get("src/a.ts")?.some(([from, to]) => from <= line && line <= to)
  expect([2, 3, 4, 5, 6, 7, 9, 90].map(isExecuted)).toEqual([false, true, true, true, false, false, true, true])
  expect(lines.get("src/b.ts")).toEqual([])
})

test("each accepted fault is one that can be made, and has a reason", () => {
  const accepted = readAccepted(root)
  const { unmatched } = withoutAccepted([...allMutants(root, folders).values()].flat(), accepted)
  expect(unmatched).toEqual([])
  expect(accepted.filter(({ reason }) => reason.length < 20)).toEqual([])
})
