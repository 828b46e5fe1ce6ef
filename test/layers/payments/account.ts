/**
 * What the local Stripe knows: customers, methods, sessions, intents, refunds, disputes and the events they made, in memory and in
 * the shapes of Stripe's API. The moves of the outside world (a payer, a bank, an operator in the dashboard) are functions.
 */
import { randomBytes } from "node:crypto"

/** A JSON object of Stripe's. */
export type Thing = Record<string, any>

export interface Fact {
  readonly status: number
  readonly body: Thing
}

export const apiError = (status: number, type: string, fields: Thing): Fact => ({
  status,
  body: { error: { type, ...fields } }
})
export const invalid = (code: string, message: string, more: Thing = {}) =>
  apiError(400, "invalid_request_error", { code, message, ...more })
const missing = (what: string, id: string, param: string, status = 404) =>
  apiError(status, "invalid_request_error", { code: "resource_missing", param, message: `No such ${what}: '${id}'` })

/** What becomes of a charge: null succeeds; a code of a bank's declines. */
export type Card = string | null | "requires_action" | "processing"

export interface PayOptions {
  /** The money comes days later: see `settleAsync` and `failAsync`. */
  readonly async?: boolean
  /** In cents, when somebody pays another sum than was asked. */
  readonly amount?: number
  readonly currency?: string
  /** Of the card that is paid with; a new one when it is left out. */
  readonly fingerprint?: string
}

