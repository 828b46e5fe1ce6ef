/**
 * `rungate allowances`: keys with an amount of the wallet's money. Create, list, show and revoke them.
 *
 * A key that may give allowances needs no session for it. With another saved key, the session of its profile is used. The new key is printed
 * once, to stdout.
 */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { Allowance } from "../../../schema/nouns/Allowance.ts"
import { AllowancesApi } from "../../api/accounts/Allowances.ts"
import { scopeWords } from "../../client/Words.ts"
import { detailed, listed, newKey, said } from "../answers/draw.ts"
import { row, rowWith } from "../answers/row.ts"
import { wire } from "../answers/show.ts"
import { argument, momentOf, required } from "../terminal/flags.ts"
import { scopeFlags, scopeOf } from "./scope.ts"

const { endpoints } = AllowancesApi
const cells = { allow: (one: typeof Allowance.Encoded) => scopeWords(one) }

const list = row(endpoints.list, {
  show: listed(
    Allowance,
    "There are no allowances. Give one with: rungate allowances create researcher --amount 2.00 --expires 2h",
    cells
  )
})

const show = row(endpoints.get, { show: detailed(Allowance, cells) })

const create = rowWith(
  endpoints.create,
  {
    expires: required("expires", "when it ends: a duration such as 2h or 7d, or a time such as 2026-12-31T00:00:00Z"),
    scope: scopeFlags
  },
  ({ expires, scope }, { now }) => Effect.succeed({ expires_at: momentOf(expires, now, 1), ...scopeOf(scope) }),
  {
    about:
      "Give a key with an amount of money, which is held at once. What its scope leaves out is taken from your key. The new key is shown once",
    fields: {
      name: argument("name", "a name that tells who gets it"),
      amount: "what it may spend in USD; held at once",
      expires_at: false,
      allow: false
    },
    examples: {
      "rungate allowances create researcher --amount 2.00 --expires 2h --allow-capability email.find":
        "For an agent that may spend $2 on one capability in the next two hours",
      "rungate allowances create planner --amount 20 --expires 7d --allow-mint":
        "For an agent that gives allowances to others"
    },
    once: true,
    show: newKey("${amount} is held for it until {expires_at}. The key is shown only this once.")
  }
)

/** What became of the money. */
const revokedSentence = (text: string): string | null => {
  const one = wire(Allowance, text)
  if (one === null) return null
  const rest =
    one.held === "0.00"
      ? "The rest is available again."
      : `Open runs still hold $${one.held}, and what they don't cost returns when they end.`
  return `Revoked ${one.id}. It spent $${one.spent} of $${one.amount}. ${rest}`
}

const revoke = row(endpoints.revoke, {
  about:
    "Revoke an allowance and those under it. What is unused returns at once, and what open runs hold when they end",
  confirm:
    "Revoke {allowance_id} and the allowances under it? Their keys stop working, and what is unused returns. This can't be undone.",
  show: said((text, { fields }) => revokedSentence(text) ?? `Revoked ${String(fields["allowance_id"])}.`)
})

export const allowances = Command.make("allowances").pipe(
  Command.withDescription("Give, list, show and revoke allowances: keys with an amount of the wallet's money"),
  Command.withSubcommands([list, show, create, revoke])
)
