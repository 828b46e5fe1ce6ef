/** Marks in the OpenAPI document what is deprecated (shapes/Deprecations.ts): operations, parameters, and fields of bodies. Pure. */
import { isRecord } from "../../../schema/json/Json.ts"
import type { DeprecationTable } from "../shapes/Deprecations.ts"

export type Node = Readonly<Record<string, unknown>>

export const record = (value: unknown): Node => (isRecord(value) ? value : {})
export const list = (value: unknown): ReadonlyArray<Node> => (Array.isArray(value) ? value.map(record) : [])
export const mapped = (node: unknown, change: (value: Node, key: string) => Node): Node =>
  Object.fromEntries(Object.entries(record(node)).map(([key, value]) => [key, change(record(value), key)]))

const withFields = (schema: Node, names: ReadonlyArray<string>): Node => ({
  ...schema,
  properties: mapped(schema["properties"], (property, name) =>
    names.includes(name) ? { ...property, deprecated: true } : property
  )
})

const refOf = (schema: unknown): string | null => {
  const ref = record(schema)["$ref"]
  return typeof ref === "string" ? ref.slice(ref.lastIndexOf("/") + 1) : null
}

export const withDeprecations = (document: Node, table: DeprecationTable): Node => {
  if (Object.keys(table).length === 0) return document
  const fieldsOf = (id: string) =>
    Object.keys(table).flatMap((key) => (key.startsWith(`${id} `) ? [key.slice(id.length + 1)] : []))
  const ofComponents = new Map<string, ReadonlyArray<string>>()

  const marked = (operation: Node): Node => {
    const id = String(operation["operationId"])
    const names = fieldsOf(id)
    const parameters = list(operation["parameters"]).map((one) =>
      names.includes(String(one["name"])) ? { ...one, deprecated: true } : one
    )
    const body = record(operation["requestBody"])
    const content = mapped(body["content"], (media) => {
      const component = refOf(media["schema"])
      if (component === null) return { ...media, schema: withFields(record(media["schema"]), names) }
      ofComponents.set(component, [...(ofComponents.get(component) ?? []), ...names])
      return media
    })
    return {
      ...operation,
      ...(table[id] === undefined ? {} : { deprecated: true }),
      parameters,
      ...(operation["requestBody"] === undefined || names.length === 0 ? {} : { requestBody: { ...body, content } })
    }
  }

  const paths = mapped(document["paths"], (item) => mapped(item, marked))
  const components = record(document["components"])
  const schemas = mapped(components["schemas"], (schema, name) => {
    const names = ofComponents.get(name) ?? []
    return names.length === 0 ? schema : withFields(schema, names)
  })
  return { ...document, paths, components: { ...components, schemas } }
}
