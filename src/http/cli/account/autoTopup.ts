/** `rungate wallet auto-topup`: charges a saved card when the balance drops. Changing it needs a session. */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { AutoTopup } from "../../../schema/nouns/Wallet.ts"
import { TopUpsApi } from "../../api/TopUps.ts"
import { detailed } from "../answers/draw.ts"
import { ask } from "../answers/operation.ts"
import { row, rowWith } from "../answers/row.ts"

const { autoTopup: get, setAutoTopup } = TopUpsApi.endpoints

const show = detailed(AutoTopup, { enabled: ({ enabled }) => (enabled ? "on" : "off") })

const set = rowWith(setAutoTopup, {}, () => Effect.succeed({ enabled: true }), {
  about: "Turn automatic top-up on, with threshold and amount",
  fields: {
    enabled: false,
    threshold: "charge when the balance drops below this amount in USD",
    amount: "amount to charge each time, in USD"
  },
  show
})

/** Threshold and amount stay, so that turning it on again is easy. */
const off = rowWith(
  setAutoTopup,
  {},
  Effect.fnUntraced(function* () {
    const { threshold, amount } = yield* ask(get, {}, AutoTopup)
    return { enabled: false, threshold, amount }
  }),
  {
    name: "off",
    about: "Turn automatic top-up off",
    fields: { enabled: false, threshold: false, amount: false },
    show
  }
)

export const autoTopup = row(get, { about: "Show, set or turn off automatic top-up", show }).pipe(
  Command.withSubcommands([set, off])
)
