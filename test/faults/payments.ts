/**
 * The flows of money coming in, as a customer and a processor go through them: neither gives up, and events are delivered again
 * until they are taken.
 */
import type { App, Tenant } from "../kit/app.ts"
import { until } from "../kit/app.ts"
import { startMeter } from "../chaos/meter.ts"
import { type LocalStripe, startStripe } from "../layers/payments/standin.ts"
import { type Flow, openStage, patiently, type Stage, stuckSeconds } from "./stage.ts"

export interface PaidStage extends Stage {
  readonly stripe: LocalStripe
}

/** In production, with a processor and a provider of our own; leases are short, so what a dead hand holds is soon taken over. */
export const openPaidStage = async (): Promise<PaidStage> => {
  const stripe = await startStripe({ live: true })
  const meter = startMeter()
  const stage = await openStage({
    backend: "postgres",
    settings: {
      ...stripe.settings,
      RUNGATE_MODE: "production",
      RUNGATE_LEASE_SECONDS: "2",
      RUNGATE_RECONCILE_SECONDS: "86400",
      RUNGATE_PROVIDER_LEADMAGIC_API_KEY: "key",
      RUNGATE_PROVIDER_LEADMAGIC_BASE_URL: meter.url
    }
  })
  const stop = async () => {
    await stage.stop()
    await stripe.stop()
    await meter.stop()
  }
  return { ...stage, stripe, stop }
}

/** As the processor does: every event again until it is answered with 2xx. */
export const deliver = async (app: App, stripe: LocalStripe, events: LocalStripe["events"]) => {
  for (const event of events) {
    await until(
      `${event["type"]} is taken`,
      () => stripe.deliver(`${app.url}/v1/webhooks/stripe`, event).catch(() => ({ status: 0, text: "" })),
      ({ status, text }) => {
        if (status >= 400 && status < 500) throw new Error(`${event["type"]} was refused: ${text}`)
        return status >= 200 && status < 300
      }
    )
  }
}

const credited = (app: App, tenant: Tenant, type: string) =>
  until(
    `a ${type} on the ledger`,
    () => app.sql("SELECT 1 FROM ledger WHERE org_id = $1 AND type = $2", [tenant.org_id, type]),
    (rows) => rows.length > 0
  )

const checkout = async (app: App, tenant: Tenant): Promise<string> => {
  const client = tenant.over(app)
  const answer = await patiently(() => client.post("/v1/wallet/topups/checkout", { amount: "25.00" }))
  if (answer.status !== 200) throw new Error(`checkout: ${answer.status} ${answer.text}`)
  return answer.body.session_id
}

/** A payment that nothing disturbed. Answers its intent. */
const paid = async ({ direct, stripe }: PaidStage, tenant: Tenant) => {
  const { payment_intent } = stripe.pay(await checkout(direct, tenant))
  const mine = stripe.events.filter((event) => event["data"].object.payment_intent === payment_intent)
  await deliver(direct, stripe, mine)
  await credited(direct, tenant, "topup")
  return payment_intent
}

/** The ledger, newest first, must be just this. */
const ledgerIs = async (tenant: Tenant, ...expected: ReadonlyArray<string>) => {
  const rows = (await tenant.ledger()).map((one) => `${one.type} ${one.amount}`)
  return rows.join() === expected.join() ? [] : [`the ledger is ${rows.join()}`]
}

const flow = (name: string, rest: Omit<Flow<PaidStage>, "name">): Flow<PaidStage> => ({ name, ...rest })

export const checkoutFlow = flow("checkout, payment, webhook", {
  prepare:
    async ({ app, stripe }, tenant) =>
    async () => {
      const session_id = await checkout(app, tenant)
      const from = stripe.events.length
      stripe.pay(session_id)
      await deliver(app, stripe, stripe.events.slice(from))
    },
  check: (_stage, tenant) => ledgerIs(tenant, "topup 25.00", "bonus 5.00")
})

export const refundFlow = flow("refund of a payment", {
  prepare: async (stage, tenant) => {
    const { app, stripe } = stage
    const payment_intent = await paid(stage, tenant)
    return async () => {
      const from = stripe.events.length
      stripe.refund(payment_intent, 1_000)
      await deliver(app, stripe, stripe.events.slice(from))
    }
  },
  check: (_stage, tenant) => ledgerIs(tenant, "refund -10.00", "topup 25.00", "bonus 5.00")
})

export const earlyRefundFlow = flow("refund heard of before its payment", {
  prepare: async ({ app, direct, stripe }, tenant) => {
    const session_id = await checkout(direct, tenant)
    return async () => {
      const from = stripe.events.length
      stripe.refund(stripe.pay(session_id).payment_intent, 1_000)
      await deliver(app, stripe, stripe.events.slice(from).toReversed())
    }
  },
  check: (_stage, tenant) => ledgerIs(tenant, "refund -10.00", "topup 25.00", "bonus 5.00")
})

const runOnce = async (app: App, tenant: Tenant) => {
  const client = tenant.over(app)
  const input = { first_name: "Hit", last_name: "Doe", company_domain: "example.com" }
  const key = { "idempotency-key": crypto.randomUUID() }
  const { status, text } = await patiently(() => client.run({ capability: "email.find", input }, key))
  if (status >= 300) throw new Error(`run: ${status} ${text}`)
}

export const autoTopUpFlow = flow("automatic top-up", {
  own: [/FROM auto_topups WHERE state = 'waiting'/, /FROM payments WHERE state = 'open' AND look_at/],
  prepare: async (stage, tenant) => {
    const { app, direct, stripe } = stage
    await paid(stage, tenant)
    const body = { enabled: true, threshold: "30.00", amount: "20.00" }
    const set = await direct.call(await tenant.session(), "POST", "/v1/wallet/auto-topup", { body })
    if (set.status !== 200) throw new Error(`auto top-up: ${set.status} ${set.text}`)
    return async () => {
      let told = stripe.events.length
      await runOnce(app, tenant)
      // The processor tells of what we asked for, too: that is how a charge comes out that it answered with nonsense.
      await until(
        "the charge is credited",
        async () => {
          const news = stripe.events.slice(told)
          told += news.length
          await deliver(app, stripe, news)
          return direct.sql("SELECT state FROM payments WHERE org_id = $1 AND kind = 'auto'", [tenant.org_id])
        },
        (rows) => rows.length > 0 && rows.every((row) => row["state"] === "paid"),
        stuckSeconds
      )
      await deliver(app, stripe, stripe.events.slice(told))
    }
  },
  check: async ({ direct, stripe }, tenant) => {
    const rows = (await tenant.ledger()).map((one) => `${one.type} ${one.amount}`)
    const topups = rows.filter((one) => one.startsWith("topup")).join()
    const charges = await direct.sql("SELECT payment_id, state FROM payments WHERE org_id = $1 AND kind = 'auto'", [
      tenant.org_id
    ])
    const found: Array<string> = []
    if (topups !== "topup 20.00,topup 25.00") found.push(`the ledger is ${rows.join()}`)
    if (charges.length !== 1) found.push(`${charges.length} automatic payments`)
    const charged = charges.map((one) => stripe.charges(String(one["payment_id"])).length)
    if (charged.join() !== "1") found.push(`the card was charged ${charged.join()} times`)
    return found
  }
})
