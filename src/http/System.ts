/**
 * Endpoints for monitoring: liveness, readiness and metrics. They contain no customer data.
 *
 * Liveness and readiness are public. Metrics need RUNGATE_METRICS_TOKEN here, or use the separate port RUNGATE_METRICS_PORT.
 */
import { Clock, Effect, Layer, Redacted } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { EventFeed } from "../actors/events/EventFeed.ts"
import { Waiters } from "../actors/mailbox/Waiters.ts"
import { digest } from "../layers/accounts/Accounts.ts"
import { costBoundCache } from "../layers/platform/costBoundCache.ts"
import { oneLine } from "../layers/postgres/Batch.ts"
import { Breakers, type Broken } from "../layers/executor/Breakers.ts"
import { DatabaseChecks } from "../layers/postgres/DatabaseChecks.ts"
import { CostDrifts, type OfferDrift } from "../layers/executor/CostDrifts.ts"
import { Replica } from "../layers/standby/Replica.ts"
import { Health } from "../layers/executor/Health.ts"
import { type LossTotal, Losses } from "../layers/ledger/Losses.ts"
import { MailStore } from "../layers/ledger/MailStore.ts"
import { Queues } from "../layers/queues/Queues.ts"
import { Settings } from "../layers/platform/Settings.ts"
import { Stats } from "../layers/ledger/Stats.ts"
import { problem, statusOf } from "../schema/Errors.ts"
import type { Window } from "../schema/runs/Health.ts"
import { usd } from "../schema/money/Money.ts"
import { WebhookDeliveries } from "../layers/webhooks/Deliveries.ts"
import { Readiness } from "./middleware/Readiness.ts"

/** Anybody may ask whether a process is ready, so one look at the database serves all who ask at that moment. */
const readyMillisMax = 250

/** A lane whose oldest command waits longer than this is not being served. */
const backlogSecondsMax = 30

const alive = HttpServerResponse.jsonUnsafe({ status: "ok" })

