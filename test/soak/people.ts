/**
 * The people of a soak: they change budgets of labels, daily limits and opt-outs, apply configuration files, decide on runs that wait for
 * them, buy credits, and sign out. The keys' runs have labels and conditions.
 *
 * What they do follows from the seed. The audit compares what the budgets count with the ledger (E15), the charges of answers that had to
 * agree with their providers (E22), opt-outs with the runs that contacted people (E23), and credits with calls (E24).
 */
import { until } from "../chaos/processes.ts"
import type { Customer, More, World } from "../chaos/world.ts"
import { Configurations, fileLabel } from "./configurations.ts"
import { Credits } from "./credits.ts"
import { OptOuts } from "./optOuts.ts"
import { type Answer, Owners } from "./owners.ts"
import { type Random, randomOf, seedOf } from "./plan.ts"
import type { Slots, Tell } from "./slots.ts"

const answerMillisMax = 8_000
const pauseMillis = 700
const filePauseMillis = 4_000
const creditsPauseMillis = 3_000
const sessionPauseMillis = 8_000
/** The values of the label: enough that some reach their limit, and few enough that many runs share one. */
const values = 5
const valueOf = (random: Random) => `c${Math.floor(random() * values)}`
const periods = ["day", "week", "month", "total"] as const
/** Dollars. A run charges about a cent. */
const limits = ["0.02", "0.50", "2.00", "50.00"] as const
/** A zone whose day is another one than UTC's for half of each day. */
const timeZone = "Pacific/Auckland"
const valueZone = "America/Los_Angeles"
/** Organizations with configuration files, and people who apply them in each at the same time. */
const filing = 2
const filers = 2

export class People {
  readonly optOuts: OptOuts
  readonly configurations: Configurations
  readonly credits: Credits
  private readonly owners: Owners
  private readonly pinned = new Map<string, string>()
  /** By run: when somebody first tried to approve it, as `performance.now()` tells. */
  private readonly approving = new Map<string, number>()
  private readonly counts = { changes: 0, changes_refused: 0 }
  private readonly world: World

  constructor(world: World, slots: Slots) {
    this.world = world
    this.owners = new Owners(world, slots)
    this.optOuts = new OptOuts(world, this.owners)
    this.configurations = new Configurations(world, this.owners)
    this.credits = new Credits(world)
  }

  /** Sessions, keys that are pinned to a value of the label and have a budget, the first budgets, and a time zone. */
  async begin(): Promise<void> {
    await this.owners.begin()
    for (const [at, { org_id }] of this.world.customers.entries()) {
      const done = (method: string, path: string, body: object) =>
        until(`${method} ${path}`, answerMillisMax, async () => {
          const answer = await this.owners.ask(org_id, method, path, body)
          if (answer !== null && answer.status !== 200) throw new Error(`${path}: ${JSON.stringify(answer.body)}`)
          return answer?.body
        })
      const budget = { limit: "5.00", period: "day" }
      const key = { name: "pinned", environment: "live", allow: { labels: { customer: "c0" } }, budget }
      this.pinned.set(org_id, (await done("POST", "/v1/api-keys", key)).api_key)
      await done("PUT", "/v1/label-budgets", { label: "customer", limit: "2.00", period: "day" })
      await done("PUT", "/v1/label-budgets", { label: "campaign", value: "spring", limit: "20.00", period: "week" })
      const rule = { name: "campaigns", labels: { campaign: "spring" }, expires_after: 60 }
      await done("POST", "/v1/approval-rules", rule)
      if (at % 2 === 1) await done("POST", "/v1/spend-guard", { time_zone: timeZone })
    }
  }

  /** What a run has besides its input: labels, some of them new, a key that is pinned to one, and conditions of its answer. */
  more(random: Random, finds: boolean): More {
    const [kind, labelled, accepts] = [random(), random(), random()]
    const customer = random() < 0.1 ? `new ${Math.floor(random() * 1e9)}` : valueOf(random)
    const accept =
      !finds || accepts > 0.4 ? {} : { accept: { fields: ["email"], ...(accepts > 0.2 ? {} : { agree: 2 }) } }
    if (kind < 0.15) return { body: accept, token: ({ org_id }: Customer) => this.pinned.get(org_id) ?? "" }
    const labels = labelled < 0.3 ? {} : { metadata: { customer, ...(labelled < 0.6 ? { campaign: "spring" } : {}) } }
    return { body: { ...labels, ...accept } }
  }

  private async change(random: Random, violate: Tell): Promise<void> {
    const { customers } = this.world
    const org_id = customers[Math.floor(random() * customers.length)]?.org_id ?? ""
    const [kind, which] = [random(), random()]
    const limit = limits[Math.floor(random() * limits.length)]
    const period = periods[Math.floor(random() * periods.length)]
    const told = (answer: Answer, fits: ReadonlyArray<number>) => {
      if (answer === null) this.counts.changes_refused += 1
      else if (fits.includes(answer.status)) this.counts.changes += 1
      else violate(`a change was answered ${answer.status} ${JSON.stringify(answer.body)}`)
    }
    if (kind < 0.6) {
      const value = which < 0.4 ? null : valueOf(random)
      // The budget of a value has a zone of its own, so the value changes its zone when that budget comes or goes.
      const zone = value === "c1" || value === "c2" ? { time_zone: valueZone } : {}
      const budget = { label: "customer", value, limit, period, ...zone }
      told(await this.owners.ask(org_id, "PUT", "/v1/label-budgets", budget), [200])
    } else if (kind < 0.85) {
      const listed = await this.owners.ask(org_id, "GET", "/v1/label-budgets")
      const all: ReadonlyArray<{ readonly id: string; readonly label: string }> = listed?.body.items ?? []
      const items = all.filter(({ label }) => label !== fileLabel)
      const one = items[Math.floor(which * items.length)]
      // It may be gone: an answer to a deletion that happened was lost.
      if (one !== undefined)
        told(await this.owners.ask(org_id, "DELETE", `/v1/label-budgets/${one.id}`), [200, 400, 404])
    } else {
      const daily_limit = which < 0.5 ? null : "40.00"
      told(await this.owners.ask(org_id, "POST", "/v1/spend-guard", { daily_limit }), [200])
    }
  }

