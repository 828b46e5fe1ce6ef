/** What nouns say of their lists, which commands and pages read. */
import { expect, test } from "bun:test"
import { Schema } from "effect"
import { nounColumns } from "../../src/http/client/nounColumns.ts"
import { keyState, scopeWords, shownOf, valueAt } from "../../src/http/client/Words.ts"
import { Allowance } from "../../src/schema/nouns/Allowance.ts"
import { columnsOf, withColumns } from "../../src/schema/Columns.ts"
import { amount, count, time } from "../../src/schema/nouns/Noun.ts"

test("columns of every noun are fields of it, with titles that tell them apart", () => {
  const all = Object.entries(nounColumns())
  expect(all.length).toBeGreaterThan(10)
  for (const [name, { list, facts }] of all)
    for (const columns of [list, facts]) {
      const titles = columns.map(({ title }) => title)
      expect([name, [...new Set(titles)]]).toEqual([name, titles])
    }
})

test("a column has its title and its kind from the field, unless the noun says another", () => {
  const { list } = columnsOf(Allowance)
  const shown = Object.fromEntries(list.map(({ name, title, kind }) => [name, `${title}, ${kind}`]))
  expect(shown).toMatchObject({
    ...{ id: "Id, id", name: "Name, text", status: "State, state", spent: "Spent, money", available: "Left, money" },
    ...{ expires_at: "Expires, time", parent_id: "Given by, id", display: "Key, code" }
  })
})

test("a field of an object is a column too, with or without a value", () => {
  const Thing = Schema.Struct({
    size: Schema.Struct({ rows: Schema.Int, open: count, took_ms: Schema.NullOr(Schema.Int) }),
    price: Schema.NullOr(amount),
    ends_at: Schema.optionalKey(time),
    tags: Schema.Array(Schema.String),
    on: Schema.Boolean
  }).pipe(
    withColumns({
      list: ["size.rows", "size.open", "size.took_ms", "price", "ends_at", "tags", "on"],
      wide: ["tags", "on"]
    })
  )
  const { list } = columnsOf(Thing)
  expect(list.map(({ title, kind, wide }) => [title, kind, wide])).toEqual([
    ["Rows", "count", null],
    ["Open", "count", null],
    ["Took", "duration", null],
    ["Price", "money", null],
    ["Ends", "time", null],
    ["Tags", "list", 1],
    ["On", "flag", 2]
  ])
  expect([valueAt({ size: { rows: 3 } }, "size.rows"), valueAt({ size: null }, "size.rows")]).toEqual([3, undefined])
})

test("another field stands in the place of one that is null", () => {
  const Thing = Schema.Struct({ a: Schema.NullOr(Schema.String), b: Schema.NullOr(Schema.String) }).pipe(
    withColumns({ list: ["a", "b"], instead: { a: "b" } })
  )
  const shown = (one: typeof Thing.Type) => columnsOf(Thing).list.map((column) => shownOf(one, column))
  expect([shown({ a: "x", b: "y" }), shown({ a: null, b: "y" }), shown({ a: null, b: null })]).toEqual([
    ["x", "y"],
    ["y", "y"],
    [null, null]
  ])
})

test("a field that the noun does not have is refused", () => {
  const Thing = Schema.Struct({ name: Schema.String }).annotate({ "~rungate/columns": { list: ["nmae"] } })
  expect(() => columnsOf(Thing)).toThrow("reads nmae")
})

test("a scope in words", () => {
  const words = (allow: Parameters<typeof scopeWords>[0]["allow"], most?: number) => scopeWords({ allow }, most)
  expect([words(null), words({}), words({ capabilities: [] })]).toEqual(["everything", "everything", "no capabilities"])
  const several = { capabilities: ["email.find", "email.verify"], raw: false, max_cost: "0.10" }
  expect(words(several)).toBe("only email.find, email.verify, no raw endpoints, at most $0.10 per run")
  expect(words(several, 1)).toBe("only 2 capabilities, no raw endpoints, at most $0.10 per run")
})

test("the state of a key in a word", () => {
  const key = { revoked: false, expires_at: null, connected: false, allowance: false, replaced_by: null }
  const past = { expires_at: "2026-01-01T00:00:00.000Z" }
  const now = Date.parse("2026-06-01T00:00:00.000Z")
  const states = [key, { ...key, ...past }, { ...key, ...past, connected: true }, { ...key, ...past, revoked: true }]
  expect(states.map((one) => keyState(one, now))).toEqual(["in use", "expired", "connected agent", "revoked"])
  expect(keyState({ ...key, replaced_by: "key_2" }, now)).toBe("replaced")
  expect(keyState({ ...key, allowance: true }, now)).toBe("allowance")
})