const ready = Effect.gen(function* () {
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
  const checks = {
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

const brokenLines = (broken: ReadonlyArray<Broken>): ReadonlyArray<string> => {
  const line = ({ provider, subject, trip }: Broken) =>
    `rungate_offers_left_alone{provider="${provider}",capability="${subject.replace(/["\\\n]/g, "")}",reason="${trip.reason}"}`
  return [...Map.groupBy(broken, line)].map(([name, all]) => `${name} ${all.length}`)
}

const lossLines = (sums: ReadonlyArray<LossTotal>): ReadonlyArray<string> =>
  sums.map(
    ({ provider, reason, loss }) =>
      `rungate_losses_usd_total{provider="${provider ?? ""}",reason="${reason}"} ${usd(loss)}`
  )

const driftLines = (drifts: ReadonlyArray<OfferDrift>): ReadonlyArray<string> =>
  drifts.map(({ provider, capability, expected, measured }) => {
    const ratio = (Number(measured) / Math.max(1, Number(expected))).toFixed(3)
    return `rungate_cost_drift_ratio{provider="${provider}",capability="${capability.replace(/["\\\n]/g, "")}"} ${ratio}`
  })

const readLines = (answered: Readonly<Record<string, number>>): ReadonlyArray<string> =>
  Object.entries(answered).map(([by, count]) => `rungate_standby_reads_total{answered_by="${by}"} ${count}`)

const number = (name: string, help: string, type: string, lines: ReadonlyArray<string>) => [
  `# HELP ${name} ${help}`,
  `# TYPE ${name} ${type}`,
  ...lines
]

const webhookNumbers = Effect.gen(function* () {
  const deliveries = yield* WebhookDeliveries
  const { due, paused } = yield* deliveries.backlog
  return [
    ...number("rungate_webhook_deliveries_due", "Webhooks that are due and not being sent yet.", "gauge", [
      `rungate_webhook_deliveries_due ${due}`
    ]),
    ...number("rungate_webhook_endpoints_paused", "Webhook endpoints that were paused automatically.", "gauge", [
      `rungate_webhook_endpoints_paused ${paused}`
    ]),
    ...number(
      "rungate_webhook_deliveries_total",
      "Attempts of this process to deliver a webhook, by result: delivered, retried later, or given up.",
      "counter",
      Object.entries(deliveries.recorded()).map(
        ([result, count]) => `rungate_webhook_deliveries_total{result="${result}"} ${count}`
      )
    )
  ]
})

const metrics = Effect.gen(function* () {
  const stats = yield* Stats
  const [losses, drifts] = [yield* Losses, yield* CostDrifts]
  const [waiters, feed] = [yield* Waiters, yield* EventFeed]
  const [queues, mail] = [yield* Queues, yield* MailStore]
  const health = yield* Health
  const breakers = yield* Breakers
  const { standby } = yield* Replica
  const now = yield* Clock.currentTimeMillis
  const rows = yield* stats.read
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
    ...number("rungate_commands_dead_lettered", "Dead-lettered commands: they could not be applied.", "gauge", [
      `rungate_commands_dead_lettered ${yield* mail.deadLetters}`
    ]),
    ...number(
      "rungate_losses_usd_total",
      "What runs cost more than they were charged, in USD, by provider and reason.",
      "counter",
      lossLines(yield* losses.sums)
    ),
    ...number(
      "rungate_cost_drift_ratio",
      "How many times its rate an offer cost, for offers that cost more than their rate.",
      "gauge",
      driftLines(drifts.all())
    ),
    ...(standby === null
      ? []
      : number(
          "rungate_standby_reads_total",
          "Reads that may go to the standby of DATABASE_READ_URL, by who answered them.",
          "counter",
          readLines(standby.answered())
        )),
    ...number("rungate_queue_depth", "Wake-ups waiting.", "gauge", [`rungate_queue_depth ${yield* queues.depth}`]),
    ...number(
      "rungate_attempts_last_hour",
      "Calls of providers in the last hour, by what they serve (endpoint: raw calls) and whether the provider worked.",
      "gauge",
      attemptLines(health.lastHour())
    ),
    ...number(
      "rungate_offers_left_alone",
      "For how many organizations this process does not ask an offer for a while, by the reason why.",
      "gauge",
      brokenLines(breakers.all().filter(({ trip }) => trip.until > now))
    ),
    ...number("rungate_waiters", "Runs and commands that requests of this process wait for.", "gauge", [
      `rungate_waiters ${waiters.watching()}`
    ]),
    ...number("rungate_event_streams", "Event streams that are open at this process.", "gauge", [
      `rungate_event_streams ${feed.streams()}`
    ]),
    ...(yield* webhookNumbers),
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

const stopping = HttpServerResponse.jsonUnsafe({ status: "stopping" }, { status: 503 })

const closed = problem(
  "forbidden",
  "Metrics are closed. Set RUNGATE_METRICS_TOKEN and send it as a bearer token, or set RUNGATE_METRICS_PORT to serve them on a port of their own."
)
const elsewhere = problem("not_found", "Metrics are on a port of their own, RUNGATE_METRICS_PORT.")
const wrongToken = problem("unauthorized", "Send Authorization: Bearer with the value of RUNGATE_METRICS_TOKEN.")

const refused = (one: typeof closed | typeof elsewhere | typeof wrongToken) =>
  HttpServerResponse.jsonUnsafe(one, { status: statusOf[one.error.code] })

/** Digests, because comparing those tells nobody how much of a guess was right. */
const isToken = (token: Redacted.Redacted, authorization: string | undefined) => {
  const sent = /^bearer +(.+)$/i.exec(authorization ?? "")?.[1] ?? ""
  return Buffer.compare(digest(sent), digest(Redacted.value(token))) === 0
}

const answer = orUnready("/metrics", metrics)

/** `isPublic`: on the port that everybody reaches. */
const guardedMetrics = (isPublic: boolean) =>
  Effect.gen(function* () {
    const { metricsToken, metricsPort } = yield* Settings
    const request = yield* HttpServerRequest.HttpServerRequest
    if (metricsToken !== null) {
      return isToken(metricsToken, request.headers["authorization"]) ? yield* answer : refused(wrongToken)
    }
    if (!isPublic) return yield* answer
    return refused(metricsPort === null ? closed : elsewhere)
  })

const routes = (isPublic: boolean) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const context = yield* Effect.context<DatabaseChecks | MailStore | Queues | Readiness>()
      const readiness = yield* Readiness
      const shared = yield* costBoundCache(
        () => Effect.provideContext(orUnready("/readyz", ready), context),
        readyMillisMax
      )
      const readyz = Effect.suspend(() => (readiness.leaving() ? Effect.succeed(stopping) : shared("readyz")))
      return Layer.mergeAll(
        HttpRouter.add("GET", "/livez", alive),
        HttpRouter.add("GET", "/healthz", alive),
        HttpRouter.add("GET", "/readyz", readyz),
        HttpRouter.add("GET", "/metrics", guardedMetrics(isPublic))
      )
    })
  )

export const SystemRoutes = routes(true)
/** For the listener of its own. */
export const MetricsRoutes = routes(false)

/** What these routes ask of the process. */
export type SystemServices =
  | CostDrifts
  | Breakers
  | DatabaseChecks
  | EventFeed
  | Health
  | Losses
  | MailStore
  | Queues
  | Readiness
  | Replica
  | Settings
  | Stats
  | Waiters
  | WebhookDeliveries
