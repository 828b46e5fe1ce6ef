/**
 * An organization whose card is charged automatically, with all that a test may do to it and see of it: through the service, at the local
 * Stripe, and in the tables where time is moved.
 */
import { expect } from "bun:test"
import { type App, type Tenant, until, verify } from "../../kit/app.ts"
import type { LocalStripe } from "./standin.ts"

const path = "/v1/wallet/auto-topup"

/** A provider for runs that take money out of wallets. */
export const startVerifier = () => {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => Response.json({ email: "jane.doe@example.com", email_status: "valid", credits_consumed: 0.25 })
  })
  const settings = {
    RUNGATE_PROVIDER_LEADMAGIC_API_KEY: "s3cret",
    RUNGATE_PROVIDER_LEADMAGIC_BASE_URL: `http://127.0.0.1:${server.port}`
  }
  return { settings, stop: () => server.stop(true) }
}

export interface Setting {
  readonly threshold: string
  readonly amount: string
  readonly enabled?: boolean
}

/** Asked over one process, with a session of its own. */
export const holder = async (app: App, stripe: LocalStripe, org: Tenant) => {
  const session = await org.session()
  const payments = () =>
    app.sql("SELECT payment_id, state, looks FROM payments WHERE org_id = $1 AND kind = 'auto' ORDER BY payment_id", [
      org.org_id
    ])
  return {
    ...org,
    set: async (setting: Setting) => {
      const answer = await app.call(session, "POST", path, { body: { enabled: true, ...setting } })
      expect([answer.status, answer.text]).toEqual([200, expect.any(String)])
    },
    setting: async () => (await org.get(path)).body,
    runs: async (count: number, over: ReadonlyArray<App> = [app]) => {
      const one = (index: number) => org.over(over[index % over.length] ?? app)
      const asked = { ...verify(), routing: { provider: "leadmagic" } }
      const answers = await Promise.all(Array.from({ length: count }, (_, index) => one(index).run(asked)))
      expect(answers.map((answer) => answer.body.status)).toEqual(answers.map(() => "succeeded"))
    },
    balance: async () => Number((await org.wallet()).balance),
    /** Amounts that came automatically, oldest first. */
    arrived: async () =>
      (await org.ledger())
        .filter((one) => one.type === "topup" && one.note === "automatic top-up")
        .map((one) => one.amount)
        .reverse(),
    payments,
    /** Answers of Stripe that were taken as facts. */
    answers: async () =>
      (await app.sql("SELECT 1 FROM payment_events WHERE event_id LIKE 'charge:%' AND org_id = $1", [org.org_id]))
        .length,
    /** What Stripe was asked to charge, answered or not. */
    asks: () =>
      stripe.calls.filter(
        (call) =>
          call.method === "POST" && call.path === "/v1/payment_intents" && call.params.metadata?.org_id === org.org_id
      ),
    /** What Stripe did charge. */
    charges: () => stripe.charges().filter(({ metadata }) => metadata.org_id === org.org_id),
    /** What became of what was asked, newest first. A checkout's intent saves its card, these use it. */
    intents: () =>
      stripe.lists
        .payment_intents()
        .filter((one) => one["metadata"].org_id === org.org_id && one["setup_future_usage"] === null),
    retryHours: async () => {
      const asked =
        "SELECT extract(epoch FROM retry_at - now())::float8 / 3600 AS hours FROM auto_topups WHERE org_id = $1"
      return Math.round(Number((await app.sql(asked, [org.org_id]))[0]?.["hours"]))
    },
    /** The wait is over. */
    rest: () =>
      app.sql("UPDATE auto_topups SET retry_at = now() WHERE org_id = $1 AND state = 'waiting'", [org.org_id]),
    /** The next look at its open charge is now; given a number of looks, only if nobody has begun another one since. */
    hurry: (looks: number | null = null) =>
      app.sql(
        `UPDATE payments SET look_at = now()
         WHERE org_id = $1 AND kind = 'auto' AND state = 'open' AND ($2::int IS NULL OR looks = $2)`,
        [org.org_id, looks]
      ),
    ended: (count: number) =>
      until(
        `${count} charges have ended`,
        payments,
        (rows) => rows.length === count && rows.every((row) => row["state"] !== "open")
      )
  }
}
export type Holder = Awaited<ReturnType<typeof holder>>

/** Charges are told apart by their idempotency keys. */
export const keysOf = (asks: ReadonlyArray<{ readonly key: string | null }>) => new Set(asks.map((ask) => ask.key)).size

/** A setting is in flight if and only if a charge of it is open. */
export const inFlightOnce = async (app: App) => {
  const torn = await app.sql(
    `SELECT a.org_id FROM auto_topups a LEFT JOIN payments p ON p.org_id = a.org_id AND p.kind = 'auto' AND p.state = 'open'
     WHERE (a.state = 'charging') <> (p.payment_id IS NOT NULL)`
  )
  expect(torn).toEqual([])
}
