/** Why an organization can't move to another cell, in words for the operator. */
import { Schema } from "effect"

export class MoveRefused extends Schema.TaggedError<MoveRefused>()("MoveRefused", { message: Schema.String }) {}
