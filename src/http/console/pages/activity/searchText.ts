/** What somebody means who types into Activity's search. Pure. */
import { isRunId } from "../../running/request.ts"

export type Meaning =
  | { readonly kind: "run"; readonly run_id: string }
  | { readonly kind: "filter"; readonly name: string; readonly value: string }
  | { readonly kind: "unknown" }

const pair = /^([^=\s]{1,100})=(.*)$/
const capability = /^[a-z_]+\.[a-z_.]+$/
const path = /^\/\S+$/
const filters: ReadonlyArray<string> = ["status", "capability", "provider", "endpoint", "key", "from", "to"]

/** `providers` are slugs. A name before `=` that is no filter is a label's. */
export const meaningOf = (typed: string, providers: ReadonlyArray<string>): Meaning => {
  const text = typed.trim()
  const filter = (name: string, value: string): Meaning => ({ kind: "filter", name, value })
  if (isRunId(text)) return { kind: "run", run_id: text }
  if (path.test(text)) return filter("endpoint", text)
  const [, name, value] = pair.exec(text) ?? []
  if (name !== undefined && value !== undefined)
    return filter(filters.includes(name) || name.startsWith("metadata.") ? name : `metadata.${name}`, value)
  if (capability.test(text)) return filter("capability", text)
  return providers.includes(text.toLowerCase()) ? filter("provider", text.toLowerCase()) : { kind: "unknown" }
}
