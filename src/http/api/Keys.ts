/** The contract of API keys (specification 2.7, 4.11). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Wire } from "../../schema/Errors.ts"
import { Auth, listQuery } from "./shapes/Common.ts"

export const ApiKey = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  environment: Schema.Literals(["test", "live"]),
  display: Schema.String,
  last_used_at: Schema.NullOr(Schema.String),
  revoked: Schema.Boolean,
  created_at: Schema.String
}).annotate({ identifier: "ApiKey" })

export class KeysApi extends HttpApiGroup.make("keys")
  .add(
    HttpApiEndpoint.get("list", "/api-keys", {
      query: listQuery,
      success: Schema.Struct({ items: Schema.Array(ApiKey), next_cursor: Schema.NullOr(Schema.String) }),
      error: [Wire.invalid_request]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "List API keys",
        description: "Newest first, including revoked keys. The keys themselves are not shown."
      })
    ),
    HttpApiEndpoint.post("create", "/api-keys", {
      payload: Schema.Struct({
        name: Schema.NonEmptyString.check(Schema.isMaxLength(200)),
        environment: Schema.Literals(["test", "live"])
      }).annotate({ identifier: "ApiKeyRequest" }),
      success: Schema.Struct({ id: Schema.String, api_key: Schema.String, note: Schema.String }).annotate({
        identifier: "NewApiKey"
      }),
      error: [Wire.invalid_request, Wire.forbidden]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Create an API key",
        description:
          "Needs a session token. An organization can have 100 keys in use. The key is in this response and never shown again."
      })
    ),
    HttpApiEndpoint.delete("revoke", "/api-keys/:key_id", {
      params: { key_id: Schema.String },
      success: ApiKey,
      error: [Wire.invalid_request, Wire.forbidden]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Revoke an API key",
        description: "Immediate and permanent. A key may revoke itself; revoking another one needs a session token."
      })
    )
  )
  .middleware(Auth) {}
