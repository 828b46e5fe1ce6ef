/** `rungate provider-accounts`: the organization's own accounts at providers. Changes need a session. A key is never an argument. */
import { Effect, Redacted } from "effect"
import { Command } from "effect/cli"
import { ProviderAccount } from "../../../schema/nouns/ProviderAccount.ts"
import { ProviderAccountsApi } from "../../api/accounts/ProviderAccounts.ts"
import { drawn, listed, said } from "../answers/draw.ts"
import { row, rowWith } from "../answers/row.ts"
import { text } from "../terminal/flags.ts"
import { fromFile, fromStdin } from "../terminal/secret.ts"

const { endpoints } = ProviderAccountsApi
const provider = "such as hunter"

const list = row(endpoints.list, {
  show: listed(
    ProviderAccount,
    "You have no accounts at providers here. Set one with: rungate provider-accounts set hunter",
    { last_four: ({ last_four }) => `…${last_four}` }
  )
})

const set = rowWith(
  endpoints.set,
  {
    keyFile: text(
      "key-file",
      "read the key from the first line of this file; default: stdin, or a prompt on a terminal"
    )
  },
  Effect.fnUntraced(function* ({ keyFile }, { fields }) {
    const what = `API key of ${String(fields["provider"])}`
    const key = yield* keyFile === null ? fromStdin(what) : fromFile(keyFile, what)
    return { api_key: Redacted.value(key).trim() }
  }),
  {
    fields: { provider, api_key: false },
    examples: {
      "rungate provider-accounts set hunter": "Asks for the key, without showing it",
      "rungate provider-accounts set hunter --fallback < key.txt":
        "If the key is refused, this service's account is called"
    },
    show: drawn(ProviderAccount, ({ provider, last_four, fallback, fee }) => [
      `Runs of your organization now call ${provider} through your account (key …${last_four}), for $${fee} each.`,
      fallback
        ? `If ${provider} refuses the key, this service's account is called, at its own price.`
        : `If ${provider} refuses the key, this service's account is not called. To allow that, set it again with --fallback.`
    ])
  }
)

const remove = row(endpoints.remove, {
  fields: { provider },
  confirm: "Remove your account at {provider}? Runs will use this service's account, at its price.",
  show: said("Removed your account at {provider}. Its key is deleted.")
})

export const providerAccounts = Command.make("provider-accounts").pipe(
  Command.withDescription("List, set and remove your own accounts at providers"),
  Command.withSubcommands([list, set, remove])
)
