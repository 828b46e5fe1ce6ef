/**
 * What a tool of the Model Context Protocol is: a name, words for a model, what it takes, what it answers, and how careful a host
 * should be with it. Neither how it is carried out nor over which transport.
 *
 * The schema that is published is generated from the one that arguments are read by, so what a host sees is what is enforced.
 */
import { Effect, type JsonSchema, Option, Result, Schema, SchemaIssue } from "effect"
import { Detail } from "../../schema/Errors.ts"

/** Hints for hosts: whom to ask before a call. */
export interface Annotations {
  /** It changes nothing and spends nothing. */
  readonly readOnlyHint: boolean
  /** What it does may not be taken back. */
  readonly destructiveHint: boolean
  /** The same call again does nothing more. */
  readonly idempotentHint: boolean
  /** It reaches beyond this service. */
  readonly openWorldHint: boolean
}

/** What every tool answers where it can't do what was asked: the error of the API, with hints for a model. */
export const Refusal = Schema.Struct({
  error: Schema.Struct({
    code: Schema.String.annotate({ description: "stable, snake_case" }),
    message: Schema.String,
    details: Schema.optionalKey(Schema.Array(Detail)),
    hints: Schema.Array(Schema.String).annotate({ description: "what to do next" })
  }),
  request_id: Schema.optionalKey(Schema.String),
  idempotency_key: Schema.optionalKey(
    Schema.String.annotate({ description: "of a run that was sent and whose end nobody knows: run it again with this" })
  )
}).annotate({ identifier: "Refusal" })
export type Refusal = typeof Refusal.Type

export interface Answered {
  /** A JSON object. Text, because numbers in it may be longer than a number of this process. */
  readonly text: string
  readonly failed: boolean
}

export const refused = (refusal: Refusal): Answered => ({ text: JSON.stringify(refusal), failed: true })

/** A tool with somebody behind it. */
export interface Tool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly annotations: Annotations
  readonly inputSchema: JsonSchema.JsonSchema
  readonly outputSchema: JsonSchema.JsonSchema
  /** Any arguments; those that do not fit are answered with a refusal. */
  readonly call: (given: unknown) => Effect.Effect<Answered>
}

/** A reader of schemas follows a flat one better; output schemas share what they have in common. */
const inline = { referencePolicy: () => undefined }

const inputSchemaOf = (schema: Schema.Constraint): JsonSchema.JsonSchema =>
  Schema.toJsonSchemaDocument(schema, { ...inline, onExcessProperty: "error" }).schema

const outputSchemaOf = (answers: ReadonlyArray<Schema.Constraint>): JsonSchema.JsonSchema => {
  const { schema, definitions } = Schema.toJsonSchemaDocument(Schema.Union([...answers, Refusal]))
  // A tool's output must be an object at its root.
  return { type: "object", ...schema, $defs: definitions }
}

const format = SchemaIssue.makeFormatterStandardSchemaV1()
const detailsOf = (error: Schema.SchemaError): ReadonlyArray<Detail> =>
  format(error.issue).issues.map((issue) => ({
    path: (issue.path ?? []).map((part) => String(typeof part === "object" ? part.key : part)).join("."),
    message: issue.message === "Expected no excess property" ? "there is no such parameter" : issue.message
  }))

const Described = Schema.Struct({
  properties: Schema.Record(Schema.String, Schema.Struct({ description: Schema.String }))
})
const decodeDescribed = Schema.decodeUnknownOption(Described)

/** What is wrong, and what the parameter is that it is wrong with. */
const malformed = (name: string, inputSchema: JsonSchema.JsonSchema, details: ReadonlyArray<Detail>): Answered => {
  const first = details[0]
  const message =
    first === undefined ? "The arguments don't fit." : `${first.path === "" ? name : first.path}: ${first.message}`
  const parameters = Option.match(decodeDescribed(inputSchema), { onNone: () => ({}), onSome: (one) => one.properties })
  const wrong = new Set(details.map(({ path }) => path.split(".")[0] ?? ""))
  const about = Object.entries(parameters).filter(([parameter]) => wrong.has(parameter))
  const hints = [
    `Nothing was done. Correct the arguments and call ${name} again; it takes ${Object.keys(parameters).join(", ")}.`,
    ...about.map(([parameter, { description }]) => `${parameter}: ${description}`)
  ]
  return refused({ error: { code: "invalid_request", message, details, hints } })
}

/** Models write null where they mean to leave something out. */
const withoutNulls = (given: unknown): unknown =>
  typeof given === "object" && given !== null && !Array.isArray(given)
    ? Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null))
    : (given ?? {})

/** No provider's body is nested so deep, and what reads values level by level must come to an end. */
const levelsMax = 1_000

/** What arguments may not hold whatever the schema says; null when there is nothing of that kind. */
const unfitIn = (value: unknown, path: string, level: number): Detail | null => {
  if (typeof value === "number") {
    // It lost digits on its way here.
    return Number.isInteger(value) && !Number.isSafeInteger(value)
      ? { path, message: "is a whole number of more digits than arrive; write it as a string" }
      : null
  }
  if (typeof value !== "object" || value === null) return null
  if (level > levelsMax) return { path: path.split(".")[0] ?? "", message: `has more than ${levelsMax} levels` }
  for (const [name, member] of Object.entries(value)) {
    const found = unfitIn(member, path === "" ? name : `${path}.${name}`, level + 1)
    if (found !== null) return found
  }
  return null
}

/** A tool without anybody behind it; `carriedOut` puts somebody there. */
export const tool = <Arguments>(words: {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly parameters: Schema.Codec<Arguments, unknown>
  /** What it answers, one or the other. */
  readonly answers: ReadonlyArray<Schema.Constraint>
  readonly annotations: Annotations
}) => {
  const { parameters, answers, ...shown } = words
  const decode = Schema.decodeUnknownResult(parameters, { onExcessProperty: "error", errors: "all" })
  const published = { ...shown, inputSchema: inputSchemaOf(parameters), outputSchema: outputSchemaOf(answers) }
  return {
    carriedOut: (carryOut: (given: Arguments) => Effect.Effect<Answered>): Tool => ({
      ...published,
      call: (given) => {
        const unfit = unfitIn(given, "", 0)
        if (unfit !== null) return Effect.succeed(malformed(shown.name, published.inputSchema, [unfit]))
        const decoded = decode(withoutNulls(given))
        return Result.isFailure(decoded)
          ? Effect.succeed(malformed(shown.name, published.inputSchema, detailsOf(decoded.failure)))
          : carryOut(decoded.success)
      }
    })
  }
}

const decodeText = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))
/** The JSON of an answer as a value. */
export const valueOf = ({ text }: Answered): unknown => Option.getOrUndefined(decodeText(text))
