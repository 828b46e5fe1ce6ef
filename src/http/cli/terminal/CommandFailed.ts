/** How a command ends without success. */
import { Schema } from "effect"

/** `exit_code` is what the shell sees (http/cli/terminal/exits.ts lists them); an empty message was said already. */
export class CommandFailed extends Schema.TaggedError<CommandFailed>()("CommandFailed", {
  message: Schema.String,
  exit_code: Schema.Int
}) {}
