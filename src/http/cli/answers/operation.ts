/**
 * Calls an operation of the contract, and makes flags and arguments of its fields.
 *
 * Method, path and the place of each field come from the operation, so no command names a path. Values are sent as they stand on the wire, and
 * the service checks them: its error names the field, and `--json` prints it unchanged.
 */
import { type Context, Effect, type Schema, SchemaAST } from "effect"
import { Argument, Flag, type Param } from "effect/cli"
import type { HttpApiEndpoint } from "effect/http-api"
import { typesIn } from "../../../schema/Columns.ts"
import { segmentOf } from "../../../schema/Ids.ts"
import { amount, int, optional } from "../terminal/flags.ts"
import { type Answer, type Ask, Client, type Method } from "./Client.ts"
import type { CommandFailed } from "../terminal/exits.ts"
import type { Credentials } from "../state/Credentials.ts"
import { read } from "./show.ts"

export interface Operation extends HttpApiEndpoint.ConstraintRequest {
  readonly method: Method
  readonly path: string
  readonly params: Schema.Top | undefined
  readonly query: Schema.Top | undefined
  readonly payload: HttpApiEndpoint.PayloadMap
  readonly annotations: Context.Context<never>
}

/** The fields of a request, by their place. */
export interface Parts {
  readonly params?: object
  readonly query?: object
  readonly payload?: unknown
}

/** The fields of a part as they stand on the wire. */
export type Wire<S> = S extends { readonly schema: { readonly Encoded: infer A } } ? A : never

type PartOf<Name extends string, S> = [S] extends [never] ? unknown : { readonly [name in Name]: Wire<S> }

/** The request of an operation. */
export type RequestOf<E extends Operation> = PartOf<"params", E["~Params"]> &
  PartOf<"query", E["~Query"]> &
  PartOf<"payload", E["~Payload"]> &
  Parts

/** Method, path and body of a request. */
export const requestOf = (operation: Operation, { params, query, payload }: Parts) => {
  const path = operation.path.replace(/:(\w+)/g, (_, name: string) =>
    segmentOf(String(Reflect.get(params ?? {}, name)))
  )
  const parameters = new URLSearchParams()
  for (const [name, value] of Object.entries(query ?? {}))
    if (value !== null && value !== undefined) parameters.set(name, String(value))
  return {
    method: operation.method,
    path: parameters.size === 0 ? `/v1${path}` : `/v1${path}?${parameters}`,
    body: payload
  }
}

/** Sends a request. `how` replaces the credential, the timeout or the body. */
export const send = (operation: Operation, parts: Parts, how: Ask = {}) => {
  const { method, path, body } = requestOf(operation, parts)
  return Effect.flatMap(Client, (client) => client.send(method, path, { body, ...how }))
}

/** `send`, for the fields that the contract has. */
export const call = <E extends Operation>(
  operation: E,
  request: RequestOf<E>,
  how?: Ask
): Effect.Effect<Answer, CommandFailed, Client> => send(operation, request, how)

/** `call`, and the body of its answer as it stands on the wire. */
export const ask = <E extends Operation, A, I>(
  operation: E,
  request: RequestOf<E>,
  schema: Schema.Codec<A, I>,
  how?: Ask
): Effect.Effect<I, CommandFailed, Client | Credentials> =>
  Effect.flatMap(call(operation, request, how), (answer) => read(schema, answer))

export interface Field {
  readonly name: string
  readonly place: keyof Parts
  readonly type: SchemaAST.AST
}

const propertiesOf = (place: keyof Parts, schema: { readonly ast: SchemaAST.AST } | undefined): ReadonlyArray<Field> =>
  schema === undefined || !SchemaAST.isObjects(schema.ast)
    ? []
    : schema.ast.propertySignatures.map(({ name, type }) => ({ name: String(name), place, type }))

/** All fields of an operation's request. */
export const fieldsOf = (operation: Operation): ReadonlyArray<Field> => [
  ...propertiesOf("params", operation.params),
  ...propertiesOf("query", operation.query),
  ...Array.from(operation.payload.values(), ({ schemas: [payload] }) => propertiesOf("payload", payload)).flat()
]

/** A flag or an argument. A value that is null or an empty list leaves its field out. */
export type Typed = Param.Param<Param.ParamKind, unknown>

/** A description of the contract as a flag's help has it: it begins small, and has no dot at its end. */
const helpOf = (ast: SchemaAST.AST): string => {
  const text = SchemaAST.resolveDescription(ast)
  if (text !== undefined) return text.replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase()).replace(/\.$/, "")
  return SchemaAST.isUnion(ast) ? (ast.types.map(helpOf).find((one) => one !== "") ?? "") : ""
}

const choicesIn = (types: ReadonlyArray<SchemaAST.AST>): ReadonlyArray<string> | null =>
  types.length > 0 && types.every(SchemaAST.isLiteral) ? types.map(({ literal }) => String(literal)) : null

/** Words are the help; without them it is the description in the contract. */
export const flagOf = (flag: string, given: SchemaAST.AST, words: string | undefined): Typed => {
  const ast = SchemaAST.toType(given)
  const types = typesIn(ast)
  const [type = ast] = types
  const help = words ?? helpOf(given)
  const choices = choicesIn(types)
  // Left out is not false, which changes a field that is true.
  if (SchemaAST.isBoolean(type)) return optional(Flag.Boolean(flag).pipe(Flag.withDescription(help)))
  if (SchemaAST.isArrays(type))
    return Flag.String(flag).pipe(Flag.withDescription(words ?? `${help}; may be repeated`), Flag.atLeast(0))
  const one: Flag.Flag<unknown> =
    choices !== null
      ? Flag.Literals(flag, choices).pipe(Flag.withDescription(help))
      : SchemaAST.isBigInt(type)
        ? amount(flag, help)
        : SchemaAST.isNumber(type)
          ? int(flag, help)
          : Flag.String(flag).pipe(Flag.withDescription(help))
  return SchemaAST.isOptional(given) ? optional(one) : one
}

/** The flag or argument of a field. Fields of the path are arguments. */
export const typedOf = ({ name, place, type }: Field, words: string | undefined): Typed =>
  place === "params"
    ? Argument.String(name).pipe(Argument.withDescription(words ?? helpOf(type)))
    : flagOf(name.replaceAll("_", "-"), type, words)
