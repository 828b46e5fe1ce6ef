/** `rungate wallet auto-topup`: charges a saved card when the balance drops. Changing it needs a session. */
import { Effect, Schema } from "effect"
import { Command } from "effect/cli"
import * as Money from "../../../schema/money/Money.ts"
import { type Answer, Client } from "../answers/Client.ts"
import { Credentials } from "../state/Credentials.ts"
import { usd } from "../terminal/flags.ts"
import { Screen } from "../terminal/Screen.ts"
import { decoded, failureOf, json, show } from "../answers/show.ts"

const path = "/v1/wallet/auto-topup"
const Rule = Schema.Struct({ threshold: Schema.String, amount: Schema.String })

const shown = (answer: Answer, flags: { readonly json: boolean }) =>
  show(answer, flags, (text) =>
    Effect.gen(function* () {
      const screen = yield* Screen
      const { autoTopupLines } = yield* Effect.promise(() => import("./WalletView.ts"))
      return autoTopupLines(text, screen)
    })
  )

const set = Command.make(
  "set",
  {
    threshold: usd("threshold", "charge when the balance drops below this amount in USD"),
    amount: usd("amount", "amount to charge each time, in USD"),
    json
  },
  Effect.fnUntraced(function* ({ threshold, amount, json }) {
    const { send } = yield* Client
    const token = yield* (yield* Credentials).session
    const body = { enabled: true, threshold: Money.usd(threshold), amount: Money.usd(amount) }
    yield* shown(yield* send("POST", path, { token, body }), { json })
  })
).pipe(Command.withDescription("Turn automatic top-up on, with threshold and amount"))

const off = Command.make(
  "off",
  { json },
  Effect.fnUntraced(function* (flags) {
    const { send } = yield* Client
    const token = yield* (yield* Credentials).session
    const now = yield* send("GET", path, { token })
    const failure = yield* failureOf(now)
    if (failure !== null) return yield* failure
    const rule = decoded(Rule, now.text)
    // Threshold and amount stay, so that turning it on again is easy.
    const { threshold, amount } = rule ?? { threshold: "0.00", amount: "0.00" }
    yield* shown(yield* send("POST", path, { token, body: { enabled: false, threshold, amount } }), flags)
  })
).pipe(Command.withDescription("Turn automatic top-up off"))

export const autoTopup = Command.make(
  "auto-topup",
  { json },
  Effect.fnUntraced(function* (flags) {
    const { send } = yield* Client
    yield* shown(yield* send("GET", path), flags)
  })
).pipe(Command.withDescription("Show, set or turn off automatic top-up"), Command.withSubcommands([set, off]))
