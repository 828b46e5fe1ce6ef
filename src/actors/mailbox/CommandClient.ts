/**
 * Sends a command to a wallet: stores it in the mailbox table, wakes the worker of its lane, and waits for the reply. A lane is a
 * partition of the mailbox, and its worker applies commands in batches called turns.
 *
 * The command is stored before the wait begins. It is applied even if the caller gives up or its process dies.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { newId } from "../../layers/platform/Ids.ts"
import { MailStore, type NewMail } from "../../layers/ledger/MailStore.ts"
import { decodeReply, type Reply } from "./Commands.ts"
import { Lanes } from "./Lanes.ts"
import { Waiters } from "./Waiters.ts"

/** The command is stored and will be applied, but the reply did not arrive in time. */
export class NoReplyYet extends Schema.TaggedError<NoReplyYet>()("NoReplyYet", { command_id: Schema.String }) {}

const replyMillisMax = 10_000

export class CommandClient extends Context.Service<
  CommandClient,
  {
    readonly ask: (
      command: Pick<NewMail, "org_id" | "run_id" | "tag" | "payload"> & { readonly command_id?: string }
    ) => Effect.Effect<Reply, NoReplyYet>
  }
>()("rungate/actors/mailbox/CommandClient") {
  static readonly layer = Layer.effect(
    CommandClient,
    Effect.gen(function* () {
      const mail = yield* MailStore
      const lanes = yield* Lanes
      const waiters = yield* Waiters
      const ask = Effect.fn("CommandClient.ask")(function* (
        command: Pick<NewMail, "org_id" | "run_id" | "tag" | "payload"> & { readonly command_id?: string }
      ) {
        const command_id = command.command_id ?? newId("cmd")
        // Uninterruptible: a client that hangs up here must not leave a stored command without a wake-up.
        const store = Effect.uninterruptible(
          Effect.flatMap(mail.enqueue({ ...command, command_id, result: null }), lanes.wake)
        )
        yield* waiters.waitFor(command_id, replyMillisMax, store, () => false)
        const reply = yield* mail.reply(command_id)
        if (reply === null) return yield* new NoReplyYet({ command_id })
        return decodeReply(reply)
      })
      return CommandClient.of({ ask })
    })
  )
}
