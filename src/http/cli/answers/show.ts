/**
 * Prints a response: the body on stdout, and for an error one message on stderr and an exit code.
 *
 * Programs (and `--json`) get the body byte for byte, including errors. A terminal gets a table.
 */
import { Effect, Option, Schema } from "effect"
import { publicErrorIn } from "../../api/shapes/PublicError.ts"
import { elementTexts, memberText } from "../../../schema/json/JsonText.ts"
import { Credentials } from "../state/Credentials.ts"
import { failedWith } from "../terminal/exits.ts"
import { failureFor } from "./problems.ts"
import { Screen, type ScreenShape } from "../terminal/Screen.ts"
import { boolean } from "../terminal/flags.ts"
import { harmlessLines, harmlessPainted } from "../terminal/text.ts"

/** A response of the API. */
export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** The body exactly as it came. */
  readonly text: string
  readonly request: { readonly method: string; readonly path: string }
}

/** Output formats. The default is a table on a terminal and JSON elsewhere. */
export type Format = "table" | "json" | "jsonl"

export const json = boolean("json", "print the response of the API unchanged")
export const jsonl = boolean("jsonl", "print one JSON item per line")

export const formatOf = (screen: ScreenShape, flags: { readonly json: boolean; readonly jsonl?: boolean }): Format =>
  flags.jsonl === true ? "jsonl" : flags.json || screen.quiet || !screen.person ? "json" : "table"

/** The error of a response; null for a status below 400. */
export const failureOf = Effect.fnUntraced(function* ({ status, text, request }: Answer) {
  if (status < 400) return null
  const credentials = yield* Credentials
  const refusal = publicErrorIn(text)
  if (refusal !== null) return failureFor(credentials, refusal)
  return failedWith(
    `${credentials.url} answered ${request.method} ${request.path} with HTTP ${status}, but not with an error of Rungate. Check RUNGATE_URL.`
  )
})

/** Fails with the error of a response. */
export const succeeded = Effect.fnUntraced(function* (answer: Answer) {
  const failure = yield* failureOf(answer)
  return failure === null ? answer : yield* failure
})

/** The text with a newline at its end. */
export const printed = (text: string): string => (text === "" || text.endsWith("\n") ? text : `${text}\n`)

const newer = "This version of rungate can't format the response. It is printed as it came."

/** Decodes a body by the contract; null when it does not match, for example from a newer service. */
export const decoded = <A>(schema: Schema.Codec<A, unknown>, text: string): A | null =>
  Option.getOrNull(Schema.decodeUnknownOption(Schema.fromJsonString(schema))(text))

/** Reads a body by its schema, as it stands on the wire: amounts and times are texts. */
export const wire = <A, I>(schema: Schema.Codec<A, I>, text: string): I | null =>
  decoded(Schema.toEncoded(schema), text)

/** The body of an answer. Fails with the service's error, or if a newer service wrote it otherwise. */
export const read = Effect.fnUntraced(function* <A, I>(schema: Schema.Codec<A, I>, answer: Answer) {
  const { text } = yield* succeeded(answer)
  const { url } = yield* Credentials
  return (
    wire(schema, text) ??
    (yield* failedWith(`This version of rungate can't read the answer of ${url}. Install the service's version.`))
  )
})

export type Lines = ReadonlyArray<string>

/** Prints formatted lines, or the text without control characters when `drawn` is null. */
export const lines = Effect.fnUntraced(function* (drawn: Lines | null, text: string) {
  const screen = yield* Screen
  if (drawn === null) {
    yield* screen.warn(newer)
    return yield* screen.out(printed(harmlessLines(text)))
  }
  yield* screen.out(drawn.map((line) => `${harmlessPainted(line)}\n`).join(""))
})

/** The JSON texts of a page's items, and the cursor of the next page. */
export const pageOf = (text: string): { readonly items: ReadonlyArray<string>; readonly next: string | null } => {
  const next: unknown = JSON.parse(memberText(text, "next_cursor") ?? "null")
  return { items: elementTexts(memberText(text, "items") ?? "[]"), next: typeof next === "string" ? next : null }
}

const itemLines = (text: string) =>
  pageOf(text)
    .items.map((item) => `${item.replace(/\n/g, " ")}\n`)
    .join("")

/** Prints an answer. `draw` returns the lines for a terminal, or null when it can't read the body. */
export const show = Effect.fnUntraced(function* (
  answer: Answer,
  flags: Parameters<typeof formatOf>[1],
  draw: (text: string) => Lines | null
) {
  const screen = yield* Screen
  const failure = yield* failureOf(answer)
  const format = formatOf(screen, flags)
  if (format === "jsonl" && failure === null) return yield* screen.out(itemLines(answer.text))
  if (format !== "table") yield* screen.out(printed(answer.text))
  if (failure !== null) return yield* failure
  if (format === "table") yield* lines(draw(answer.text), answer.text)
})
