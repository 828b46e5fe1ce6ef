/**
 * Group commit for callers that do not know of each other: items that arrive while a flush is under way share the next one.
 *
 * One caller alone waits for nobody; a thousand share a few statements. A caller that is interrupted leaves its item in the
 * batch: what was handed over is done. A batch that fails is tried again item by item, so that one bad item fails alone.
 */
import { Cause, Effect, Exit } from "effect"

interface Waiting<I, O, E> {
  readonly item: I
  readonly resume: (result: Effect.Effect<O, E>) => void
}

export interface BatchOptions<I, O, E> {
  readonly name: string
  /** Items in one flush at most. */
  readonly max: number
  /** Flushes under way at once. */
  readonly parallel: number
  /** Answers as many outputs as it was given items, in their order. */
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

/** A cause as one line for a log. */
export const oneLine = (cause: Cause.Cause<unknown>): string => Cause.pretty(cause).split("\n")[0] ?? "unknown"

/**
 * A defect as a log may have it: messages and stacks of it and its causes. An error of PostgreSQL also has the refused row in a field of
 * its own, which may name people, so its fields are left out.
 */
export const inWords = (defect: unknown): string => Cause.pretty(Cause.die(defect))
