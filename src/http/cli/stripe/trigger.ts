/** Triggers one event: creates its object, sends the webhooks in order, and shows the ledger entries. */
import { Effect, Schema } from "effect"
import * as Money from "../../../schema/money/Money.ts"
import { fail } from "../terminal/exits.ts"
import { Screen } from "../terminal/Screen.ts"
import { decoded, formatOf } from "../answers/show.ts"
import { type EventType, intentOf, newReversal, type Subject, triggerOf } from "./events.ts"
import { entryOf, openCheckout, sender } from "./sender.ts"
import { facts } from "../terminal/table.ts"
import { dollars } from "../terminal/values.ts"

export interface Given {
  readonly session: string | null
  readonly payment: string | null
  readonly payment_intent: string | null
  readonly object: string | null
  readonly amount: Money.MicroUsd
  readonly outcome: Subject["outcome"]
  readonly remote: boolean
  readonly json: boolean
}

const Entry = Schema.Struct({ type: Schema.String, amount: Schema.String, balance_after: Schema.String })
const entryText = (item: string) => {
  const entry = decoded(Entry, item)
  return entry === null ? item : `${entry.type} ${dollars(entry.amount)}, balance ${dollars(entry.balance_after)}`
}

const unaudited =
  "No money moved. After two minutes, rungate audit reports this top-up as unknown to Stripe and exits with 1."

const missing = (event: EventType, given: Given): string | null => {
  const { needs } = triggerOf(event)
  if (needs === "payment" && given.payment === null) {
    return `${event} needs an automatic top-up. Give --payment pay_…, as rungate admin show <org_id> lists it.`
  }
  if (needs === "intent" && given.payment_intent === null) {
    return `${event} makes the service read refunds from Stripe, so it needs a real payment. Give --payment-intent pi_…, or trigger refund.created.`
  }
  return null
}

/** Whether to open a new checkout: the event needs one and no flag names one. */
const isNew = (event: EventType, { session, payment, payment_intent }: Given): boolean => {
  const { needs } = triggerOf(event)
  if (needs === "checkout") return session === null
  return needs === "paid" && session === null && payment === null && payment_intent === null
}

/** All events to send, in order. */
const sequence = (event: EventType, opened: boolean, { object }: Given): ReadonlyArray<EventType> => {
  const { needs, before } = triggerOf(event)
  return [
    ...(opened && needs === "paid" ? (["checkout.session.completed"] as const) : []),
    ...(before === undefined || object !== null ? [] : [before]),
    event
  ]
}

export const rehearse = Effect.fnUntraced(function* (event: EventType, given: Given) {
  const screen = yield* Screen
  const cents = Money.centsOf(given.amount)
  if (cents === null || cents === 0)
    return yield* fail("usage", "--amount must be in whole cents and above 0, such as 25.00.")
  const lacking = missing(event, given)
  if (lacking !== null) return yield* fail("usage", lacking)
  const send = yield* sender(given.remote)
  const opened = isNew(event, given)
  const session_id = opened ? yield* openCheckout(given.amount) : given.session
  const subject: Subject = {
    session_id,
    payment_id: given.payment,
    payment_intent: given.payment_intent ?? intentOf(session_id ?? given.payment ?? ""),
    reversal_id: given.object ?? newReversal(event),
    cents,
    outcome: given.outcome
  }

  const sent: Array<{ readonly id: string; readonly type: string; readonly outcome: string }> = []
  const entries: Array<string> = []
  const awaited: Array<string> = []
  for (const type of sequence(event, opened, given)) {
    const { object, books } = triggerOf(type)
    const told = yield* send(type, object(subject))
    sent.push(told)
    const reference = told.outcome === "stored" ? books(subject) : null
    if (reference === null) continue
    const entry = yield* entryOf(reference)
    if (entry === null) awaited.push(reference)
    else entries.push(entry)
  }

  const names = {
    session_id,
    payment_intent: subject.payment_intent,
    object: triggerOf(event).needs === "paid" ? subject.reversal_id : null
  }
  if (formatOf(screen, given) === "json") {
    const head = JSON.stringify({ ...names, events: sent })
    yield* screen.out(`${head.slice(0, -1)},"entries":[${entries.join(",")}]}\n`)
  } else {
    const rows = [
      ...Object.entries(names).filter(([, name]) => name !== null),
      ...sent.map(({ type, id, outcome }) => ["sent", `${type} ${id}: ${outcome}`] as const),
      ...entries.map((item) => ["ledger", entryText(item)] as const)
    ]
    const lines = facts(rows, Number.POSITIVE_INFINITY, (name) => screen.paint("dim", name))
    yield* screen.out(lines.map((line) => `${line}\n`).join(""))
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
  if (entries.length > 0) yield* screen.say(unaudited)
})
