import { describe, expect, test } from "bun:test"
import { Cause, Effect, Exit, Schema } from "effect"
import {
  batchRowsOf,
  done,
  hasRows,
  oneNumber,
  oneRowOf,
  rowsOf,
  storedAs,
  textValues
} from "../../src/layers/postgres/Rows.ts"

const fields = { id: Schema.BigInt, name: Schema.NullOr(Schema.String) }
const sound = [
  { id: 1n, name: "a" },
  { id: 2n, name: null }
]

/** The rows, or the message with which the check died. */
const outcome = <A>(effect: Effect.Effect<A>) => {
  const exit = Effect.runSyncExit(effect)
  return Exit.isSuccess(exit) ? exit.value : Cause.pretty(exit.cause).split("\n")[0]
}
const unexpected = (column: string, holds: string) =>
  `Error: The database returned an unexpected row: the column "${column}" holds ${holds}.`

describe.each([
  ["rowsOf", rowsOf(fields)],
  ["batchRowsOf", batchRowsOf(fields)]
])("%s", (_, check) => {
  test("passes rows with the expected columns on, also none", () => {
    expect(outcome(check(Effect.succeed(sound)))).toEqual(sound)
    expect(outcome(check(Effect.succeed([])))).toEqual([])
  })

  test("dies on a wrong type, without its value", () => {
    expect(outcome(check(Effect.succeed([{ id: "secret", name: null }])))).toBe(unexpected("id", "string"))
  })

  test("dies on a missing column, and on a null in any row", () => {
    expect(outcome(check(Effect.succeed([{ id: 1n }])))).toBe(unexpected("name", "no value"))
    expect(outcome(check(Effect.succeed([...sound, { id: null, name: "b" }])))).toBe(unexpected("id", "null"))
  })
})

test("oneRowOf dies without a row", () => {
  expect(outcome(oneRowOf(fields)(Effect.succeed(sound)))).toEqual({ id: 1n, name: "a" })
  expect(outcome(oneRowOf(fields)(Effect.succeed([])))).toBe(
    "Error: A statement returned no row; one with id, name was expected."
  )
})

test("the values of one column come without its name, and are checked as rows are", () => {
  expect(outcome(textValues(Effect.succeed([{ name: "a" }, { name: "b" }])))).toEqual(["a", "b"])
  expect(outcome(textValues(Effect.succeed([])))).toEqual([])
  expect(outcome(textValues(Effect.succeed([{ name: "a" }, { name: null }])))).toBe(unexpected("name", "null"))
  expect(outcome(oneNumber(Effect.succeed([{ count: 0 }])))).toBe(0)
  expect(outcome(oneNumber(Effect.succeed([{ count: "secret" }])))).toBe(unexpected("count", "string"))
  expect(outcome(oneNumber(Effect.succeed([])))).toBe(
    "Error: A statement returned no row; one with a value was expected."
  )
})

test("a store's reading has all rows, the first or null, or the one that there is", () => {
  const rows = storedAs(fields)
  expect(outcome(rows.all(Effect.succeed(sound)))).toEqual(sound)
  expect(outcome(rows.first(Effect.succeed(sound)))).toEqual({ id: 1n, name: "a" })
  expect(outcome(rows.first(Effect.succeed([])))).toBeNull()
  expect(outcome(rows.one(Effect.succeed(sound)))).toEqual({ id: 1n, name: "a" })
  expect(outcome(rows.one(Effect.succeed([])))).toContain("A statement returned no row")
  expect(outcome(rows.all(Effect.succeed([{ id: "secret", name: null }])))).toBe(unexpected("id", "string"))
})

test("hasRows says whether there are any, and done says nothing", () => {
  expect(outcome(hasRows(Effect.succeed(sound)))).toBe(true)
  expect(outcome(hasRows(Effect.succeed([])))).toBe(false)
  expect(outcome(done(Effect.succeed(sound)))).toBeUndefined()
})

type Reading = (statement: Effect.Effect<ReadonlyArray<object>, string>) => Effect.Effect<unknown>
const { all, first, one } = storedAs(fields)
const readings: Readonly<Record<string, Reading>> = { all, first, one, hasRows, done }

test.each(Object.keys(readings))("%s dies of a failing database", (name) => {
  const exit = Effect.runSyncExit(readings[name]?.(Effect.fail("the database is away")) ?? Effect.void)
  expect(Exit.isFailure(exit) && Cause.hasDies(exit.cause)).toBe(true)
})
