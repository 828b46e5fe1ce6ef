/**
 * A cash desk for tests: two processes of the service in production, over one database, and the local Stripe beside them.
 *
 * Events are delivered by hand, so a test decides what the service gets to hear, in which order and where. The reconciler's reading is a
 * day apart unless a test asks for it, and nothing else tells the service of a payment.
 */
import { expect } from "bun:test"
import { type App, type Backend, startApp, type Tenant, until } from "../../kit/app.ts"
import type { Thing } from "./account.ts"
import { type DeliverOptions, type LocalStripe, startStripe } from "./standin.ts"

export interface Desk {
  readonly stripe: LocalStripe
  readonly apps: readonly [App, App]
  /** The webhook's address at one process or the other, in turn. */
  readonly url: (index?: number) => string
  /** An organization with a checkout of this amount that is still to be paid. */
  readonly buyer: (amount?: string) => Promise<Sale>
  readonly checkout: (org: Tenant, amount?: string) => Promise<Sale>
  /** A checkout that is paid, and that the service has heard of. */
  readonly paid: (amount?: string, org?: Tenant) => Promise<Sale & { readonly intent: string }>
  /** Delivers one event; the answer must be 2xx. */
  readonly tell: (event: Thing, index?: number, options?: DeliverOptions) => Promise<Thing>
  /** Delivers events one after the other, each to the other process than the one before. */
  readonly tellAll: (events: ReadonlyArray<Thing>) => Promise<void>
  /** What Stripe has said of one payment so far, oldest first. */
  readonly about: (intent: string) => ReadonlyArray<Thing>
  /** Waits until every stored command is applied, of one organization or of all. */
  readonly applied: (org?: Tenant) => Promise<void>
  readonly payment: (payment_id: string) => Promise<Record<string, unknown>>
  /** All that a webhook may touch, as one text to compare. */
  readonly everything: () => Promise<string>
  readonly outcomes: (event_id: string) => Promise<ReadonlyArray<unknown>>
  readonly books: () => Promise<void>
  readonly stop: () => Promise<void>
}

export interface Sale {
  readonly org: Tenant
  readonly amount: string
  readonly session_id: string
  readonly payment_id: string
}

export const webhookPath = "/v1/webhooks/stripe"

export const openDesk = async (
  options: { readonly backend?: Backend; readonly settings?: Readonly<Record<string, string>> } = {}
): Promise<Desk> => {
  const stripe = await startStripe()
  const settings = {
    RUNGATE_MODE: "production",
    RUNGATE_RECONCILE_SECONDS: "86400",
    ...stripe.settings,
    ...options.settings
  }
  const first = await startApp({ settings, backend: options.backend ?? "postgres" })
  const second = await startApp({ settings, beside: first })

  const url = (index = 0) => `${(index % 2 === 0 ? first : second).url}${webhookPath}`
  const about = (intent: string) =>
    stripe.events.filter(({ data: { object } }) => object.id === intent || object.payment_intent === intent)

  const checkout = async (org: Tenant, amount = "25.00"): Promise<Sale> => {
    const { status, body } = await org.post("/v1/wallet/topups/checkout", { amount })
    expect([status, body]).toEqual([
      200,
      { status: "checkout", checkout_url: expect.stringContaining(body.session_id), session_id: body.session_id }
    ])
    const session = stripe.lists.sessions().find(({ id }) => id === body.session_id)
    return { org, amount, session_id: body.session_id, payment_id: session?.metadata.payment_id }
  }

  const tell = async (event: Thing, index = 0, how: DeliverOptions = {}) => {
    const { status, text } = await stripe.deliver(url(index), event, how)
    expect([status, text]).toEqual([200, expect.any(String)])
    return JSON.parse(text)
  }

  const applied = async (org?: Tenant) => {
    const asked = "SELECT 1 FROM mailbox WHERE parked IS NULL AND ($1::text IS NULL OR org_id = $1) LIMIT 1"
    const left = () => first.sql(asked, [org?.org_id ?? null])
    await until("every command is applied", left, (rows) => rows.length === 0)
  }

  const paid = async (amount = "25.00", org?: Tenant) => {
    const sale = await checkout(org ?? (await first.tenant()), amount)
    const { payment_intent: intent } = stripe.pay(sale.session_id)
    for (const event of about(intent)) await tell(event)
    await applied()
    return { ...sale, intent }
  }

  const tables = ["payments", "payment_events", "payment_reversals", "payment_methods", "ledger", "mailbox"]
  const everything = async () => {
    const found = await Promise.all(tables.map((name) => first.sql(`SELECT t::text AS row FROM ${name} t ORDER BY 1`)))
    // A wallet's version counts turns, also those that found nothing to do.
    const wallets = await first.sql("SELECT org_id, balance, reserved, entry_seq FROM wallets ORDER BY org_id")
    return JSON.stringify([...found, wallets])
  }

  return {
    stripe,
    apps: [first, second],
    url,
    buyer: async (amount) => checkout(await first.tenant(), amount),
    checkout,
    paid,
    tell,
    tellAll: async (events) => {
      for (const [index, event] of events.entries()) await tell(event, index)
    },
    about,
    applied,
    payment: async (payment_id) => {
      const columns = "state, amount::text, clawed_back::text, session_id, payment_intent, failure"
      const [row] = await first.sql(`SELECT ${columns} FROM payments WHERE payment_id = $1`, [payment_id])
      return row ?? {}
    },
    everything,
    outcomes: async (event_id) => {
      const rows = await first.sql("SELECT outcome FROM payment_events WHERE event_id = $1", [event_id])
      return rows.map((row) => row["outcome"])
    },
    books: async () => {
      await applied()
      await first.books()
    },
    stop: async () => {
      await second.stop()
      await first.stop()
      await stripe.stop()
    }
  }
}

/** Every order of so many things. */
export const orders = <A>(things: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> =>
  things.length < 2
    ? [things]
    : things.flatMap((first, at) => orders(things.toSpliced(at, 1)).map((rest) => [first, ...rest]))

/** Newest last, as `type amount`. */
export const moved = async (org: Tenant) =>
  [...(await org.ledger())].reverse().map(({ type, amount }) => `${type} ${amount}`)