  /** Approves most runs that wait for it, and denies the others. */
  private async decide(random: Random, org_id: string, violate: Tell): Promise<void> {
    const listed = await this.owners.ask(org_id, "GET", "/v1/approvals?state=pending")
    const items: ReadonlyArray<{ readonly run_id: string }> = listed?.body.items ?? []
    if (items.length === 0) return
    const decision = random() < 0.8 ? "approve" : "deny"
    const run_ids = items.map(({ run_id }) => run_id)
    for (const run_id of run_ids) if (!this.approving.has(run_id)) this.approving.set(run_id, performance.now())
    const answer = await this.owners.ask(org_id, "POST", "/v1/approvals/decide", { decision, run_ids })
    if (answer !== null && answer.status !== 200) violate(`a decision was answered ${JSON.stringify(answer)}`)
  }

  /** How often the features met: figures of the whole soak. */
  async figures(): Promise<Readonly<Record<string, number>>> {
    const [row] = await this.world.query<Record<string, number>>(`
      SELECT (SELECT count(*) FROM label_budget_runs) AS counted_in_labels,
             (SELECT count(*) FROM runs WHERE control = 'label_budget') AS over_label_budgets,
             (SELECT count(*) FROM approvals WHERE state = 'approved') AS approved, (SELECT count(*) FROM approvals WHERE state = 'denied') AS denied,
             (SELECT count(*) FROM runs r WHERE (SELECT count(*) FROM json_array_elements(r.attempts) AS one
                                                 WHERE one.value ->> 'outcome' = 'succeeded') = 2) AS agreed,
             (SELECT count(*) FROM opt_out_refusals) AS opted_out,
             (SELECT count(*) FROM runs WHERE error_code = 'opt_out' AND status = 'failed') AS opted_out_while_waiting,
             (SELECT count(*) FROM runs r WHERE EXISTS (SELECT FROM json_array_elements(r.attempts) AS one
                                                        WHERE one.value ->> 'outcome' = 'provider_unavailable')) AS without_credits`)
    const { optOuts, configurations, credits, owners } = this
    return { ...this.counts, ...optOuts.counts, ...configurations.counts, ...credits.counts, ...owners.counts, ...row }
  }

  /** Messages to who had opted out. */
  wrongMessages(): ReadonlyArray<string> {
    return this.optOuts.wrong(this.approving)
  }

  /** Does one thing after the other until it is stopped. */
  private repeat(violate: Tell, act: () => Promise<void>, pause: () => number): () => Promise<void> {
    let over = false
    const acting = (async () => {
      while (!over) {
        await act()
        await Bun.sleep(pause())
      }
    })().catch((error) => violate(String(error)))
    return async () => {
      over = true
      await acting
    }
  }

  /** All that people do but decisions. */
  changing(seed: number, violate: Tell): () => Promise<void> {
    const loop = (purpose: string, pauseMax: number, act: (random: Random) => Promise<void>) => {
      const random = randomOf(seedOf(seed, purpose))
      return this.repeat(
        violate,
        () => act(random),
        () => pauseMax * random()
      )
    }
    const ids = this.world.customers.map(({ org_id }) => org_id)
    const anyOf = (random: Random) => ids[Math.floor(random() * ids.length)] ?? ""
    const stops = [
      loop("changes", pauseMillis, (random) => this.change(random, violate)),
      loop("credits", creditsPauseMillis, (random) => this.credits.act(random)),
      loop("sessions", sessionPauseMillis, (random) => this.owners.renew(anyOf(random), violate)),
      ...ids.map((id) => loop(`opt-outs ${id}`, pauseMillis, (random) => this.optOuts.act(id, random, violate))),
      ...ids
        .slice(0, filing)
        .flatMap((id) =>
          Array.from({ length: filers }, (_, person) =>
            loop(`files ${id} ${person}`, filePauseMillis, (random) => this.configurations.apply(id, random, violate))
          )
        )
    ]
    return async () => {
      await Promise.all(stops.map((stop) => stop()))
    }
  }

  /** Two people of each organization decide on the same runs at the same time. Until they stop, every run that waits goes on. */
  deciding(seed: number, violate: Tell): () => Promise<void> {
    const stops = this.world.customers.flatMap(({ org_id }, at) =>
      [0, 1].map((person) => {
        const random = randomOf(seedOf(seed, "decisions", at, person))
        return this.repeat(
          violate,
          () => this.decide(random, org_id, violate),
          () => pauseMillis
        )
      })
    )
    return async () => {
      await Promise.all(stops.map((stop) => stop()))
    }
  }
}
