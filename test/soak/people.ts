/**
 * The people of a soak: they change budgets of labels and daily limits and decide on runs that wait for them, and the keys' runs have labels and conditions.
 *
 * What they do follows from the seed. The audit compares what the budgets count with the ledger (E15), and the charges of answers that had to
 * agree with their providers (E22).
 */
import { until } from "../chaos/processes.ts"
import type { Customer, More, World } from "../chaos/world.ts"
import { type Random, randomOf, seedOf } from "./plan.ts"
import type { Slots, Tell } from "./slots.ts"

const answerMillisMax = 8_000
const pauseMillis = 700
/** The values of the label: enough that some reach their limit, and few enough that many runs share one. */
const values = 5
const valueOf = (random: Random) => `c${Math.floor(random() * values)}`
const periods = ["day", "week", "month", "total"] as const
/** Dollars. A run charges about a cent. */
const limits = ["0.02", "0.50", "2.00", "50.00"] as const
/** A zone whose day is another one than UTC's for half of each day. */
const timeZone = "Pacific/Auckland"
const valueZone = "America/Los_Angeles"

/** Asks a process that has an address. Null: nobody answered, or the service had to refuse. */
const call = async (url: string | undefined, token: string, method: string, path: string, body?: object) => {
  if (url === undefined) return null
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    signal: AbortSignal.timeout(answerMillisMax),
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  }).catch(() => null)
  const text = await answer?.text().catch(() => undefined)
  if (answer === null || text === undefined || answer.status >= 500 || answer.status === 429) return null
  return { status: answer.status, body: JSON.parse(text) }
}

export class People {
  private readonly sessions = new Map<string, string>()
  private readonly pinned = new Map<string, string>()
  private readonly counts = { changes: 0, changes_refused: 0 }
  private readonly world: World
  private readonly slots: Slots

  constructor(world: World, slots: Slots) {
    this.world = world
    this.slots = slots
  }

  private ask(token: string, method: string, path: string, body?: object) {
    return call(this.slots.fronts()[0]?.url, token, method, path, body)
  }

  /** Sessions, keys that are pinned to a value of the label and have a budget, the first budgets, and a time zone. */
  async begin(): Promise<void> {
    for (const [at, customer] of this.world.customers.entries()) {
      const session = await this.world.session(customer)
      this.sessions.set(customer.org_id, session)
      const done = (method: string, path: string, body: object) =>
        until(`${method} ${path}`, answerMillisMax, async () => {
          const answer = await this.ask(session, method, path, body)
          if (answer !== null && answer.status !== 200) throw new Error(`${path}: ${JSON.stringify(answer.body)}`)
          return answer?.body
        })
      const budget = { limit: "5.00", period: "day" }
      const key = { name: "pinned", environment: "live", allow: { labels: { customer: "c0" } }, budget }
      this.pinned.set(customer.org_id, (await done("POST", "/v1/api-keys", key)).api_key)
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
    const sessions = [...this.sessions.values()]
    const session = sessions[Math.floor(random() * sessions.length)] ?? ""
    const [kind, which] = [random(), random()]
    const limit = limits[Math.floor(random() * limits.length)]
    const period = periods[Math.floor(random() * periods.length)]
    const told = (answer: Awaited<ReturnType<typeof call>>, fits: ReadonlyArray<number>) => {
      if (answer === null) this.counts.changes_refused += 1
      else if (fits.includes(answer.status)) this.counts.changes += 1
      else violate(`a change was answered ${answer.status} ${JSON.stringify(answer.body)}`)
    }
    if (kind < 0.6) {
      const value = which < 0.4 ? null : valueOf(random)
      // The budget of a value has a zone of its own, so the value changes its zone when that budget comes or goes.
      const zone = value === "c1" || value === "c2" ? { time_zone: valueZone } : {}
      const budget = { label: "customer", value, limit, period, ...zone }
      told(await this.ask(session, "PUT", "/v1/label-budgets", budget), [200])
    } else if (kind < 0.85) {
      const listed = await this.ask(session, "GET", "/v1/label-budgets")
      const items: ReadonlyArray<{ readonly id: string }> = listed?.body.items ?? []
      const one = items[Math.floor(which * items.length)]
      // It may be gone: an answer to a deletion that happened was lost.
      if (one !== undefined) told(await this.ask(session, "DELETE", `/v1/label-budgets/${one.id}`), [200, 400, 404])
    } else {
      const daily_limit = which < 0.5 ? null : "40.00"
      told(await this.ask(session, "POST", "/v1/spend-guard", { daily_limit }), [200])
    }
  }

  /** Approves most runs that wait for it, and denies the others. */
  private async decide(random: Random, session: string, violate: Tell): Promise<void> {
    const listed = await this.ask(session, "GET", "/v1/approvals?state=pending")
    const items: ReadonlyArray<{ readonly run_id: string }> = listed?.body.items ?? []
    if (items.length === 0) return
    const decision = random() < 0.8 ? "approve" : "deny"
    const run_ids = items.map(({ run_id }) => run_id)
    const answer = await this.ask(session, "POST", "/v1/approvals/decide", { decision, run_ids })
    if (answer !== null && answer.status !== 200) violate(`a decision was answered ${JSON.stringify(answer)}`)
  }

  /** How often the features met: figures of the whole soak. */
  async figures(): Promise<Readonly<Record<string, number>>> {
    const [row] = await this.world.query<Record<string, number>>(`
      SELECT (SELECT count(*) FROM label_budget_runs) AS counted_in_labels,
             (SELECT count(*) FROM runs WHERE control = 'label_budget') AS over_label_budgets,
             (SELECT count(*) FROM approvals WHERE state = 'approved') AS approved, (SELECT count(*) FROM approvals WHERE state = 'denied') AS denied,
             (SELECT count(*) FROM runs r WHERE (SELECT count(*) FROM json_array_elements(r.attempts) AS one
                                                 WHERE one.value ->> 'outcome' = 'succeeded') = 2) AS agreed`)
    return { ...this.counts, ...row }
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

  changing(seed: number, violate: Tell): () => Promise<void> {
    const random = randomOf(seedOf(seed, "changes"))
    return this.repeat(
      violate,
      () => this.change(random, violate),
      () => pauseMillis * random()
    )
  }

  /** Two people of each organization decide on the same runs at the same time. Until they stop, every run that waits goes on. */
  deciding(seed: number, violate: Tell): () => Promise<void> {
    const stops = [...this.sessions.values()].flatMap((session, at) =>
      [0, 1].map((person) => {
        const random = randomOf(seedOf(seed, "decisions", at, person))
        return this.repeat(
          violate,
          () => this.decide(random, session, violate),
          () => pauseMillis
        )
      })
    )
    return async () => {
      await Promise.all(stops.map((stop) => stop()))
    }
  }
}
