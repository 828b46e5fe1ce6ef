/** Sending domains: people add and remove them, and a DNS record that the service looks up verifies them. */
import { Effect, Schema } from "effect"
import { makeTextRecords } from "../../../layers/accounts/Dns.ts"
import { type SenderRow, Senders, sendersMax } from "../../../layers/accounts/Senders.ts"
import { Settings } from "../../../layers/platform/Settings.ts"
import { refused, refusedWith } from "../../../schema/Errors.ts"
import { Sender } from "../../../schema/nouns/Sender.ts"
import { sendingDomain } from "../../../schema/accounts/Sender.ts"
import { group } from "../group.ts"
import { listOf, organizationNoun } from "../OrganizationNoun.ts"
import { CurrentCaller } from "../../api/shapes/Common.ts"
import { makeAsCaller } from "../../middleware/Bearer.ts"
import { listSenders } from "../../../schema/Steps.ts"
import { shortened } from "../../../schema/json/StorableText.ts"

const senderJson = Schema.encodeSync(Sender)
const { unknown, one, removal } = organizationNoun("snd", "sender", "sender_id", listSenders)

const recordOf = ({ domain, token }: SenderRow) => ({
  type: "TXT" as const,
  name: `_rungate-challenge.${domain}`,
  value: `rungate-verification=${token}`
})

/** How many TXT records an error message shows, and how many characters of each. */
const shownMax = 3
const shownLengthMax = 120
const shown = (record: string) => JSON.stringify(shortened(record, shownLengthMax))

const notProven = (row: SenderRow, records: ReadonlyArray<string>) => {
  const { name, value } = recordOf(row)
  const result =
    records.length === 0
      ? "There is no TXT record"
      : `None of the ${records.length} TXT records has it: ${records.slice(0, shownMax).map(shown).join(", ")}${records.length > shownMax ? " …" : ""}`
  const message = `is not verified yet. ${result} at ${name}. Create a TXT record there with the value ${value}; a new record can take some minutes to be seen, and up to an hour where an older answer is cached`
  return refused("path.sender_id", message, `${row.domain} ${message}.`)
}

export const SendersHandlers = group(
  "senders",
  Effect.fnUntraced(function* (handlers) {
    const senders = yield* Senders
    const textRecords = yield* makeTextRecords
    const asCaller = yield* makeAsCaller
    const { mode } = yield* Settings
    const sandbox = mode === "sandbox"

    const view = (row: SenderRow) =>
      senderJson({ ...row, record: recordOf(row), ...(sandbox ? { sandbox: true as const } : {}) })

    return handlers.handleAll({
      list: listOf("snd", senders.list, view),

      add: Effect.fnUntraced(function* ({ payload }) {
        const { org_id } = yield* CurrentCaller
        const requested = sendingDomain(payload.domain)
        if (requested._tag === "Refused") return yield* refused("domain", requested.message)
        const row = yield* asCaller(senders.add(org_id, requested.domain))
        if (row !== null) return view(row)
        return yield* refused(
          "domain",
          `can't be added: an organization has at most ${sendersMax} senders; remove one first`
        )
      }),

      verify: Effect.fnUntraced(function* ({ params: { sender_id } }) {
        const { org_id } = yield* CurrentCaller
        const row = yield* one(senders.find)(sender_id)
        if (row.verified_at !== null) return view(row)
        const { name, value } = recordOf(row)
        if (!sandbox) {
          const texts = yield* textRecords(name)
          if (texts._tag === "Failed") {
            return yield* refusedWith(
              "service_unavailable",
              `The name servers did not answer for ${name} (${texts.code}); try again in a minute.`
            )
          }
          const records = texts._tag === "Found" ? texts.records : []
          if (!records.some((record) => record.trim() === value)) return yield* notProven(row, records)
        }
        const verified = yield* asCaller(senders.verified(org_id, sender_id))
        return verified === null ? yield* unknown(sender_id) : view(verified)
      }),

      remove: removal(asCaller, senders.remove)
    })
  })
)
