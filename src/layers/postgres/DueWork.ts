/**
 * Looks once a second for all background work of this process, in one statement, and starts what is due.
 *
 * Each loop gives a condition on its own tables, so a loop without work costs one column. A look that fails or takes long starts every
 * loop: a table that can't be read stops only the loops that need it. A lost wake-up delays work until the next look.
 */
import { Cause, Context, type Duration, Effect, Exit, FiberSet, Layer, Schedule, Schema, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { underway } from "../platform/Underway.ts"
import { logFailure } from "./Batch.ts"
import { keepAwake } from "./connection/KeepAwake.ts"
import { oneRowOf } from "./Rows.ts"

const logged = (name: string, pass: Effect.Effect<unknown>) =>
  pass.pipe(Effect.catchCause(logFailure(`Background work (${name}) failed; it is tried again`)), underway(name))

/** Runs a pass at once, and again after a pause, until the scope closes: for work that has no condition, or is not urgent. */
export const repeatedly = (name: string, pause: Duration.Input, pass: Effect.Effect<unknown>) =>
  logged(name, pass).pipe(Effect.repeat(Schedule.spaced(pause)), Effect.forkScoped)

const dueRow = oneRowOf({ due: Schema.Array(Schema.Boolean) })

export class DueWork extends Context.Service<
  DueWork,
  {
    /**
     * Runs `pass` at once, and again when a look finds `due`, an SQL condition, until the scope closes. Passes of one loop never overlap.
     * Returns a function that starts a pass without a look, or makes another one follow the current one.
     */
    readonly whenDue: (
      name: string,
      due: () => string,
      pass: Effect.Effect<unknown>
    ) => Effect.Effect<() => void, never, Scope.Scope>
  }
>()("rungate/layers/postgres/DueWork") {
  /** On a pool of so many connections, which the looks keep awake. */
  static readonly layerOf = (connections: number) =>
    Layer.effect(
      DueWork,
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const loops = new Set<{ readonly due: () => string; readonly start: () => void }>()

        const look = Effect.suspend(() => {
          const all = [...loops]
          const conditions = sql.literal(all.map(({ due }) => due()).join(", "))
          return dueRow(sql`SELECT ARRAY[${conditions}]::boolean[] AS due`).pipe(
            Effect.tapError((error) =>
              logFailure("Looking for due background work failed, so all of it starts")(Cause.fail(error))
            ),
            Effect.onExit((exit) =>
              Effect.sync(() => {
                for (const [index, { start }] of all.entries())
                  if (Exit.isFailure(exit) || exit.value.due[index] === true) start()
              })
            )
          )
        })

        const whenDue: DueWork["Service"]["whenDue"] = Effect.fnUntraced(function* (name, due, pass) {
          const fork = yield* FiberSet.makeRuntime()
          let running = false
          let again = false
          const passes = Effect.gen(function* () {
            while (again) {
              again = false
              yield* logged(name, pass)
            }
          }).pipe(
            Effect.ensuring(
              Effect.sync(() => {
                running = false
              })
            )
          )
          const start = () => {
            again = true
            if (running) return
            running = true
            fork(passes)
          }
          const loop = { due, start }
          yield* Effect.acquireRelease(
            Effect.sync(() => loops.add(loop)),
            () => Effect.sync(() => loops.delete(loop))
          )
          start()
          return start
        })

        yield* Effect.forkScoped(keepAwake(sql`SELECT 1`, connections, look))
        return DueWork.of({ whenDue })
      })
    )
}