export const newAccount = (live: boolean) => {
  const seed = randomBytes(5).toString("hex")
  let counter = 0
  let offset = 0
  let decline: Card = null
  const now = () => Math.floor(Date.now() / 1000) + offset
  const newId = (prefix: string) => `${prefix}_${seed}${String(++counter).padStart(6, "0")}`
  const mode = live ? "live" : "test"

  const customers = new Map<string, Thing>()
  const methods = new Map<string, Thing>()
  const sessions = new Map<string, Thing>()
  const intents = new Map<string, Thing>()
  const charges = new Map<string, Thing>()
  const refunds = new Map<string, Thing>()
  const disputes = new Map<string, Thing>()
  const events: Array<Thing> = []

  const emit = (type: string, object: Thing) => {
    const event = {
      id: newId("evt"),
      object: "event",
      api_version: "2026-10-28.endive",
      created: now(),
      data: { object: structuredClone(object) },
      livemode: live,
      pending_webhooks: 1,
      request: { id: null, idempotency_key: null },
      type
    }
    events.push(event)
    return event
  }

  const make = (prefix: string, object: string, into: Map<string, Thing>, fields: Thing): Thing => {
    const thing = { id: newId(prefix), object, created: now(), livemode: live, metadata: {}, ...fields }
    into.set(thing.id, thing)
    return thing
  }

  const known = (from: Map<string, Thing>, id: string): Thing => {
    const found = from.get(id)
    if (found === undefined) throw new Error(`the local Stripe knows no ${id}`)
    return found
  }
  const intentOf = (id: string) => known(intents, id)
  const chargeOf = (intent: Thing) => known(charges, intent.latest_charge)
  const sessionOf = (id: string) => known(sessions, id)

  const newCustomer = () => make("cus", "customer", customers, { email: "payer@example.com" }).id
  const newMethod = (customer: string | null, fingerprint = newId("fp")) =>
    make("pm", "payment_method", methods, {
      type: "card",
      customer,
      card: { brand: "visa", last4: "4242", exp_month: 12, exp_year: 2040, funding: "credit", fingerprint }
    }).id

  const newIntent = (fields: Thing) =>
    make("pi", "payment_intent", intents, {
      amount_received: 0,
      capture_method: "automatic",
      client_secret: `${seed}_secret`,
      currency: "usd",
      last_payment_error: null,
      latest_charge: null,
      setup_future_usage: null,
      status: "requires_confirmation",
      ...fields
    })

  const newCharge = (intent: Thing, status: "succeeded" | "pending" | "failed") => {
    const charge = make("ch", "charge", charges, {
      amount: intent.amount,
      amount_refunded: 0,
      currency: intent.currency,
      customer: intent.customer,
      metadata: { ...intent.metadata },
      paid: status === "succeeded",
      payment_intent: intent.id,
      payment_method: intent.payment_method,
      refunded: false,
      status
    })
    intent.latest_charge = charge.id
    return charge
  }

  /** The money arrives. */
  const settle = (intent: Thing) => {
    Object.assign(intent, { status: "succeeded", amount_received: intent.amount, last_payment_error: null })
    emit("charge.succeeded", newCharge(intent, "succeeded"))
    emit("payment_intent.succeeded", intent)
  }
  const fail = (intent: Thing, code: string) => {
    const message = code === "expired_card" ? "Your card has expired." : "Your card was declined."
    const asIs = ["expired_card", "authentication_required", "processing_error", "incorrect_cvc"].includes(code)
    const error = { type: "card_error", code: asIs ? code : "card_declined", decline_code: code, message }
    Object.assign(intent, { status: "requires_payment_method", last_payment_error: error })
    emit("charge.failed", newCharge(intent, "failed"))
    emit("payment_intent.payment_failed", intent)
    return error
  }

  const openSession = (params: Thing): Fact => {
    const { customer = null, customer_creation: creation } = params
    if (customer !== null && !customers.has(customer)) return missing("customer", customer, "customer", 400)
    if (customer !== null && creation !== undefined) {
      return invalid(
        "parameters_exclusive",
        "You may only specify one of these parameters: customer, customer_creation."
      )
    }
    const item = params.line_items?.[0]
    const amount = Number(item?.price_data?.unit_amount) * Number(item?.quantity)
    if (!Number.isInteger(amount))
      return invalid("parameter_invalid_integer", "Invalid integer", { param: "unit_amount" })
    if (amount < 50) return invalid("amount_too_small", "The total amount due must add up to at least $0.50 usd.")
    const session = make(`cs_${mode}`, "checkout.session", sessions, {
      adaptive_pricing: { enabled: params.adaptive_pricing?.enabled !== "false" },
      amount_subtotal: amount,
      amount_total: amount,
      cancel_url: params.cancel_url,
      client_reference_id: params.client_reference_id ?? null,
      currency: item.price_data.currency,
      customer,
      customer_creation: creation ?? "if_required",
      expires_at: now() + 24 * 60 * 60,
      metadata: params.metadata ?? {},
      mode: params.mode,
      payment_intent: null,
      payment_status: "unpaid",
      status: "open",
      success_url: params.success_url,
      url: ""
    })
    session.url = `https://checkout.stripe.com/c/pay/${session.id}`
    hidden.set(session.id, params.payment_intent_data ?? {})
    return { status: 200, body: session }
  }
  /** What a session keeps for its intent, and doesn't show. */
  const hidden = new Map<string, Thing>()

  const charge = (params: Thing): Fact => {
    const { customer, payment_method: method } = params
    if (!customers.has(customer)) return missing("customer", customer, "customer", 400)
    if (methods.get(method)?.customer !== customer) return missing("PaymentMethod", method, "payment_method", 400)
    const amount = Number(params.amount)
    if (!Number.isInteger(amount)) return invalid("parameter_invalid_integer", "Invalid integer", { param: "amount" })
    if (amount < 50) return invalid("amount_too_small", "Amount must be at least $0.50 usd")
    const { currency, metadata = {}, description = null } = params
    const intent = newIntent({ amount, currency, customer, payment_method: method, metadata, description })
    emit("payment_intent.created", intent)
    if (decline === null) settle(intent)
    else if (decline === "requires_action") {
      Object.assign(intent, { status: "requires_action", next_action: { type: "use_stripe_sdk" } })
      emit("payment_intent.requires_action", intent)
    } else if (decline === "processing") {
      Object.assign(intent, { status: "processing" })
      emit("payment_intent.processing", intent)
    } else return { status: 402, body: { error: { ...fail(intent, decline), payment_intent: intent } } }
    return { status: 200, body: intent }
  }

  const cancel = (id: string): Fact => {
    const intent = intents.get(id)
    if (intent === undefined) return missing("payment_intent", id, "intent")
    if (!["requires_payment_method", "requires_action", "requires_confirmation"].includes(intent.status)) {
      return invalid(
        "payment_intent_unexpected_state",
        `You cannot cancel this PaymentIntent: it is ${intent.status}.`,
        {
          payment_intent: intent
        }
      )
    }
    intent.status = "canceled"
    emit("payment_intent.canceled", intent)
    return { status: 200, body: intent }
  }

  const retrieve = (kind: "sessions" | "payment_intents", id: string, expand: ReadonlyArray<string>): Fact => {
    const found = kind === "sessions" ? sessions.get(id) : intents.get(id)
    if (found === undefined) return missing(kind === "sessions" ? "checkout.session" : "payment_intent", id, "id")
    const method = expand.includes("payment_method") ? methods.get(found.payment_method) : undefined
    return { status: 200, body: method === undefined ? found : { ...found, payment_method: method } }
  }

  /** Newest first, as Stripe lists. */
  const newest = (things: Iterable<Thing>) => Array.from(things).reverse()

  const world = {
    /** Decides over all charges from now on. */
    card: (options: { readonly decline: Card }) => {
      decline = options.decline
    },
    /** A customer with a card on file, as a checkout leaves one. */
    customer: () => {
      const customer = newCustomer()
      return { customer, payment_method: newMethod(customer) }
    },
    removeCustomer: (id: string) => customers.delete(id),
    removeMethod: (id: string) => {
      known(methods, id).customer = null
    },
    /** Lets Stripe's clock run ahead. */
    travel: (seconds: number) => {
      offset += seconds
    },

    /** Somebody pays at the checkout page. */
    pay: (session_id: string, { async = false, amount, currency, fingerprint }: PayOptions = {}) => {
      const session = sessionOf(session_id)
      if (session.status !== "open") throw new Error(`the session is ${session.status}`)
      if (amount !== undefined) session.amount_total = amount
      if (currency !== undefined) session.currency = currency
      const { metadata = {}, setup_future_usage = null } = known(hidden, session_id)
      const customer: string = session.customer ?? newCustomer()
      const intent = newIntent({
        amount: session.amount_total,
        currency: session.currency,
        customer,
        metadata,
        payment_method: newMethod(setup_future_usage === null ? null : customer, fingerprint),
        setup_future_usage
      })
      const { id: payment_intent, payment_method } = intent
      emit("payment_intent.created", intent)
      if (async) {
        intent.status = "processing"
        emit("payment_intent.processing", intent)
      } else settle(intent)
      const payment_status = async ? "unpaid" : "paid"
      Object.assign(session, { status: "complete", payment_status, payment_intent, customer, url: null })
      emit("checkout.session.completed", session)
      return { payment_intent: payment_intent as string, customer, payment_method: payment_method as string }
    },
    settleAsync: (session_id: string) => {
      const session = sessionOf(session_id)
      settle(intentOf(session.payment_intent))
      session.payment_status = "paid"
      emit("checkout.session.async_payment_succeeded", session)
    },
    failAsync: (session_id: string) => {
      const session = sessionOf(session_id)
      fail(intentOf(session.payment_intent), "generic_decline")
      emit("checkout.session.async_payment_failed", session)
    },
    expire: (session_id: string) => {
      const session = sessionOf(session_id)
      Object.assign(session, { status: "expired", url: null })
      emit("checkout.session.expired", session)
    },
    /** A charge that was `processing` or `requires_action` succeeds. */
    settleCharge: (payment_intent: string) => settle(intentOf(payment_intent)),
    failCharge: (payment_intent: string, code = "generic_decline") => {
      fail(intentOf(payment_intent), code)
    },

    /** An operator gives back `cents`, or all that is left. Returns the refund's id. */
    refund: (payment_intent: string, cents?: number): string => {
      const charge = chargeOf(intentOf(payment_intent))
      const amount = cents ?? charge.amount - charge.amount_refunded
      if (amount > charge.amount - charge.amount_refunded) throw new Error("more than is left")
      charge.amount_refunded += amount
      charge.refunded = charge.amount_refunded === charge.amount
      const { currency } = charge
      const refund = make("re", "refund", refunds, {
        amount,
        charge: charge.id,
        currency,
        payment_intent,
        reason: null,
        status: "succeeded"
      })
      emit("refund.created", refund)
      emit("charge.refunded", charge)
      emit("refund.updated", refund)
      emit("charge.refund.updated", refund)
      return refund.id
    },
    /** The payer's bank didn't take the refund: the money is ours again. */
    failRefund: (refund_id: string) => {
      const refund = known(refunds, refund_id)
      const charge = known(charges, refund.charge)
      charge.amount_refunded -= refund.amount
      charge.refunded = false
      Object.assign(refund, { status: "failed", failure_reason: "lost_or_stolen_card" })
      emit("refund.updated", refund)
      emit("refund.failed", refund)
      emit("charge.refund.updated", refund)
    },
    /** The payer's bank takes the money back, or only asks (`inquiry`). Returns the dispute's id. */
    dispute: (
      payment_intent: string,
      { cents, inquiry = false }: { cents?: number; inquiry?: boolean } = {}
    ): string => {
      const charge = chargeOf(intentOf(payment_intent))
      const dispute = make("dp", "dispute", disputes, {
        amount: cents ?? charge.amount,
        balance_transactions: [],
        charge: charge.id,
        currency: charge.currency,
        is_charge_refundable: inquiry,
        payment_intent,
        reason: "fraudulent",
        status: inquiry ? "warning_needs_response" : "needs_response"
      })
      if (!inquiry) move(dispute, -1)
      emit("charge.dispute.created", dispute)
      if (!inquiry) emit("charge.dispute.funds_withdrawn", dispute)
      return dispute.id
    },
    /** An inquiry becomes a dispute. */
    escalate: (dispute_id: string) => {
      const dispute = known(disputes, dispute_id)
      dispute.status = "needs_response"
      move(dispute, -1)
      emit("charge.dispute.updated", dispute)
      emit("charge.dispute.funds_withdrawn", dispute)
    },
    closeDispute: (dispute_id: string, outcome: "won" | "lost" | "warning_closed") => {
      const dispute = known(disputes, dispute_id)
      dispute.status = outcome
      if (outcome === "won") move(dispute, 1)
      emit("charge.dispute.closed", dispute)
      if (outcome === "won") emit("charge.dispute.funds_reinstated", dispute)
    }
  }
  const move = (dispute: Thing, sign: 1 | -1) => {
    const amount = sign * dispute.amount
    dispute.balance_transactions.push({ id: newId("txn"), object: "balance_transaction", amount, type: "adjustment" })
  }

  return {
    world,
    api: { openSession, charge, cancel, retrieve },
    now,
    events,
    lists: {
      sessions: () => newest(sessions.values()),
      payment_intents: () => newest(intents.values()),
      refunds: () => newest(refunds.values()),
      disputes: () => newest(disputes.values()),
      events: () => newest(events)
    }
  }
}

export type Account = ReturnType<typeof newAccount>
