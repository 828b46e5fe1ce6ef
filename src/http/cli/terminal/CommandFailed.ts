/** The error with which a command fails. */
import { Schema } from "effect"

/** `exit_code` is one of terminal/exits.ts. An empty message means that the command already printed the reason. */
export class CommandFailed extends Schema.TaggedError<CommandFailed>()("CommandFailed", {
  message: Schema.String,
  exit_code: Schema.Int
}) {}
