/** `rungate senders`: the domains that runs may send e-mail from. Changing them needs a session. */
import { Command } from "effect/cli"
import { Sender } from "../../../schema/nouns/Sender.ts"
import { SendersApi } from "../../api/accounts/Senders.ts"
import { drawn, listed, nounFacts, said } from "../answers/draw.ts"
import { row } from "../answers/row.ts"
import { argument } from "../terminal/flags.ts"

const { endpoints } = SendersApi

/** One sender, with the next step when it is not verified. */
const sender = drawn(Sender, (one, shown) =>
  one.status === "verified"
    ? [`${one.domain} is verified: runs can send from its addresses.`]
    : [
        `${one.domain} is added. Create this DNS record:`,
        "",
        // It is copied, so it is never truncated.
        ...nounFacts(Sender, one, shown).map(([name, value]) => `  ${name.padEnd(6)} ${value}`),
        "",
        `Then run: rungate senders verify ${one.id}`
      ]
)

const list = row(endpoints.list, {
  show: listed(Sender, "There are no senders. Add a domain with: rungate senders add example.com")
})

const add = row(endpoints.add, {
  fields: { domain: argument("domain", "such as example.com") },
  show: sender,
  examples: { "rungate senders add example.com": "Then create the DNS record and run senders verify" }
})

const verify = row(endpoints.verify, {
  about: "Check the DNS record and verify the domain",
  show: sender
})

const remove = row(endpoints.remove, {
  confirm: "Remove {sender_id}? Runs that send from its addresses will be refused.",
  show: said("Removed {sender_id}.")
})

export const senders = Command.make("senders").pipe(
  Command.withDescription("List, add, verify and remove domains to send e-mail from"),
  Command.withSubcommands([list, add, verify, remove])
)
