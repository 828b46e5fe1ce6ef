/**
 * Checks the rows of a statement against a schema, so that a renamed column or a changed type fails at once.
 *
 * The statements of the history index return thousands of rows of the same type. Therefore each statement checks only the first
 * row of its first results in a process. A wrong row is a defect.
 */
import { Effect, Schema } from "effect"

/** Results that are checked. Later results of the same statement have the same columns. */
const checkedMax = 3

/** `what` names the rows in the error. The result is one check per statement: create it once, outside of the calls. */
export const rowsAs = <A>(what: string, schema: Schema.ConstraintDecoder<A>) => {
  const decode = Schema.decodeUnknownSync(schema)
  let left = checkedMax
  const areRows = (rows: ReadonlyArray<unknown>): rows is ReadonlyArray<A> => {
    if (left === 0 || rows.length === 0) return true
    left -= 1
    decode(rows[0])
    return true
  }
  return <E, R>(rows: Effect.Effect<ReadonlyArray<unknown>, E, R>): Effect.Effect<ReadonlyArray<A>, E, R> =>
    Effect.flatMap(rows, (all) =>
      areRows(all) ? Effect.succeed(all) : Effect.die(new Error(`${what}: unexpected rows`))
    )
}

/** For a row that a correct statement always returns. Its absence is a defect. Damaged parts of the index are `SegmentDamaged` instead. */
export const missing = (what: string): never => {
  throw new Error(`history index: ${what} is missing. Rebuild the index: rungate admin reindex-history`)
}
