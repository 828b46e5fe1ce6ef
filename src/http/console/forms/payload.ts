/** The form of an operation's payload, from its JSON Schema. A bundler macro, as client/operations.ts is: the bundle holds the finished form. */
import { payloadSchema } from "../../client/payloadSchema.ts"
import { type Field, formOf, type ObjectField } from "./schema.ts"

/** Fields of our own operations have inputs that those of third parties don't: their meaning is certain. */
const own = (field: Field): Field => {
  const { name, hint, required } = field
  const common = { name, hint, required }
  if (field.kind === "object") {
    const core = required ? undefined : field.fields.find((one) => one.required && one.kind !== "choice")?.name
    return { ...field, fields: field.fields.map(own), core }
  }
  if (field.kind === "boolean") return { ...common, kind: "flag" }
  if (field.kind === "text" && field.format === "usd") return { ...common, kind: "amount" }
  if (field.kind === "text" && field.format === "date-time") return { ...common, kind: "time" }
  if (field.kind === "list" && field.item.kind === "choice") {
    const options = field.item.options.map((one) => String(JSON.parse(one)))
    return { ...common, kind: "lines", numbers: false, single: false, options }
  }
  return field
}

/** The fields of a payload, such as `payloadForm("webhooks", "create")`, but those that a page fills by itself. */
export const payloadForm = (group: string, operation: string, filled: ReadonlyArray<string> = []): ObjectField => {
  const form = own(formOf(payloadSchema(group, operation)))
  const fields = form.kind === "object" ? form.fields : []
  return {
    name: "",
    hint: "",
    required: true,
    kind: "object",
    fields: fields.filter(({ name }) => !filled.includes(name))
  }
}
