/**
 * The tool allowances: gives another agent a key with an amount of the wallet's money, lists such keys and revokes them.
 *
 * The model sees the key that it gives. The key of the caller needs `allow.mint` for it, so a person has decided about it.
 */
import { Clock, Effect, Schema } from "effect"
import { NewAllowance } from "../api/accounts/Allowances.ts"
import { Allowance } from "../../schema/nouns/Allowance.ts"
import { segmentOf } from "../../schema/Ids.ts"
import { usd } from "../../schema/money/Money.ts"
import { pageOf } from "../../schema/nouns/Noun.ts"
import { answered, refusal, replied } from "./Answers.ts"
import { send } from "./Service.ts"
import { tool } from "./Tool.ts"
import { between, dollars, named, object, oneOf, optional } from "./Tools.ts"

const name = "allowances"
/** Longer ones are created with the API or the command. */
const secondsMax = 30 * 86_400
const listLimit = 20

export const allowances = tool({
  name,
  title: "Give money to agents",
  description:
    "Give each agent that you start an allowance: an API key with an amount of your money, held at once. create needs a key with allow.mint. It answers api_key once: set it as that agent's RUNGATE_API_KEY, and show it nowhere else. What is unused returns when it is revoked or expires.",
  parameters: Schema.Struct({
    action: oneOf(["create", "list", "revoke"], "revoke also ends those under it"),
    name: optional(named("create: who gets it")),
    amount: optional(dollars('create: USD, such as "2.00"')),
    expires_in_seconds: optional(between(1, secondsMax, "create: when it ends")),
    allow: object(
      "create: its scope, never wider than yours: capabilities, providers, raw, read_only, max_cost, mint, read"
    ),
    allowance_id: optional(named("revoke: its id, key_…")),
    cursor: optional(named("list: next_cursor of the previous page"))
  }),
  answers: [NewAllowance, Allowance, pageOf(Allowance)],
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false }
})

type Given = Parameters<Parameters<typeof allowances.withHandler>[0]>[0]

const path = "/v1/allowances"

/** When an answer was lost: the key of an allowance that nobody received is of no use. */
const lost = { hint: `Call ${name} with action list. If it shows an allowance whose key you don't have, revoke it.` }

const reply = (...request: Parameters<typeof send>) =>
  replied(name, send(...request), (text) => Effect.succeed(answered(name, text)), lost)

const missing = (action: string, members: string) =>
  refusal(name, {
    code: "invalid_request",
    message: `${action} needs ${members}.`,
    hint: `Nothing was changed. Call ${name} again with ${members}.`
  })

const create = Effect.fnUntraced(function* ({ name: label, amount, expires_in_seconds, allow }: Given) {
  if (label === undefined || amount === undefined || expires_in_seconds === undefined)
    return yield* missing("create", "name, amount and expires_in_seconds")
  const expires_at = new Date((yield* Clock.currentTimeMillis) + expires_in_seconds * 1_000).toISOString()
  const body = { name: label, amount: usd(amount), expires_at, ...(allow === undefined ? {} : { allow }) }
  // Of this call only: a repeat with it makes the key of the first call stop working, and two agents may get the same.
  const headers = { "idempotency-key": `mcp_${crypto.randomUUID()}` }
  return yield* reply("POST", path, { body, headers })
})

const list = (cursor: string | undefined) =>
  reply("GET", `${path}?${new URLSearchParams({ limit: `${listLimit}`, ...(cursor === undefined ? {} : { cursor }) })}`)

export const allowancesTool = (given: Given) => {
  const { action, allowance_id, cursor } = given
  if (action === "create") return create(given)
  if (action === "list") return list(cursor)
  return allowance_id === undefined
    ? missing("revoke", "allowance_id")
    : reply("DELETE", `${path}/${segmentOf(allowance_id)}`)
}
