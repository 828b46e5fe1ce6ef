/** The contract of API keys (specification 2.7, 4.11), with their budgets, scopes and rotation. */
import { Schema } from "effect"
import { HttpApiGroup } from "effect/http-api"
import { operation, pages, reads } from "../shapes/Common.ts"
import { Name } from "../shapes/AccountFields.ts"
import { ruleFields } from "../shapes/KeyRules.ts"
import { ApiKey } from "../../../schema/nouns/ApiKey.ts"
import { component, withExample } from "../../../schema/nouns/Noun.ts"

const NewApiKey = component("NewApiKey", { id: Schema.String, api_key: Schema.String, note: Schema.String }).pipe(
  withExample({
    id: "key_01m81nzp22m6w02v2qjrss9a5s",
    api_key: "rg_test_YOUR_KEY",
    note: "Store this key now; it is not shown again."
  })
)

export const ApiKeyRequest = component("ApiKeyRequest", {
  name: Name,
  environment: Schema.Literals(["test", "live"]),
  ...ruleFields
}).pipe(
  withExample({
    name: "agent",
    environment: "test",
    budget: { limit: "5.00", period: "day" },
    allow: { capabilities: ["email.find", "email.verify"], max_cost: "0.50" }
  })
)
export const ApiKeyChange = component("ApiKeyChange", { name: Schema.optionalKey(Name), ...ruleFields }).pipe(
  withExample({ budget: { limit: "5.00", period: "day" }, expires_at: null })
)

/** The longest time for which a replaced key may go on: 30 days. */
export const graceSecondsMax = 2_592_000

export class KeysApi extends HttpApiGroup.make("keys").add(
  reads("List API keys", "Newest first, including revoked keys. The keys themselves are not shown.", "keys list").get(
    "list",
    "/api-keys",
    pages(ApiKey)
  ),
  reads("Read an API key", "Returns what the key may do, and what its runs have spent of its budget.").get(
    "get",
    "/api-keys/:key_id",
    { success: ApiKey }
  ),
  operation(
    { role: "member", keys: "people", verified: true, command: "keys create" },
    "Create an API key",
    "An organization can have 100 keys in use. The key is in this response and never shown again. budget limits what its runs may charge and hold in a period, allow limits what it may run."
  ).post("create", "/api-keys", {
    payload: ApiKeyRequest,
    success: NewApiKey
  }),
  operation(
    { role: "member", keys: "people", verified: true, command: "keys update" },
    "Change an API key",
    "A field that is left out does not change; null removes the rule. allow replaces the whole scope. The next run obeys the new rules."
  ).patch("change", "/api-keys/:key_id", { payload: ApiKeyChange, success: ApiKey }),
  operation(
    { role: "member", keys: "people", verified: true, command: "keys rotate" },
    "Rotate an API key",
    "Creates a key with the same name, scope, expiry and budget. Both keys spend from the one budget, so the new key has what is left of it."
  ).post("rotate", "/api-keys/:key_id/rotate", {
    payload: component("ApiKeyRotation", {
      grace_seconds: Schema.optionalKey(
        Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: graceSecondsMax })).annotate({
          description: "how long the old key works; the default is 0: it stops at once"
        })
      )
    }).pipe(withExample({ grace_seconds: 3600 })),
    success: NewApiKey
  }),
  operation(
    { role: "viewer", keys: "revokes", own: true, command: "keys revoke" },
    "Revoke an API key",
    "Immediate and permanent. A key may revoke itself; revoking another one needs a session token."
  ).delete("revoke", "/api-keys/:key_id", { success: ApiKey })
) {}
