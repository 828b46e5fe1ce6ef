/**
 * `rungate dev stripe trigger <event>`: sends a simulated Stripe webhook to a service in test mode.
 *
 * Like `stripe trigger`, it creates what an event needs: a checkout, and a payment for a refund or dispute.
 */
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import * as Money from "../../../schema/money/Money.ts"
import { nearest } from "../../../schema/nearest.ts"
import { fail } from "../terminal/exits.ts"
import { TypedUsd } from "../terminal/TypedUsd.ts"
import { Screen } from "../terminal/Screen.ts"
import { formatOf } from "../answers/show.ts"
import { eventTypeOf, eventTypes, type Needs, outcomes, triggerOf } from "./events.ts"
import { wrap } from "../terminal/text.ts"
import { rehearse } from "./trigger.ts"

const amountDefault = Money.dollars("25.00")

/** The flag that an event requires; null when everything is created. */
const needed: Readonly<Record<Needs, string | null>> = {
  checkout: null,
  paid: null,
  payment: "--payment",
  intent: "--payment-intent"
}

const gap = 2
const textLeast = 20

const list = (asJson: boolean) =>
  Effect.gen(function* () {
    const screen = yield* Screen
    const rows = eventTypes.map((event) => {
      const { does, needs } = triggerOf(event)
      return { event, does, needs: needed[needs] }
    })
    if (asJson) return yield* screen.out(`${JSON.stringify({ items: rows })}\n`)
    const names = Math.max(...eventTypes.map((event) => event.length)) + gap
    const drawn = rows.flatMap(({ event, does, needs }) =>
      wrap(needs === null ? does : `${does} (${needs})`, Math.max(textLeast, screen.width - names)).map(
        (line, index) => (index === 0 ? screen.paint("bold", event.padEnd(names)) : " ".repeat(names)) + line
      )
    )
    yield* screen.out(drawn.map((line) => `${line}\n`).join(""))
  })

const text = (name: string, description: string) =>
  Flag.String(name).pipe(Flag.withDescription(description), Flag.optional, Flag.map(Option.getOrNull))
const boolean = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withDescription(description), Flag.withDefault(false))

const flags = {
  session: text("session", "session id of an existing checkout; default: a new one"),
  payment: text("payment", "payment id (pay_…), as admin show lists it"),
  payment_intent: text("payment-intent", "id of a real payment at Stripe (pi_…)"),
  object: text("object", "id of an earlier triggered refund or dispute (re_…, dp_…); default: a new one"),
  amount: Flag.String("amount").pipe(
    Flag.withDescription("amount in USD; must match the checkout; default: 25.00"),
    Flag.withSchema(TypedUsd),
    Flag.withDefault(amountDefault)
  ),
  outcome: Flag.Literals("outcome", outcomes).pipe(
    Flag.withDescription("outcome of a closed dispute; default: won"),
    Flag.withDefault("won" as const)
  ),
  remote: boolean("remote", "allow a service that is not on this machine"),
  list: boolean("list", "list the events and their effects"),
  json: boolean("json", "print the sent events and the ledger entries as JSON")
}

const trigger = Command.make(
  "trigger",
  {
    event: Argument.String("event").pipe(
      Argument.withDescription("such as checkout.session.completed; --list shows all"),
      Argument.optional,
      Argument.map(Option.getOrNull)
    ),
    ...flags
  },
  Effect.fnUntraced(function* ({ event, list: listed, ...given }) {
    const screen = yield* Screen
    if (listed) return yield* list(formatOf(screen, given) === "json")
    if (event === null)
      return yield* fail("usage", "The event is missing. List the events with: rungate dev stripe trigger --list")
    const type = eventTypeOf(event)
    const meant = nearest(event, eventTypes)
    if (type === null)
      return yield* fail(
        "usage",
        `Unknown event ${event}.${meant === null ? "" : ` Did you mean ${meant}?`} List the events with: rungate dev stripe trigger --list`
      )
    yield* rehearse(type, given)
  })
).pipe(
  Command.withDescription("Send a simulated Stripe webhook, signed with STRIPE_WEBHOOK_SECRET (test mode only)"),
  Command.withExamples([
    { command: "rungate dev stripe trigger checkout.session.completed", description: "Open a checkout and pay it" },
    { command: "rungate dev stripe trigger charge.dispute.closed --outcome lost", description: "Pay, dispute, lose" },
    {
      command: "rungate dev stripe trigger refund.created --session cs_test_… --amount 5.00",
      description: "Refund a part of a triggered payment"
    }
  ])
)

const stripe = Command.make("stripe").pipe(
  Command.withDescription("Simulate Stripe webhooks"),
  Command.withSubcommands([trigger])
)

export const dev = Command.make("dev").pipe(
  Command.withDescription("Tools for development against your own service"),
  Command.withSubcommands([stripe])
)
