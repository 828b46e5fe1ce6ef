/** Writes the API as TypeScript: a type for each component, the interface of the client, and its table of operations. */
import {
  componentsOf,
  document,
  errorCodes,
  nameOf,
  type Operation,
  operations,
  type Parameter,
  type Shape,
  shapesOf
} from "./operations.ts"

const quoted = (value: unknown) => JSON.stringify(value)
const key = (name: string) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : quoted(name))
/** Names of components are names of types, and none is a type of the language. */
const typeName = (name: string) => (name === "Event" ? "RungateEvent" : name)
const comment = (text: string | undefined, indent: string) =>
  text === undefined ? "" : `${indent}/** ${text.replaceAll("*/", "*\\/").replace(/\s+/g, " ")} */\n`

const objectOf = (shape: Shape, indent: string): string => {
  const { properties = {}, required = [], additionalProperties, patternProperties = {} } = shape
  const inner = `${indent}  `
  // A closed object is sent, and a program may have fields of it that are undefined: they are not sent.
  const absent = additionalProperties === false ? " | undefined" : ""
  const lines = Object.entries(properties).map(([name, one]) => {
    const isRequired = required.includes(name)
    const type = `${typeOf(one, inner)}${isRequired ? "" : absent}`
    return `${comment(descriptionOf(one), inner)}${inner}readonly ${key(name)}${isRequired ? "" : "?"}: ${type}\n`
  })
  const rest =
    typeof additionalProperties === "object" ? additionalProperties : Object.values(patternProperties).find(() => true)
  if (lines.length > 0) return `{\n${lines.join("")}${indent}}`
  return `{ readonly [name: string]: ${rest === undefined ? "unknown" : typeOf(rest, inner)} }`
}

const descriptionOf = ({ description, anyOf }: Shape): string | undefined =>
  description ?? anyOf?.find((one) => one.description !== undefined)?.description

/** The document allows for numbers that JSON does not have. The service sends none. */
export const typeOf = (shape: Shape, indent = ""): string => {
  if (shape.$ref !== undefined) return typeName(nameOf(shape.$ref))
  if (shape.enum !== undefined) return shape.enum.map(quoted).join(" | ")
  if (shape.anyOf !== undefined) {
    const members = shape.anyOf.filter((one) => one.enum?.includes("Infinity") !== true)
    return [...new Set(members.map((one) => typeOf(one, indent)))].join(" | ")
  }
  switch (shape.type) {
    case "string":
      return "string"
    case "integer":
    case "number":
      return "number"
    case "boolean":
      return "boolean"
    case "null":
      return "null"
    case "array":
      return `ReadonlyArray<${shape.items === undefined ? "unknown" : typeOf(shape.items, indent)}>`
    case "object":
      return objectOf(shape, indent)
    default:
      return "unknown"
  }
}

/** Everything in an address is text. In programs these are numbers and truth values. */
const numbers = ["limit", "wait"]
const truths = ["keep_keys"]
const queryType = ({ schema, name }: Parameter): string => {
  if (numbers.includes(name)) return "number"
  if (truths.includes(name)) return "boolean"
  return typeOf(schema)
}

const queryOf = (query: ReadonlyArray<Parameter>, indent: string): string =>
  `{\n${query
    .map(
      (one) =>
        `${comment(one.description, `${indent}  `)}${indent}  readonly ${key(one.name)}${one.required === true ? "" : "?"}: ${queryType(one)}${one.required === true ? "" : " | undefined"}\n`
    )
    .join("")}${indent}}`

const signatureOf = (operation: Operation): string => {
  const { pathParameters, body, takesCsv, query, answers, textType, item } = operation
  const mustAsk = query.some((one) => one.required === true)
  const parameters = [
    ...pathParameters.map(({ name }) => `${name}: string`),
    ...(body === null ? [] : [`body: ${typeOf(body, "    ")}${takesCsv ? " | string" : ""}`]),
    ...(query.length === 0 ? [] : [`query${mustAsk ? "" : "?"}: ${queryOf(query, "    ")}`]),
    "options?: RequestOptions"
  ]
  const answer =
    answers === null
      ? textType === null
        ? "undefined"
        : "string"
      : [...new Set(answers.map((one) => typeOf(one, "    ")))].join(" | ")
  const returned = item === null ? `Promise<${answer}>` : `Pages<${typeOf(item, "    ")}>`
  return `${comment(operation.summary, "    ")}    readonly ${operation.name}: (${parameters.join(", ")}) => ${returned}\n`
}

const flagsOf = (operation: Operation): string =>
  [
    operation.method,
    operation.path,
    ...(operation.body === null ? [] : ["body"]),
    ...(operation.takesCsv ? ["csv"] : []),
    ...(operation.query.length === 0 && operation.item === null ? [] : ["query"]),
    ...(operation.item === null ? [] : ["pages"]),
    ...(operation.takesKey ? ["key"] : []),
    ...(operation.isRead && operation.method !== "GET" ? ["read"] : []),
    ...(operation.textType === null ? [] : [`text:${operation.textType}`])
  ].join(" ")

/** The operations of each group, with a text before the group's name and one after its end. */
const inGroups = (
  all: ReadonlyArray<Operation>,
  [before, after]: readonly [string, string],
  write: (one: Operation) => string
): string =>
  [...new Set(all.map(({ group }) => group))]
    .map((group) => {
      const own = all.filter((one) => one.group === group)
      return `  ${before}${group}: {\n${own.map(write).join("")}  }${after}\n`
    })
    .join("")

/** The generated module of the package. */
export const typescriptOf = (): string => {
  const from = document()
  const all = operations(from)
  const event = { $ref: "#/components/schemas/Event" }
  const types = componentsOf(from, [...all.flatMap(shapesOf), event]).map((name) => {
    const shape = from.components.schemas[name] ?? {}
    const text = typeOf(shape)
    const declared =
      shape.type === "object" && shape.properties !== undefined
        ? `interface ${typeName(name)} ${text}`
        : `type ${typeName(name)} = ${text}`
    return `${comment(shape.description, "")}export ${declared}\n`
  })
  return `/** Generated from the OpenAPI document: \`bun scripts/packages/client.ts\`. */
import { clientOf } from "./client.ts"
import type { EventOptions } from "./events.ts"
import type { Pages } from "./pages.ts"
import type { ConnectOptions, RequestOptions } from "./transport.ts"

${types.join("\n")}
/** Public error codes of the API. Later versions may add some. */
export type ErrorCode = ${errorCodes(from).map(quoted).join(" | ")}

/** An event with the id after which a stream can continue. */
export type ReceivedEvent = RungateEvent & { readonly id: string }

export interface FollowOptions extends EventOptions {
  readonly types?: ReadonlyArray<RungateEvent["type"]> | undefined
}

/** Every operation by group and name. */
export interface Rungate {
${inGroups(all, ["readonly ", ""], signatureOf)}  /**
   * Follows events: \`for await (const event of rungate.events({ types: ["run.finished"] }))\`. After a lost connection it continues with the next
   * event. It ends with its run, or when the loop is left.
   */
  readonly events: (options?: FollowOptions) => AsyncIterable<ReceivedEvent>
}

const table = {
${inGroups(all, ["", ","], (one) => `    ${one.name}: ${quoted(flagsOf(one))},\n`)}}

/** The client of a service. It sends nothing until a method is called. */
export const connect = (options: ConnectOptions): Rungate => clientOf(options, table) as Rungate
`
}
