/**
 * The JSON Schema of an operation's payload, for a form. Amounts have the format `usd`.
 *
 * Only forms/payload.ts of the console reads it, which is a bundler macro: the bundle holds the form in place of the contract.
 */
import { Schema } from "effect"
import { Usd } from "../../schema/money/Money.ts"
import { eachOperation } from "./operations.ts"

type Node = Readonly<Record<string, unknown>>

const jsonOf = (schema: Schema.Constraint): Node =>
  Schema.toJsonSchemaDocument(schema, { referencePolicy: () => undefined }).schema

const amount = jsonOf(Usd)

/** An amount without words of its own has none: the label of its field names the currency. */
const marked = (node: unknown): unknown => {
  if (Array.isArray(node)) return node.map(marked)
  if (typeof node !== "object" || node === null) return node
  const own = Object.fromEntries(Object.entries(node).map(([name, one]) => [name, marked(one)]))
  if (own["pattern"] !== amount["pattern"]) return own
  return { ...own, format: "usd", description: own["description"] === amount["description"] ? "" : own["description"] }
}

export const payloadSchema = (group: string, operation: string): unknown => {
  const schemas: Array<unknown> = []
  eachOperation((name, { identifier, payload }) => {
    if (name !== group || identifier !== operation) return
    for (const one of payload.values()) schemas.push(marked(jsonOf(one.schemas[0])))
  })
  return schemas[0]
}
