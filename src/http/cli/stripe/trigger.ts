/** Triggers one event: opens a checkout if it needs one, sends the webhooks in order, and shows the ledger entries. */
import { Clock, Effect } from "effect"
import { Flag } from "effect/cli"
import { memberText } from "../../../schema/json/JsonText.ts"
import * as Money from "../../../schema/money/Money.ts"
import { TopUp, Transaction } from "../../../schema/nouns/Wallet.ts"
import { TopUpsApi } from "../../api/TopUps.ts"
import { WalletApi } from "../../api/Wallet.ts"
import { wholeFacts } from "../answers/draw.ts"
import { ask, call } from "../answers/operation.ts"
import { formatOf, lines, pageOf, succeeded, wire } from "../answers/show.ts"
import { fail, failedWith, bad } from "../terminal/exits.ts"
import { Screen } from "../terminal/Screen.ts"
import { dollars } from "../terminal/values.ts"
import { boolean, type FlagsOf, oneOf, text, usd } from "../terminal/flags.ts"
import { type EventType, intentOf, newReversal, outcomes, type Subject, triggerOf } from "./events.ts"
import { sender } from "./sender.ts"

/** How long to wait for a ledger entry. A worker needs milliseconds, on a busy machine seconds. */
const turnSeconds = 15
const lookMillis = 200

const amountDefault = Money.dollars("25.00")

export const triggerFlags = {
  session: text("session", "session id of an existing checkout; default: a new one"),
  payment: text("payment", "payment id (pay_…), as admin show lists it"),
  payment_intent: text("payment-intent", "id of a real payment at Stripe (pi_…)"),
  object: text("object", "id of an earlier triggered refund or dispute (re_…, dp_…); default: a new one"),
  amount: usd("amount", "amount in USD; must match the checkout; default: 25.00").pipe(Flag.withDefault(amountDefault)),
  outcome: oneOf("outcome", outcomes, "outcome of a closed dispute; default: won").pipe(
    Flag.withDefault("won" as const)
  ),
  remote: boolean("remote", "allow a service that is not on this machine"),
  json: boolean("json", "print the sent events and the ledger entries as JSON")
}
type Given = FlagsOf<typeof triggerFlags>

/** Opens a checkout for the organization of the key. */
const openCheckout = Effect.fnUntraced(function* (amount: Money.MicroUsd) {
  const payload = { amount: Money.usd(amount) }
  const opened = yield* ask(TopUpsApi.endpoints.checkout, { payload }, TopUp)
  if (opened.status === "checkout") return opened.session_id
  return yield* failedWith(
    "The service did not open a Stripe checkout. It must run with STRIPE_SECRET_KEY of a test account."
  )
})

/** The ledger entry with this reference as JSON text; null after the timeout. */
const entryOf = Effect.fnUntraced(function* (reference: string) {
  const end = (yield* Clock.currentTimeMillis) + turnSeconds * 1000
  for (;;) {
    const latest = call(WalletApi.endpoints.transactions, { query: { limit: "200" } })
    const { items } = pageOf((yield* Effect.flatMap(latest, succeeded)).text)
    const entry = items.find((item) => memberText(item, "reference") === JSON.stringify(reference))
    if (entry !== undefined || (yield* Clock.currentTimeMillis) > end) return entry ?? null
    yield* Effect.sleep(`${lookMillis} millis`)
  }
})

const entryText = (item: string) => {
  const entry = wire(Transaction, item)
  return entry === null ? item : `${entry.type} ${dollars(entry.amount)}, balance ${dollars(entry.balance_after)}`
}

/** What the event needs and no flag names. */
const missing = (event: EventType, { payment, payment_intent }: Given): string | null => {
  const { needs } = triggerOf(event)
  if (needs === "payment" && payment === null)
    return `${event} needs an automatic top-up. Give --payment pay_…, as rungate admin show <org_id> lists it.`
  if (needs === "intent" && payment_intent === null)
    return `${event} makes the service read refunds from Stripe, so it needs a real payment. Give --payment-intent pi_…, or trigger refund.created.`
  return null
}

/** What the event is about, with a new checkout when it needs one and no flag names one; and all events to send, in order. */
const staged = Effect.fnUntraced(function* (event: EventType, cents: number, given: Given) {
  const { session, payment, payment_intent, object, amount, outcome } = given
  const { needs, before } = triggerOf(event)
  const opens =
    session === null && (needs === "checkout" || (needs === "paid" && payment === null && payment_intent === null))
  const session_id = opens ? yield* openCheckout(amount) : session
  const subject: Subject = {
    session_id,
    payment_id: payment,
    payment_intent: payment_intent ?? intentOf(session_id ?? payment ?? ""),
    reversal_id: object ?? newReversal(event),
    cents,
    outcome
  }
  const events: ReadonlyArray<EventType> = [
    ...(opens && needs === "paid" ? (["checkout.session.completed"] as const) : []),
    ...(before === undefined || object !== null ? [] : [before]),
    event
  ]
  return { subject, events }
})

export const rehearse = Effect.fnUntraced(function* (event: EventType, given: Given) {
  const screen = yield* Screen
  const cents = Money.centsOf(given.amount)
  if (cents === null || cents === 0) return yield* bad("--amount must be in whole cents and above 0, such as 25.00.")
  const lacking = missing(event, given)
  if (lacking !== null) return yield* bad(lacking)
  const send = yield* sender(given.remote)
  const { subject, events } = yield* staged(event, cents, given)
  const sent: Array<{ readonly id: string; readonly type: string; readonly outcome: string }> = []
  const entries: Array<string> = []
  const awaited: Array<string> = []
  for (const type of events) {
    const { object, books } = triggerOf(type)
    const delivery = yield* send(type, object(subject))
    sent.push(delivery)
    const reference = delivery.outcome === "stored" ? books(subject) : null
    if (reference === null) continue
    const entry = yield* entryOf(reference)
    if (entry === null) awaited.push(reference)
    else entries.push(entry)
  }

  const { session_id, payment_intent, reversal_id } = subject
  const names = { session_id, payment_intent, object: triggerOf(event).needs === "paid" ? reversal_id : null }
  if (formatOf(screen, given) === "json") {
    const head = JSON.stringify({ ...names, events: sent })
    yield* screen.out(`${head.slice(0, -1)},"entries":[${entries.join(",")}]}\n`)
  } else {
    const rows = [
      ...Object.entries(names).filter(([, name]) => name !== null),
      ...sent.map(({ type, id, outcome }) => ["sent", `${type} ${id}: ${outcome}`] as const),
      ...entries.map((item) => ["ledger", entryText(item)] as const)
    ]
    yield* lines(wholeFacts(rows, { screen }), "")
  }
  if (sent.some(({ outcome }) => outcome === "ignored")) {
    return yield* fail(
      "not_found",
      "The service ignored the event, because it has no such payment. List payments with: rungate admin show <org_id>"
    )
  }
  if (awaited.length > 0) {
    return yield* fail(
      "pending",
      `The event is stored, but the ledger has no entry ${awaited.join(", ")} yet. Possible causes: the event is a repetition, the amount differs, the payment belongs to another organization, or no worker runs. See: rungate admin show <org_id>`
    )
  }
  if (entries.length > 0) {
    yield* screen.say(
      "No money moved. After two minutes, rungate audit reports this top-up as unknown to Stripe and exits with 1."
    )
  }
})
