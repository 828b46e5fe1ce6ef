/**
 * `rungate dev stripe trigger <event>`: rehearses what Stripe tells the service, on a service that runs with a test account.
 *
 * Like `stripe trigger`, it makes what an event needs: a checkout, and its payment for a refund or a dispute.
 */
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import * as Money from "../../../schema/money/Money.ts"
import { fail } from "../terminal/exits.ts"
import { Screen } from "../terminal/Screen.ts"
import { formatOf } from "../answers/show.ts"
import { eventTypeOf, eventTypes, type Needs, outcomes, triggerOf } from "./events.ts"
import { wrap } from "../terminal/text.ts"
import { rehearse } from "./trigger.ts"

const amountDefault = Money.dollars("25.00")

/** What must be named; the rest is made. */
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
  session: text("session", "a checkout that is there already, as wallet topup shows it; a new one when left out"),
  payment: text("payment", "our name of the payment, as admin show lists it: pay_…"),
  payment_intent: text("payment-intent", "a payment that was really made at Stripe: pi_…"),
  object: text("object", "a refund or dispute that was triggered before: re_…, dp_…; a new one when left out"),
  amount: Flag.String("amount").pipe(
    Flag.withDescription("USD; what was asked for, or nothing is credited; 25.00 when left out"),
    Flag.withSchema(Money.Usd),
    Flag.withDefault(amountDefault)
  ),
  outcome: Flag.Literals("outcome", outcomes).pipe(
    Flag.withDescription("how a dispute is closed; won when left out"),
    Flag.withDefault("won" as const)
  ),
  remote: boolean("remote", "also to a service that is not on this machine"),
  list: boolean("list", "show what can be triggered, and what it does"),
  json: boolean("json", "print what was sent, and the ledger's entries as the API lists them")
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
    if (event === null) return yield* fail("usage", "Name an event; rungate dev stripe trigger --list shows them.")
    const type = eventTypeOf(event)
    if (type === null)
      return yield* fail("usage", `${event} can't be triggered; rungate dev stripe trigger --list shows what can.`)
    yield* rehearse(type, given)
  })
).pipe(
  Command.withDescription(
    "Send a signed event of Stripe's to the service, for development: STRIPE_WEBHOOK_SECRET signs it, test mode only"
  ),
  Command.withExamples([
    { command: "rungate dev stripe trigger checkout.session.completed", description: "Open a checkout, and pay it" },
    { command: "rungate dev stripe trigger charge.dispute.closed --outcome lost", description: "Pay, dispute, lose" },
    {
      command: "rungate dev stripe trigger refund.created --session cs_test_… --amount 5.00",
      description: "Refund a part of a payment that was triggered"
    }
  ])
)

const stripe = Command.make("stripe").pipe(
  Command.withDescription("Rehearse payments"),
  Command.withSubcommands([trigger])
)

export const dev = Command.make("dev").pipe(
  Command.withDescription("Help with developing against a service of one's own"),
  Command.withSubcommands([stripe])
)
