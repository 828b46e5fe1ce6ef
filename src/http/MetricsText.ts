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
import { WebhookDeliveries } from "../layers/webhooks/Deliveries.ts"
import { CreditsStore } from "../layers/executor/CreditsStore.ts"
import { outlookOf } from "../schema/nouns/operator/Credits.ts"
import { usd } from "../schema/money/Money.ts"
import type { Window } from "../schema/runs/Health.ts"

type Labels = Readonly<Record<string, string | null>>
type Sample = readonly [labels: Labels, value: number | bigint | string]

/** Labels may hold what callers have named, and a line must stay one. */
const labelled = (labels: Labels): string => {
  const texts = Object.entries(labels).map(([name, value]) => `${name}="${(value ?? "").replace(/["\\\n]/g, "")}"`)
  return texts.length === 0 ? "" : `{${texts.join(",")}}`
}

/** Its name is listed without a sample too. */
const family = (type: "gauge" | "counter") => (name: string, help: string, samples: ReadonlyArray<Sample>) => [
  `# HELP ${name} ${help}`,
  `# TYPE ${name} ${type}`,
  ...samples.map(([labels, value]) => `${name}${labelled(labels)} ${value}`)
]
const gauges = family("gauge")
const counters = family("counter")
const gauge = (name: string, help: string, value: Sample[1] | null) =>
  gauges(name, help, value === null ? [] : [[{}, value]])

/**
 * A gauge and not a counter: hours pass, so it falls again. Raw endpoints are one line per provider: there are thousands.
 */
const attempts = (windows: ReadonlyMap<string, Window>): ReadonlyArray<Sample> => {
  const offers = Map.groupBy(windows, ([subject]) => subject.split(" ", 2).join(" "))
  return [...offers].flatMap(([offer, all]) => {
    const [capability = "", provider = ""] = offer.split(" ")
    const calls = all.reduce((sum, [, one]) => sum + one.attempts, 0)
    const ok = all.reduce((sum, [, one]) => sum + one.successes, 0)
    const sample = (result: string, count: number): Sample => [{ capability, provider, result }, count]
    return [sample("ok", ok), sample("failed", calls - ok)]
  })
}

const leftAlone = (broken: ReadonlyArray<Broken>): ReadonlyArray<Sample> =>
  [...Map.groupBy(broken, ({ provider, subject, trip }) => `${provider} ${subject} ${trip.reason}`).values()].flatMap(
    (all) =>
      all.slice(0, 1).map(({ provider, subject, trip }): Sample => {
        return [{ provider, capability: subject, reason: trip.reason }, all.length]
      })
  )

const driftOf = ({ provider, capability, expected, measured }: OfferDrift): Sample => {
  const ratio = (Number(measured) / Math.max(1, Number(expected))).toFixed(3)
  return [{ provider, capability }, ratio]
}

/** What accounts at providers have left. Names without a value for accounts of which nothing is known. */
const creditNumbers = Effect.gen(function* () {
  const now = yield* Clock.currentTimeMillis
  const accounts = (yield* (yield* CreditsStore).list).map((row) => ({ ...row, ...outlookOf(row, now) }))
  const samples = (valueOf: (one: (typeof accounts)[number]) => string | number | null) =>
    accounts.flatMap((one): ReadonlyArray<Sample> => {
      const value = valueOf(one)
      return value === null ? [] : [[{ provider: one.provider, unit: one.unit }, value]]
    })
  return [
    ...gauges(
      "rungate_provider_credits",
      "What the account at a provider has left, in its unit, without what calls reserve.",
      samples(({ available }) => (available === null ? null : usd(available)))
    ),
    ...gauges(
      "rungate_provider_credits_days_left",
      "Days until the account is empty at the present use.",
      samples(({ days_left }) => days_left)
    ),
    ...gauges(
      "rungate_provider_credits_warning",
      "1 for an account that is low, empty or expires soon.",
      accounts
        .filter(({ state }) => ["low", "empty", "expiring"].includes(state))
        .map(({ provider, state }) => [{ provider, state }, 1])
    )
  ]
})

