/**
 * Sentences of an answer that name a request, with the command that does the same.
 *
 * Sentences name requests, because programs send them. The same answer says as data what people type instead, so that the `rungate`
 * command can show its own commands without parsing English: in `details` of an error, and in `commands` beside hints.
 */
import { Schema } from "effect"

/** `http` stands in a sentence of the same answer, word for word. `cli` is a command line that does the same. */
export const CommandHint = Schema.Struct({
  http: Schema.String.annotate({ description: "a request, as the message or a hint names it" }),
  cli: Schema.String.annotate({ description: "the command line that does the same" })
}).annotate({ identifier: "CommandHint" })
export type CommandHint = typeof CommandHint.Type

export interface Sentence {
  readonly message: string
  readonly commands: ReadonlyArray<CommandHint>
}

export const sentenceOf = (given: string | Sentence): Sentence =>
  typeof given === "string" ? { message: given, commands: [] } : given

type Part = string | number | CommandHint | Sentence

const partOf = (part: Part): Sentence =>
  typeof part === "object" && "http" in part
    ? { message: part.http, commands: [part] }
    : sentenceOf(typeof part === "number" ? String(part) : part)

/** A template whose parts may be commands, or sentences: withCommands`Top up with ${topUp}.` */
export const withCommands = (texts: TemplateStringsArray, ...given: ReadonlyArray<Part>): Sentence => {
  const parts = given.map(partOf)
  return {
    message: texts.map((text, index) => text + (parts[index]?.message ?? "")).join(""),
    commands: parts.flatMap(({ commands }) => commands)
  }
}

/** Members of an answer that has hints. `commands` is left out when they name no request. */
export const hintFields = {
  hints: Schema.Array(Schema.String),
  commands: Schema.optionalKey(Schema.Array(CommandHint))
}

export interface Hinted {
  readonly hints: ReadonlyArray<string>
  readonly commands?: ReadonlyArray<CommandHint>
}

/** The sentences as members of an answer. */
export const hinted = (given: ReadonlyArray<string | Sentence>): Hinted => {
  const sentences = given.map(sentenceOf)
  const commands = sentences.flatMap((one) => one.commands)
  return { hints: sentences.map(({ message }) => message), ...(commands.length === 0 ? {} : { commands }) }
}
