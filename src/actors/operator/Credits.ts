/**
 * Credits and refunds by an operator. They are commands to the wallet's actor, and a reference is booked once, however often it is sent.
 *
 * A worker applies them. Without a running one they wait, stored, for the next.
 */
import { Effect } from "effect"
import { Books } from "../../layers/ledger/Books.ts"
import type { Actor } from "../../schema/accounts/Actor.ts"
import { dollars, type MicroUsd } from "../../schema/money/Money.ts"
import type { CreditType } from "../../schema/wallet/Wallet.ts"
import { CommandClient } from "../mailbox/CommandClient.ts"
import { encodeCredit } from "../mailbox/Commands.ts"

/** The largest single credit, against typing errors. */
export const creditMax = dollars("1000000.00")

interface NewCredit {
  readonly type: CreditType
  readonly org_id: string
  readonly amount: MicroUsd
  /** The organization sees it in its ledger. */
  readonly note: string
  readonly reference: string
}

/**
 * Books a credit, unless its reference is booked. `entry` is what is booked under it then, perhaps with another amount, and null if the command
 * is stored and no worker has applied it yet.
 */
export const makeBookCredit = Effect.gen(function* () {
  const books = yield* Books
  const commands = yield* CommandClient

  return Effect.fn("Credits.book")(function* ({ type, org_id, amount, note, reference }: NewCredit, actor: Actor) {
    // Replies are stored by command_id alone, so it contains type and organization. No checkout reference has this form.
    const command_id = `${type}:${org_id}:${reference}`
    const before = yield* books.credit(org_id, command_id)
    if (before !== null) return { already: true, entry: before }
    const payload = encodeCredit({ type, amount, note, reference: command_id, actor })
    // The ledger decides about success, so the reply is ignored.
    yield* Effect.ignore(commands.ask({ org_id, run_id: null, tag: "Credit", payload, command_id }))
    return { already: false, entry: yield* books.credit(org_id, command_id) }
  })
})
