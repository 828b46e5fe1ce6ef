/** The contract of allowances: keys with an amount of the wallet's money. */
import { Schema } from "effect"
import { HttpApiGroup } from "effect/http-api"
import { operation, optional, pages, readsOwn } from "../shapes/Common.ts"
import { Wire } from "../../../schema/Errors.ts"
import { Usd } from "../../../schema/money/Money.ts"
import { Name } from "../shapes/AccountFields.ts"
import { Timestamp } from "../shapes/KeyRules.ts"
import { KeyScopeRequest } from "../../../schema/nouns/ApiKey.ts"
import { Allowance } from "../../../schema/nouns/Allowance.ts"
import { component, withExample } from "../../../schema/nouns/Noun.ts"

export const NewAllowance = component("NewAllowance", {
  id: Schema.String,
  api_key: Schema.String,
  note: Schema.String
}).pipe(
  withExample({
    id: "key_01m81nzk5dej20zws915h61fdz",
    api_key: "rg_test_YOUR_NEW_KEY",
    note: "Store this key now; it is not shown again."
  })
)

export class AllowancesApi extends HttpApiGroup.make("allowances").add(
  readsOwn("List allowances", "Newest first, with those that have ended.", "allowances list").get(
    "list",
    "/allowances",
    pages(Allowance)
  ),
  operation(
    { role: "member", keys: "mints", verified: true, own: true, command: "allowances create" },
    "Create an allowance",
    "The amount is held at once, and the key in this response, which is never shown again, spends from it. Fields of allow that are left out are those of the calling key."
  ).post("create", "/allowances", {
    headers: { "idempotency-key": Schema.optionalKey(Schema.String) },
    payload: component("AllowanceRequest", {
      name: Name,
      amount: Usd,
      expires_at: Timestamp,
      allow: optional(KeyScopeRequest)
    }).pipe(
      withExample({
        name: "researcher 3",
        amount: "2.00",
        expires_at: "2026-12-01T00:00:00Z",
        allow: { capabilities: ["email.find", "email.verify"], max_cost: "0.10" }
      })
    ),
    success: NewAllowance,
    error: [Wire.insufficient_balance, Wire.wallet_suspended, Wire.idempotency_key_reused, Wire.service_unavailable]
  }),
  readsOwn("Read an allowance", "What is left of it, and what it may do.", "allowances show").get(
    "get",
    "/allowances/:allowance_id",
    { success: Allowance, error: [Wire.not_found] }
  ),
  operation(
    { role: "viewer", keys: "revokes", own: true, command: "allowances revoke" },
    "Revoke an allowance",
    "By a session, by a key that gave it, or by its own key. Ends the allowances under it too. What is unused returns at once; what open runs hold returns when they end."
  ).delete("revoke", "/allowances/:allowance_id", { success: Allowance, error: [Wire.not_found] })
) {}
