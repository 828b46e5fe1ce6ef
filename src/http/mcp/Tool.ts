/**
 * The definition of an MCP tool: name, description, parameters, answers and annotations, without handler or transport.
 *
 * The published JSON schemas are generated from the schemas that decode the arguments and describe the answers (Published.ts), so they agree.
 */
import { Effect, type JsonSchema, Option, Result, Schema } from "effect"
import { Detail } from "../../schema/Errors.ts"
import { fieldProblems, fieldSentence } from "../../schema/json/FieldProblems.ts"
import { isRecord, parsedOrText } from "../../schema/json/Json.ts"
import { writtenUsd } from "../../schema/money/Money.ts"
import { nearest } from "../../schema/nearest.ts"
import { inputShown, outputShown } from "./Published.ts"
import type { Service } from "./Service.ts"

/** Hints that tell a host when to ask its user before a call. */
export interface Annotations {
  /** It changes nothing and spends nothing. */
  readonly readOnlyHint: boolean
  /** Its effect may be irreversible. */
  readonly destructiveHint: boolean
  /** Repeating the call has no further effect. */
  readonly idempotentHint: boolean
  /** It reaches beyond this service. */
  readonly openWorldHint: boolean
}

/** The error answer of every tool: the error of the API, with hints for a model. */
export const Refusal = Schema.Struct({
  error: Schema.Struct({
    code: Schema.String.annotate({ description: "stable, snake_case" }),
    message: Schema.String,
    details: Schema.optionalKey(Schema.Array(Detail)),
    hints: Schema.Array(Schema.String).annotate({ description: "what to do next" })
  }),
  request_id: Schema.optionalKey(Schema.String),
  idempotency_key: Schema.optionalKey(
    Schema.String.annotate({ description: "key of a run with an unknown outcome; repeat the call with this key" })
  )
}).annotate({ identifier: "Refusal" })
export type Refusal = typeof Refusal.Type

export interface Answered {
  /** A JSON object as text, because its numbers may exceed the precision of JavaScript. */
  readonly text: string
  readonly failed: boolean
}

export const refused = (refusal: Refusal): Answered => ({ text: JSON.stringify(refusal), failed: true })

/** A tool with its handler. */
export interface Tool {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly annotations: Annotations
  readonly inputSchema: JsonSchema.JsonSchema
  readonly outputSchema: JsonSchema.JsonSchema
  /** The full schema of the answers. `outputSchema` names their members only. */
  readonly answerSchema: JsonSchema.JsonSchema
  /** Accepts any arguments; invalid ones are answered with a refusal. */
  readonly call: (given: unknown) => Effect.Effect<Answered, never, Service>
}

/** Input schemas are flat, because models read them better; schemas of answers share definitions. */
const inline = { referencePolicy: () => undefined }

const inputSchemaOf = (schema: Schema.Constraint): JsonSchema.JsonSchema =>
  Schema.toJsonSchemaDocument(schema, { ...inline, onExcessProperty: "error" }).schema

const answerSchemaOf = (answers: ReadonlyArray<Schema.Constraint>): JsonSchema.JsonSchema => {
  const { schema, definitions } = Schema.toJsonSchemaDocument(Schema.Union([...answers, Refusal]))
  // The protocol requires an object at the root.
  return { type: "object", ...schema, $defs: definitions }
}

const unknownParameter = "there is no such parameter"
const detailsOf = (error: Schema.SchemaError): ReadonlyArray<Detail> =>
  fieldProblems(error.issue).map(({ path, message, unknown }) => ({
    path: path.join("."),
    message: unknown === undefined ? message : unknownParameter
  }))

const Described = Schema.Struct({
  properties: Schema.Record(Schema.String, Schema.Struct({ description: Schema.String }))
})
const decodeDescribed = Schema.decodeUnknownOption(Described)