const webhookNumbers = Effect.gen(function* () {
  const deliveries = yield* WebhookDeliveries
  const { due, paused } = yield* deliveries.backlog
  return [
    ...gauge("rungate_webhook_deliveries_due", "Webhooks that are due and not being sent yet.", due),
    ...gauge("rungate_webhook_endpoints_paused", "Webhook endpoints that were paused automatically.", paused),
    ...counters(
      "rungate_webhook_deliveries_total",
      "Attempts of this process to deliver a webhook, by result: delivered, retried later, or given up.",
      Object.entries(deliveries.recorded()).map(([result, count]) => [{ result }, count])
    )
  ]
})

/** What the last check of the books found. Names without a value until the first one. */
const booksNumbers = Effect.gen(function* () {
  const [books] = yield* (yield* Audit).checks(1)
  const checked_at = books === undefined ? null : books.checked_at.getTime() / 1_000
  const suspended = yield* (yield* BooksWatch).suspended
  return [
    ...gauge(
      "rungate_books_violations",
      "Violated equations in the last check of the books.",
      books?.violations ?? null
    ),
    ...gauge("rungate_books_checked_timestamp_seconds", "When the books were last checked.", checked_at),
    ...gauge(
      "rungate_wallets_suspended",
      "Wallets that take no new runs, because their books do not add up.",
      suspended
    )
  ]
})

/** What this process alone knows. */
const processNumbers = Effect.gen(function* () {
  const [waiters, feed] = [yield* Waiters, yield* EventFeed]
  const [health, breakers] = [yield* Health, yield* Breakers]
  const now = yield* Clock.currentTimeMillis
  return [
    ...gauges(
      "rungate_attempts_last_hour",
      "Calls of providers in the last hour, by what they serve (endpoint: raw calls) and whether the provider worked.",
      attempts(health.lastHour())
    ),
    ...gauges(
      "rungate_offers_left_alone",
      "For how many organizations this process does not ask an offer for a while, by the reason why.",
      leftAlone(breakers.all().filter(({ trip }) => trip.until > now))
    ),
    ...gauge("rungate_waiters", "Runs and commands that requests of this process wait for.", waiters.watching()),
    ...gauge("rungate_event_streams", "Event streams that are open at this process.", feed.streams()),
    ...gauge("process_resident_memory_bytes", "Memory of this process.", (yield* Stats).memory())
  ]
})

export const metricsText = Effect.gen(function* () {
  const stats = yield* Stats
  const [losses, drifts] = [yield* Losses, yield* CostDrifts]
  const [queues, mail] = [yield* Queues, yield* MailStore]
  const { standby } = yield* Replica
  const rows = yield* stats.read
  const sums = yield* losses.sums
  const text = [
    ...gauges(
      "rungate_open_runs",
      "Open runs by capability and state.",
      rows.runs.map(({ capability, status, count }) => [{ capability, state: status }, count])
    ),
    ...gauge("rungate_wallet_reserved_microdollars", "Held by runs in flight.", rows.reserved),
    ...gauge("rungate_mailbox_depth", "Commands not applied yet.", rows.mailbox),
    ...gauge(
      "rungate_commands_dead_lettered",
      "Dead-lettered commands: they could not be applied.",
      yield* mail.deadLetters
    ),
    ...counters(
      "rungate_losses_usd_total",
      "What runs cost more than they were charged, in USD, by provider and reason.",
      sums.map(({ provider, reason, loss }) => [{ provider, reason }, usd(loss)])
    ),
    ...gauges(
      "rungate_cost_drift_ratio",
      "How many times its rate an offer cost, for offers that cost more than their rate.",
      drifts.all().map(driftOf)
    ),
    ...(standby === null
      ? []
      : counters(
          "rungate_standby_reads_total",
          "Reads that may go to the standby of DATABASE_READ_URL, by who answered them.",
          Object.entries(standby.answered()).map(([answered_by, count]) => [{ answered_by }, count])
        )),
    ...gauges(
      "rungate_queue_age_seconds",
      "Seconds that the oldest waits: a command for its turn, a run for a worker.",
      [
        [{ queue: "commands" }, rows.oldest_command],
        [{ queue: "runs" }, rows.oldest_run]
      ]
    ),
    ...(yield* booksNumbers),
    ...(yield* creditNumbers),
    ...gauge("rungate_queue_depth", "Wake-ups waiting.", yield* queues.depth),
    ...(yield* webhookNumbers),
    ...(yield* processNumbers)
  ]
  return `${text.join("\n")}\n${seriesText()}`
})
