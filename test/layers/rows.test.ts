import { describe, expect, test } from "bun:test"
import { Cause, Effect, Exit, Schema } from "effect"
import { batchRowsOf, oneRowOf, rowsOf } from "../../src/layers/postgres/Rows.ts"

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
