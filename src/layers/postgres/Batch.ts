/**
 * Group commit: items of independent callers that arrive during a flush share the next flush.
 *
 * A single caller is flushed at once. An interrupted caller's item stays in the batch and is still flushed. A failed batch is retried
 * item by item, so that a bad item fails alone: `flush` must tolerate an item that it has already written.
 */
import { Cause, Effect, Exit } from "effect"

interface Waiting<I, O, E> {
  readonly item: I
  readonly resume: (result: Effect.Effect<O, E>) => void
}

export interface BatchOptions<I, O, E> {
  readonly name: string
  /** Maximum number of items in one flush. */
  readonly max: number
  /** Maximum number of concurrent flushes. */
  readonly parallel: number
  /** Returns one output per item, in the order of the items. */
  readonly flush: (items: ReadonlyArray<I>) => Effect.Effect<ReadonlyArray<O>, E>
}

export const batch = <I, O, E>(options: BatchOptions<I, O, E>) =>
  Effect.gen(function* () {
    const fork = Effect.runForkWith(yield* Effect.context<never>())
    const pending: Array<Waiting<I, O, E>> = []
    let active = 0

    const deliver = (waiting: ReadonlyArray<Waiting<I, O, E>>, outputs: ReadonlyArray<O>) => {
      for (const [index, one] of waiting.entries()) {
        const output = outputs[index]
        one.resume(
          output === undefined
            ? Effect.die(new Error(`${options.name}: no output for an item`))
            : Effect.succeed(output)
        )
      }
    }
    const flush = (waiting: ReadonlyArray<Waiting<I, O, E>>): Effect.Effect<void> =>
      options.flush(waiting.map((one) => one.item)).pipe(
        Effect.exit,
        Effect.flatMap((exit) => {
          if (Exit.isSuccess(exit)) return Effect.sync(() => deliver(waiting, exit.value))
          if (waiting.length > 1) return Effect.forEach(waiting, (one) => flush([one]), { discard: true })
          return Effect.sync(() => {
            for (const one of waiting) one.resume(Effect.failCause(exit.cause))
          })
        })
      )
    const loop = Effect.gen(function* () {
      while (pending.length > 0) yield* flush(pending.splice(0, options.max))
    }).pipe(
      Effect.ensuring(
        Effect.sync(() => {
          active -= 1
        })
      )
    )

    const kick = () => {
      if (active >= options.parallel) return
      active += 1
      fork(loop)
    }
    return (item: I): Effect.Effect<O, E> =>
      Effect.callback<O, E>((resume) => {
        pending.push({ item, resume })
        kick()
      })
  }).pipe(Effect.withSpan(`Batch.${options.name}`))

const lineOf = (text: string): string => text.split("\n")[0] ?? ""
const innermost = (error: unknown): unknown =>
  error instanceof Error && error.cause !== undefined ? innermost(error.cause) : error

/** A cause in one line, for logs. An error of Effect's client says only that a query failed, and holds what PostgreSQL said. */
export const oneLine = (cause: Cause.Cause<unknown>): string => {
  const line = lineOf(Cause.pretty(cause))
  const said = innermost(Cause.squash(cause))
  const why = said instanceof Error ? lineOf(said.message) : ""
  return line.includes(why) ? line : `${line}: ${why}`
}

/** Logs a cause as a warning. The sentence says what failed and what happens next. */
export const logFailure = (sentence: string) => (cause: Cause.Cause<unknown>) =>
  Effect.logWarning(`${sentence}: ${oneLine(cause)}`)

/**
 * A defect for logs: its message and stack, and those of its causes. The other fields are left out, because an error of PostgreSQL
 * holds the refused row in one of them, and that row may hold personal data.
 */
export const inWords = (defect: unknown): string => Cause.pretty(Cause.die(defect))
