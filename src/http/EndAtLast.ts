/**
 * Makes sure that a process ends after a stop signal, and says what kept it if something did.
 *
 * Once the time for draining is over, connections to a silent PostgreSQL are closed, which ends every wait for it. A process that hangs in spite
 * of that is ended by force. Nothing is lost by that: what is under way is stored, and another worker continues it when the lease ends.
 */
import { Clock, Context, Effect } from "effect"
import { Settings } from "../layers/platform/Settings.ts"
import { underwayNow } from "../layers/platform/Underway.ts"
import { limitSilence } from "../layers/postgres/connection/Sockets.ts"

/** After the drain everything is closed within a second or two. A database that went silent takes up to ten seconds longer. */
const limits = { say_seconds: 15, end_seconds: 30 }
/** Seconds after the drain until the process says what it waits for, and until it is ended. A test must not wait that long. */
export const EndLimits = Context.Reference("rungate/http/EndLimits", { defaultValue: () => limits })

const stillRunning = () => {
  const names = underwayNow(Effect.runSync(Clock.currentTimeMillis))
  return names.length === 0 ? "nothing that has a name" : names.join(", ")
}

const say = (text: string) => process.stderr.write(`rungate: ${text}\n`)

/** Waits for the first stop signal. Timers do not keep the process alive. */
export const endAtLast = Effect.gen(function* () {
  const { stopDelaySeconds, drainSeconds } = yield* Settings
  const { say_seconds, end_seconds } = yield* EndLimits
  const drained = stopDelaySeconds + drainSeconds
  let begun = false
  const begin = () => {
    if (begun) return
    begun = true
    const after = (seconds: number, act: (passed: number) => void) =>
      setTimeout(() => act(seconds), seconds * 1_000).unref()
    after(drained, limitSilence)
    after(drained + say_seconds, (passed) =>
      say(`is still stopping ${passed} s after the signal. Still running: ${stillRunning()}.`)
    )
    after(drained + end_seconds, (passed) => {
      say(
        `did not stop within ${passed} s of the signal, so it ends now. Still running: ${stillRunning()}. Please report this line with the log before it.`
      )
      process.exit(0)
    })
  }
  process.once("SIGTERM", begin)
  process.once("SIGINT", begin)
})
