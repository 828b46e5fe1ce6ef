/**
 * Makes an example of what a schema describes, for the OpenAPI document. Pure.
 *
 * A schema that has `examples`, as nouns have, is shown with the first one. Other fields are shown by their name, so that a field looks the
 * same in every answer. Fields that may be left out are left out, unless they have an example.
 */
import { isRecord } from "../../../schema/json/Json.ts"

type Node = Readonly<Record<string, unknown>>

const record = (value: unknown): Node => (isRecord(value) ? value : {})

const ulid = "01m81nzk5dej20zws915h61fdz"

/** Texts by the name of their field. */
const texts: ReadonlyArray<readonly [RegExp, string]> = [
  [/^resets_at$/, "2026-11-23T00:00:00.000Z"],
  [/_at$|^(at|since|until|timestamp|ask_after|next_look|(first|last)_seen)$/, "2026-11-22T09:30:00.000Z"],
  [/^(day|date|from)$|_day$/, "2026-11-22"],
  [/^org(anization)?_id$/, `org_${ulid}`],
  [/^transaction_id$/, `txn_${ulid}`],
  [/^session_id$/, `cs_${ulid}`],
  [/^run_id$/, `run_${ulid}`],
  [/^request_id$/, `req_${ulid}`],
  [/^payment_id$/, `pay_${ulid}`],
  [/^event_id$/, `evt_${ulid}`],
  [/^email$/, "jane@acme.example"],
  [/^(organization|name|client_name)$/, "Acme"],
  [/password$/, "correct horse battery"],
  [/^session_token$/, "rg_sess_YOUR_TOKEN"],
  [/^api_key$/, "rg_test_YOUR_KEY"],
  [/^(token|link)$/, "TOKEN_OF_THE_LINK"],
  [/^redirect_(uri|to)$/, "https://agents.example/callback"],
  [/^redirect_host$/, "agents.example"],
  [/_url$/, "https://api.example.com"],
  [/^(provider|provider_state|wrapped_by)s?$|_providers$/, "hunter"],
  [/^(capability|capabilities|serves|adds)$/, "email.find"],
  [/^endpoint$/, "/v1/people"],
  [/^(query|subjects?|normalized)$/, "jane.doe@example.com"],
  [/^id$|_keys$/, ulid],
  [/^display$/, "rg_test_Q8bC…X4vF"],
  [/^(channel|path)$/, "email"],
  [/^(note|reason)$/, "checked by hand"],
  [/^event$/, "run.finished"],
  [/^data$/, '{"type":"run.finished","timestamp":"2026-11-22T09:30:00.000Z","data":{"status":"succeeded"}}'],
  [/^(hash|previous)$/, "0".repeat(64)],
  [
    /^(amount|threshold|.*limit|balances?|balance_.*|available|charge|.*charged.*|spent.*|earned|loss|losses|.*cost.*|hold|held|quoted|released|topups?|bonus.*|refunds?|settle|reserved?|reserved_.*|release|price|fee|saved|margin|clawed_back|lower|expected|upper|measured)$/,
    "5.00"
  ]
]

const textOf = (name: string): string | undefined => texts.find(([names]) => names.test(name))?.[1]

const numberOf = ({ minimum, maximum }: Node): number => {
  if (typeof minimum === "number" && minimum > 1) return minimum
  return typeof maximum === "number" && maximum < 1 ? maximum : 1
}

const list = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])

const first = (node: Node): unknown => list(node["examples"])[0] ?? node["const"] ?? list(node["enum"])[0]

/** `schemas` are those that a schema refers to; `name` is that of its field. */
export const exampleOf = (schema: unknown, schemas: Node, name = ""): unknown => {
  const node = record(schema)
  const value = first(node)
  if (value !== undefined) return value
  const inner = (one: unknown, field = name) => exampleOf(one, schemas, field)
  const ref = node["$ref"]
  if (typeof ref === "string") return inner(schemas[ref.slice(ref.lastIndexOf("/") + 1)])
  const choices = list(node["anyOf"] ?? node["oneOf"])
  if (choices.length > 0) {
    const [choice] = choices
    const isUnnamedText = record(choice)["type"] === "string" && textOf(name) === undefined
    return isUnnamedText && choices.some((one) => record(one)["type"] === "null") ? null : inner(choice)
  }
  switch (node["type"]) {
    case "object": {
      const required = list(node["required"])
      const shown = Object.entries(record(node["properties"])).filter(
        ([field, one]) => required.includes(field) || first(record(one)) !== undefined
      )
      return Object.fromEntries(shown.map(([field, one]) => [field, inner(one, field)]))
    }
    case "array":
      return [inner(node["items"])]
    case "integer":
    case "number":
      return numberOf(node)
    case "boolean":
      return true
    case "null":
      return null
    case undefined:
      return {}
    default:
      return textOf(name) ?? "text"
  }
}
