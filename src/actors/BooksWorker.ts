/**
 * Checks the books on a schedule and says what it finds: in the log, in /metrics, and by suspending the wallets that do not add up.
 *
 * Every worker tries, and the database gives each check to one of them, which keeps it while it checks. A check that takes long makes the
 * next one later, so that checks use a twentieth of the time at most.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { BooksWatch } from "../layers/audit/BooksWatch.ts"
import { Settings } from "../layers/platform/Settings.ts"
import { repeatedly } from "../layers/postgres/DueWork.ts"

/** Seconds between two looks whether a check is due. Tests shorten them. */
export const BooksLookSeconds = Context.Reference("rungate/actors/BooksLookSeconds", { defaultValue: () => 30 })

const pauseTimes = 20

/** While a check runs, it puts the next one off this often and by this much. A check of a process that died is repeated soon after. */
const [keepEverySeconds, keptSeconds] = [30, 90]

export const BooksWorker = Layer.effectDiscard(
  Effect.gen(function* () {
    const watch = yield* BooksWatch
    const { auditMinutes } = yield* Settings
    if (auditMinutes === 0) return

    const keep = Effect.forever(
      Effect.andThen(Effect.sleep(`${keepEverySeconds} seconds`), watch.postpone(keptSeconds))
    )

    const pass = Effect.gen(function* () {
      if (!(yield* watch.claim(auditMinutes * 60))) return
      const began = yield* Clock.currentTimeMillis
      const { report, suspended } = yield* Effect.raceFirst(watch.check, keep)
      yield* watch.postpone((pauseTimes * ((yield* Clock.currentTimeMillis) - began)) / 1_000)
      for (const { org_id, violations } of suspended) {
        const [first] = violations
        yield* Effect.logError(
          `The books of ${org_id} do not add up, so it takes no new runs: ${first?.equation}: ${first?.subject}. See rungate audit, then rungate admin resume ${org_id}.`
        )
      }
      if (report.violations.length > 0)
        yield* Effect.logError(`The books have ${report.violations.length} violations. See rungate audit.`)
    })

    yield* repeatedly("check of the books", `${(yield* BooksLookSeconds) * 1_000} millis`, pass)
  })
)
