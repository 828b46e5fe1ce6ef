/**
 * `rungate dev stripe trigger <event>`: sends a simulated Stripe webhook to a service in test mode.
 *
 * Like `stripe trigger`, it creates what an event needs: a checkout, and a payment for a refund or dispute.
 */
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { didYouMean } from "../../../schema/suggestion.ts"
import { bad } from "../terminal/exits.ts"
import { Screen } from "../terminal/Screen.ts"
import { formatOf, lines } from "../answers/show.ts"
import { eventTypes, isEventType, type Needs, triggerOf } from "./events.ts"
import { facts } from "../terminal/table.ts"
import { rehearse, triggerFlags } from "./trigger.ts"
import { boolean, optionalArgument, withExamples } from "../terminal/flags.ts"

/** The flag that an event requires; null when everything is created. */
const needed: Readonly<Record<Needs, string | null>> = {
  checkout: null,
  paid: null,
  payment: "--payment",
  intent: "--payment-intent"
}

const list = (asJson: boolean) =>
  Effect.gen(function* () {
    const screen = yield* Screen
    const items = eventTypes.map((event) => {
      const { does, needs } = triggerOf(event)
      return { event, does, needs: needed[needs] }
    })
    if (asJson) return yield* screen.out(`${JSON.stringify({ items })}\n`)
    const rows = items.map(({ event, does, needs }) => [event, needs === null ? does : `${does} (${needs})`] as const)
    yield* lines(
      facts(rows, screen.width, (name) => screen.paint("bold", name)),
      ""
    )
  })

const trigger = Command.make(
  "trigger",
  {
    event: optionalArgument(Argument.String("event"), "such as checkout.session.completed; --list shows all"),
    ...triggerFlags,
    list: boolean("list", "list the events and their effects")
  },
  Effect.fnUntraced(function* ({ event, list: listed, ...given }) {
    const screen = yield* Screen
    if (listed) return yield* list(formatOf(screen, given) === "json")
    if (event === null)
      return yield* bad("The event is missing. List the events with: rungate dev stripe trigger --list")
    if (!isEventType(event))
      return yield* bad(
        `Unknown event ${event}.${didYouMean(event, eventTypes)} List the events with: rungate dev stripe trigger --list`
      )
    yield* rehearse(event, given)
  })
).pipe(
  Command.withDescription("Send a simulated Stripe webhook, signed with STRIPE_WEBHOOK_SECRET (test mode only)"),
  withExamples({
    "rungate dev stripe trigger checkout.session.completed": "Open a checkout and pay it",
    "rungate dev stripe trigger charge.dispute.closed --outcome lost": "Pay, dispute, lose",
    "rungate dev stripe trigger refund.created --session cs_test_… --amount 5.00":
      "Refund a part of a triggered payment"
  })
)

const stripe = Command.make("stripe").pipe(
  Command.withDescription("Simulate Stripe webhooks"),
  Command.withSubcommands([trigger])
)

export const dev = Command.make("dev").pipe(
  Command.withDescription("Tools for development against your own service"),
  Command.withSubcommands([stripe])
)
