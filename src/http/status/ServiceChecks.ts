/** Whether the service can do its work: its database takes writes, and commands do not wait for a worker. Without customer data. */
import { Effect } from "effect"
import { DatabaseChecks } from "../../layers/postgres/DatabaseChecks.ts"
import { MailStore } from "../../layers/ledger/MailStore.ts"
import { Queues } from "../../layers/queues/Queues.ts"
import { Readiness } from "../middleware/Readiness.ts"

/** A lane whose oldest command waits longer than this is not being served. */
const backlogSecondsMax = 30

/** `ok`, or what is wrong, in words for the operator. It takes two seconds at most. */
export const serviceChecks = Effect.gen(function* () {
  const mail = yield* MailStore
  const queues = yield* Queues
  // An operator may have changed the server's settings since the start.
  const server = yield* DatabaseChecks
  // All at once: a probe waits for a few seconds at most, and each of them may take its whole time.
  const [unsafe, readOnly, database] = yield* Effect.all(
    [
      server.problems.pipe(
        Effect.timeout("2 seconds"),
        Effect.catchCause(() => Effect.succeed([]))
      ),
      server.readOnly.pipe(
        Effect.timeout("2 seconds"),
        Effect.catchCause(() => Effect.succeed(null))
      ),
      mail.backlog.pipe(Effect.timeout("2 seconds"), Effect.exit)
    ],
    { concurrency: "unbounded" }
  )
  const diskFull = yield* (yield* Readiness).diskFull
  const oldest = database._tag === "Success" ? Math.max(0, ...database.value.map((lane) => lane.age_seconds)) : null
  return {
    database:
      database._tag !== "Success"
        ? "unreachable"
        : readOnly !== null
          ? readOnly
          : diskFull
            ? "its disk is full: make room for PostgreSQL"
            : unsafe.length === 0
              ? "ok"
              : unsafe.join(" "),
    lanes:
      oldest === null
        ? "unknown"
        : oldest > backlogSecondsMax
          ? `oldest command waits ${Math.round(oldest)} s; is a worker running?`
          : "ok",
    queues: queues.backend
  }
})

/** Services that the checks need. */
export type CheckServices = Effect.Services<typeof serviceChecks>
