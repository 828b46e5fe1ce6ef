/** What machines ask of a process: is it alive, is it ready, how is it doing. No key, nothing about any customer. */
import { Clock, Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { Waiters } from "../actors/Waiters.ts"
import { oneLine } from "../layers/Batch.ts"
import { Breakers } from "../layers/Breakers.ts"
import { Health } from "../layers/Health.ts"
import { MailStore } from "../layers/MailStore.ts"
import { Queues } from "../layers/Queues.ts"
import { Stats } from "../layers/Stats.ts"
import type { Window } from "../schema/Health.ts"
import { Readiness } from "./Readiness.ts"

/** A lane whose oldest command waits longer than this is not being served. */
const backlogSecondsMax = 30

const alive = HttpServerResponse.jsonUnsafe({ status: "ok" })

const ready = Effect.gen(function* () {
  const mail = yield* MailStore
  const queues = yield* Queues
  const readiness = yield* Readiness
  if (readiness.leaving()) return HttpServerResponse.jsonUnsafe({ status: "stopping" }, { status: 503 })
  const database = yield* mail.backlog.pipe(Effect.timeout("2 seconds"), Effect.exit)
  const oldest = database._tag === "Success" ? Math.max(0, ...database.value.map((lane) => lane.age_seconds)) : null
  const checks = {
    database: database._tag === "Success" ? "ok" : "unreachable",
    lanes:
      oldest === null
        ? "unknown"
        : oldest > backlogSecondsMax
          ? `oldest command waits ${Math.round(oldest)} s; is a worker running?`
          : "ok",
    queues: queues.backend
  }
  const good = checks.database === "ok" && checks.lanes === "ok"
  return HttpServerResponse.jsonUnsafe({ status: good ? "ok" : "not ready", checks }, { status: good ? 200 : 503 })
})

/**
 * A gauge and not a counter: hours pass, so it falls again. Raw endpoints are one line per provider: there are thousands.
 */
const attemptLines = (windows: ReadonlyMap<string, Window>): ReadonlyArray<string> => {
  const counts = new Map<string, number>()
  for (const [subject, { attempts, successes }] of windows) {
    const [capability, provider] = subject.split(" ")
    for (const [result, count] of Object.entries({ ok: successes, failed: attempts - successes })) {
      const line = `rungate_attempts_last_hour{capability="${capability}",provider="${provider}",result="${result}"}`
      counts.set(line, (counts.get(line) ?? 0) + count)
    }
  }
  return [...counts].map(([line, count]) => `${line} ${count}`).sort()
}

const metrics = Effect.gen(function* () {
  const stats = yield* Stats
  const waiters = yield* Waiters
  const queues = yield* Queues
  const mail = yield* MailStore
  const health = yield* Health
  const breakers = yield* Breakers
  const now = yield* Clock.currentTimeMillis
  const rows = yield* stats.read
  const number = (name: string, help: string, type: string, lines: ReadonlyArray<string>) => [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...lines
  ]
  const text = [
    ...number(
      "rungate_open_runs",
      "Open runs by capability and state.",
      "gauge",
      rows.runs.map((row) => `rungate_open_runs{capability="${row.capability}",state="${row.status}"} ${row.count}`)
    ),
    ...number("rungate_wallet_reserved_microdollars", "Held by runs in flight.", "gauge", [
      `rungate_wallet_reserved_microdollars ${rows.reserved}`
    ]),
    ...number("rungate_mailbox_depth", "Commands not applied yet.", "gauge", [`rungate_mailbox_depth ${rows.mailbox}`]),
    ...number("rungate_commands_parked", "Commands set aside because they can't be applied.", "gauge", [
      `rungate_commands_parked ${yield* mail.parked}`
    ]),
    ...number("rungate_queue_depth", "Wake-ups waiting.", "gauge", [`rungate_queue_depth ${yield* queues.depth}`]),
    ...number(
      "rungate_attempts_last_hour",
      "Calls of providers in the last hour, by what they serve (endpoint: raw calls) and whether the provider worked.",
      "gauge",
      attemptLines(health.lastHour())
    ),
    ...number(
      "rungate_offers_left_alone",
      "Offers that this process does not ask for a while, by the reason why.",
      "gauge",
      breakers
        .all()
        .filter(({ trip }) => trip.until > now)
        .map(
          ({ provider, subject, trip }) =>
            `rungate_offers_left_alone{provider="${provider}",capability="${subject.replace(/["\\\n]/g, "")}",reason="${trip.reason}"} 1`
        )
    ),
    ...number("rungate_waiters", "Runs and commands that requests of this process wait for.", "gauge", [
      `rungate_waiters ${waiters.watching()}`
    ]),
    ...number("process_resident_memory_bytes", "Memory of this process.", "gauge", [
      `process_resident_memory_bytes ${stats.memory()}`
    ])
  ]
  return HttpServerResponse.text(`${text.join("\n")}\n`, { contentType: "text/plain; version=0.0.4" })
})

/** Why it failed is for the log: the answer is anybody's to read. */
const orUnready = <R>(path: string, effect: Effect.Effect<HttpServerResponse.HttpServerResponse, never, R>) =>
  Effect.catchCause(effect, (cause) =>
    Effect.as(
      Effect.logWarning(`${path}: ${oneLine(cause)}`),
      HttpServerResponse.jsonUnsafe({ status: "not ready" }, { status: 503 })
    )
  )

export const SystemRoutes = Layer.mergeAll(
  HttpRouter.add("GET", "/livez", alive),
  HttpRouter.add("GET", "/healthz", alive),
  HttpRouter.add("GET", "/readyz", orUnready("/readyz", ready)),
  HttpRouter.add("GET", "/metrics", orUnready("/metrics", metrics))
)

/** What these routes ask of the process. */
export type SystemServices = Breakers | Health | MailStore | Queues | Readiness | Stats | Waiters