/** A refusal that lists the invalid parameters with their descriptions. */
const malformed = (name: string, inputSchema: JsonSchema.JsonSchema, details: ReadonlyArray<Detail>): Answered => {
  const first = details[0]
  const message =
    first === undefined
      ? "The arguments are invalid."
      : fieldSentence(first.path === "" ? name : first.path, first.message)
  const parameters = Option.match(decodeDescribed(inputSchema), { onNone: () => ({}), onSome: (one) => one.properties })
  const names = Object.keys(parameters)
  const meant = details.flatMap(({ path, message: about }) => {
    const nearestName = about === unknownParameter ? nearest(path, names) : null
    return nearestName === null ? [] : [`${path}: did you mean ${nearestName}?`]
  })
  const wrong = new Set(details.map(({ path }) => path.split(".")[0] ?? ""))
  const about = Object.entries(parameters).filter(([parameter]) => wrong.has(parameter))
  const hints = [
    `Nothing was executed. Correct the arguments and call ${name} again. Its parameters are ${names.join(", ")}.`,
    ...meant,
    ...about.map(([parameter, { description }]) => `${parameter}: ${description}`)
  ]
  return refused({ error: { code: "invalid_request", message, details, hints } })
}

const amounts = ["amount", "max_cost", "max_total"]

/** A parameter as its schema has it. Models pass amounts as numbers, and objects as JSON text. */
const plain = (name: string, value: unknown): unknown => {
  if (amounts.includes(name) && typeof value === "number") return writtenUsd(value) ?? value
  if (name !== "input" || typeof value !== "string") return value
  const parsed = parsedOrText(value)
  return typeof parsed === "object" ? parsed : value
}

/**
 * Models often pass null for omitted parameters, and for members of one. Other objects are data, such as an input, and keep theirs:
 * their schema names no members.
 */
const plainArguments = (given: unknown, schema: unknown): unknown => {
  const members = isRecord(schema) ? schema["properties"] : undefined
  if (!isRecord(given) || !isRecord(members)) return given
  return Object.fromEntries(
    Object.entries(given).flatMap(([name, value]) =>
      value === null ? [] : [[name, plainArguments(plain(name, value), members[name])]]
    )
  )
}

/** Bounds the recursion. No provider's body is nested this deep. */
const levelsMax = 1_000

/** Values that no schema allows: numbers that lost digits, and very deep nesting; null when there are none. */
const unfitIn = (value: unknown, path: string, level: number): Detail | null => {
  if (typeof value === "number") {
    // JSON parsing lost digits.
    return Number.isInteger(value) && !Number.isSafeInteger(value)
      ? { path, message: "is an integer with too many digits for JSON. Send it as a string" }
      : null
  }
  if (typeof value !== "object" || value === null) return null
  if (level > levelsMax) return { path: path.split(".")[0] ?? "", message: `has more than ${levelsMax} levels` }
  for (const [name, member] of Object.entries(value)) {
    const unfit = unfitIn(member, path === "" ? name : `${path}.${name}`, level + 1)
    if (unfit !== null) return unfit
  }
  return null
}

/** A tool without a handler; `withHandler` adds one. */
export const tool = <Arguments>(words: {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly parameters: Schema.Codec<Arguments, unknown>
  /** The alternative answers. */
  readonly answers: ReadonlyArray<Schema.Constraint>
  readonly annotations: Annotations
  /** The name of a tool whose parameters have the same meaning. */
  readonly parametersLike?: string
}) => {
  const { parameters, parametersLike, answers, ...shown } = words
  const decode = Schema.decodeUnknownResult(parameters, { onExcessProperty: "error", errors: "all" })
  const described = inputSchemaOf(parameters)
  const answerSchema = answerSchemaOf(answers)
  const published = {
    ...shown,
    inputSchema: inputShown(described, parametersLike),
    outputSchema: outputShown(answerSchema),
    answerSchema
  }
  return {
    withHandler: (handler: (given: Arguments) => Effect.Effect<Answered, never, Service>): Tool => ({
      ...published,
      call: (sent) => {
        const values = plainArguments(sent ?? {}, described)
        const unfit = unfitIn(values, "", 0)
        if (unfit !== null) return Effect.succeed(malformed(shown.name, described, [unfit]))
        const decoded = decode(values)
        return Result.isFailure(decoded)
          ? Effect.succeed(malformed(shown.name, described, detailsOf(decoded.failure)))
          : handler(decoded.success)
      }
    })
  }
}

const decodeText = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))
/** The parsed JSON of an answer. */
export const valueOf = ({ text }: Answered): unknown => Option.getOrUndefined(decodeText(text))
