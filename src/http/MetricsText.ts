/**
 * The text of /metrics: numbers of the whole service, read from the database, and what this process counts itself.
 *
 * Every process with the same database shows the former alike, so a query takes their maximum. The latter are summed over the processes.
 */
import { Clock, Effect } from "effect"
import { EventFeed } from "../actors/events/EventFeed.ts"
import { Waiters } from "../actors/mailbox/Waiters.ts"
import { Audit } from "../layers/audit/Audit.ts"
import { BooksWatch } from "../layers/audit/BooksWatch.ts"
import { Breakers, type Broken } from "../layers/executor/Breakers.ts"
import { CostDrifts, type OfferDrift } from "../layers/executor/CostDrifts.ts"
import { Health } from "../layers/executor/Health.ts"
import { Losses } from "../layers/ledger/Losses.ts"
import { MailStore } from "../layers/ledger/MailStore.ts"
import { Stats } from "../layers/ledger/Stats.ts"
import { seriesText } from "../layers/observability/series.ts"
import { Queues } from "../layers/queues/Queues.ts"
import { Replica } from "../layers/standby/Replica.ts"
import type { LossTotal } from "../schema/nouns/operator/Provider.ts"
import { WebhookDeliveries } from "../layers/webhooks/Deliveries.ts"
import { CreditsStore } from "../layers/executor/CreditsStore.ts"
import { outlookOf } from "../schema/catalog/Credits.ts"
import { usd } from "../schema/money/Money.ts"
import type { Window } from "../schema/runs/Health.ts"

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

/** What accounts at providers have left. Names without a value for accounts of which nothing is known. */
const creditNumbers = Effect.gen(function* () {
  const now = yield* Clock.currentTimeMillis
  const accounts = (yield* (yield* CreditsStore).list).map((row) => ({ ...row, ...outlookOf(row, now) }))
  const lines = (name: string, value: (one: (typeof accounts)[number]) => string | number | null) =>
    accounts.flatMap((one) => {
      const shown = value(one)
      return shown === null ? [] : [`${name}{provider="${one.provider}",unit="${one.unit}"} ${shown}`]
    })
  return [
    ...number(
      "rungate_provider_credits",
      "What the account at a provider has left, in its unit, without what calls reserve.",
      "gauge",
      lines("rungate_provider_credits", ({ available }) => (available === null ? null : usd(available)))
    ),
    ...number(
      "rungate_provider_credits_days_left",
      "Days until the account is empty at the present use.",
      "gauge",
      lines("rungate_provider_credits_days_left", ({ days_left }) => days_left)
    ),
    ...number(
      "rungate_provider_credits_warning",
      "1 for an account that is low, empty or expires soon.",
      "gauge",
      accounts.flatMap(({ provider, state }) =>
        ["low", "empty", "expiring"].includes(state)
          ? [`rungate_provider_credits_warning{provider="${provider}",state="${state}"} 1`]
          : []
      )
    )
  ]
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

/** What the last check of the books found. Names without a value until the first one. */
const booksNumbers = Effect.gen(function* () {
  const [books] = yield* (yield* Audit).checks(1)
  return [
    ...number(
      "rungate_books_violations",
      "Violated equations in the last check of the books.",
      "gauge",
      books === undefined ? [] : [`rungate_books_violations ${books.violations}`]
    ),
    ...number(
      "rungate_books_checked_timestamp_seconds",
      "When the books were last checked.",
      "gauge",
      books === undefined ? [] : [`rungate_books_checked_timestamp_seconds ${books.checked_at.getTime() / 1_000}`]
    ),
    ...number(
      "rungate_wallets_suspended",
      "Wallets that take no new runs, because their books do not add up.",
      "gauge",
      [`rungate_wallets_suspended ${yield* (yield* BooksWatch).suspended}`]
    )
  ]
})

/** What this process alone knows. */
const processNumbers = Effect.gen(function* () {
  const [waiters, feed] = [yield* Waiters, yield* EventFeed]
  const [health, breakers] = [yield* Health, yield* Breakers]
  const now = yield* Clock.currentTimeMillis
  return [
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
    ...number("process_resident_memory_bytes", "Memory of this process.", "gauge", [
      `process_resident_memory_bytes ${(yield* Stats).memory()}`
    ])
  ]
})

export const metricsText = Effect.gen(function* () {
  const stats = yield* Stats
  const [losses, drifts] = [yield* Losses, yield* CostDrifts]
  const [queues, mail] = [yield* Queues, yield* MailStore]
  const { standby } = yield* Replica
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
    ...number(
      "rungate_queue_age_seconds",
      "Seconds that the oldest waits: a command for its turn, a run for a worker.",
      "gauge",
      [
        `rungate_queue_age_seconds{queue="commands"} ${rows.oldest_command}`,
        `rungate_queue_age_seconds{queue="runs"} ${rows.oldest_run}`
      ]
    ),
    ...(yield* booksNumbers),
    ...(yield* creditNumbers),
    ...number("rungate_queue_depth", "Wake-ups waiting.", "gauge", [`rungate_queue_depth ${yield* queues.depth}`]),
    ...(yield* webhookNumbers),
    ...(yield* processNumbers)
  ]
  return `${text.join("\n")}\n${seriesText()}`
})

/** What the numbers are read from. */
export type MetricsServices =
  | Audit
  | BooksWatch
  | Breakers
  | CostDrifts
  | CreditsStore
  | EventFeed
  | Health
  | Losses
  | MailStore
  | Queues
  | Replica
  | Stats
  | Waiters
  | WebhookDeliveries
