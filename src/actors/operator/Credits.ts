/**
 * Credits and refunds by an operator. They are commands to the wallet's actor, and a reference is booked once, however often it is sent.
 *
 * A worker applies them. Without a running one they wait, stored, for the next.
 */
import { Effect } from "effect"
import { Books } from "../../layers/ledger/Books.ts"
import type { EntryRow } from "../../layers/ledger/EntryList.ts"
import type { Actor } from "../../schema/accounts/Actor.ts"
import { dollars, type MicroUsd } from "../../schema/money/Money.ts"
import type { CreditType } from "../../schema/wallet/Wallet.ts"
import { CommandClient } from "../mailbox/CommandClient.ts"
import { encodeCredit } from "../mailbox/Commands.ts"

/** The largest single credit, against typing errors. */
export const creditMax = dollars("1000000.00")

export interface NewCredit {
  readonly type: CreditType
  readonly org_id: string
  readonly amount: MicroUsd
  /** The organization sees it in its ledger. */
  readonly note: string
  readonly reference: string
}

export type Booked =
  | { readonly _tag: "Booked"; readonly entry: EntryRow }
  /** The reference was booked with another amount, so nothing was changed. */
  | { readonly _tag: "OtherAmount"; readonly entry: EntryRow }
  /** The command is stored, and no worker has applied it yet. */
  | { readonly _tag: "Stored" }

/** Replies are stored by command_id alone, so it contains type and organization. No checkout reference has this form. */
const commandId = ({ type, org_id, reference }: NewCredit) => `${type}:${org_id}:${reference}`

/** Books a credit, unless its reference is booked, and says what is booked under it then. */
export const makeCredits = Effect.gen(function* () {
  const books = yield* Books
  const commands = yield* CommandClient

  const booked = Effect.fnUntraced(function* (credit: NewCredit) {
    const entry = yield* books.credit(credit.org_id, commandId(credit))
    if (entry === null) return { _tag: "Stored" } satisfies Booked
    const isSame = entry.amount === credit.amount
    return { _tag: isSame ? "Booked" : "OtherAmount", entry } satisfies Booked
  })

  /** The ledger decides about success, so the reply is ignored. */
  const book = Effect.fn("Credits.book")(function* (credit: NewCredit, actor: Actor) {
    const before = yield* booked(credit)
    if (before._tag !== "Stored") return { already: true, booked: before }
    const command_id = commandId(credit)
    const { type, org_id, amount, note } = credit
    const payload = encodeCredit({ type, amount, note, reference: command_id, actor })
    yield* Effect.ignore(commands.ask({ org_id, run_id: null, tag: "Credit", payload, command_id }))
    return { already: false, booked: yield* booked(credit) }
  })

  return { book }
})
