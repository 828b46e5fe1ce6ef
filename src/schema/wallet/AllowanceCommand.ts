/**
 * Commands to a wallet that open and end allowances, as the mailbox stores them.
 *
 * They are stored as cancellations of no run. A process of an earlier release, which knows no allowances, applies one without any effect
 * and answers `Stale`, so its sender learns that the command must be sent again. Under a name of its own, it would stop that process's turn.
 */
import { Option, Schema } from "effect"

const Payload = Schema.Struct({
  allowance: Schema.Struct({
    act: Schema.Literals(["open", "end"]),
    budget_id: Schema.String,
    /** The budget in which the amount is held. Null without one. */
    held_in: Schema.NullOr(Schema.String)
  })
})
export type AllowanceCommand = (typeof Payload.Type)["allowance"]

interface Stored {
  readonly tag: string
  readonly run_id: string | null
  readonly payload: unknown
}

const decode = Schema.decodeUnknownOption(Payload)
const encode = Schema.encodeSync(Schema.fromJsonString(Payload))

/** What the command says of an allowance. Null if it is about something else. */
export const allowanceCommand = ({ tag, run_id, payload }: Stored): AllowanceCommand | null =>
  tag === "Cancel" && run_id === null
    ? Option.getOrNull(Option.map(decode(payload), ({ allowance }) => allowance))
    : null

/** The budgets that a turn must read for a command. */
export const allowanceBudgets = (stored: Stored): ReadonlyArray<string> => {
  const command = allowanceCommand(stored)
  if (command === null) return []
  return command.held_in === null ? [command.budget_id] : [command.budget_id, command.held_in]
}

export const allowanceMail = (org_id: string, allowance: AllowanceCommand) => ({
  org_id,
  run_id: null,
  tag: "Cancel" as const,
  payload: encode({ allowance })
})
