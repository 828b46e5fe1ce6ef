/** The contract of passkeys: what a person does with the own ones. Signing in with one is in BrowserSessions.ts. */
import { Schema } from "effect"
import { HttpApiGroup } from "effect/http-api"
import { operation, optional, own } from "../shapes/Common.ts"
import { Wire } from "../../../schema/Errors.ts"
import { Code, Name, Password } from "../shapes/AccountFields.ts"
import { component, removed } from "../../../schema/nouns/Noun.ts"
import { Base64url, CredentialId, NewCredential, Passkey } from "../../../schema/nouns/Passkey.ts"

export class PasskeysApi extends HttpApiGroup.make("passkeys").add(
  own("List your passkeys", "Newest first, at most 20.").get("list", "/auth/passkeys", {
    success: Schema.Struct({ items: Schema.Array(Passkey), next_cursor: Schema.Null })
  }),
  operation(
    { role: "viewer", keys: "people", verified: true },
    "Start a passkey",
    "Returns what a browser needs to make one: a challenge for one use within five minutes, and the credentials that you have. With a second factor it needs its code too."
  ).post("start", "/auth/passkeys/start", {
    payload: component("PasskeyStart", { current_password: Password, code: optional(Code) }),
    success: component("PasskeyRegistration", {
      challenge: Base64url,
      rp_id: Schema.String,
      user_handle: Base64url,
      credential_ids: Schema.Array(CredentialId)
    })
  }),
  operation(
    { role: "viewer", keys: "people", verified: true },
    "Add a passkey",
    "It must be discoverable and verify its person, such as by a PIN or a fingerprint. It signs in without the password."
  ).post("create", "/auth/passkeys", {
    payload: component("PasskeyRequest", { name: Name, ...NewCredential.fields }),
    success: Passkey
  }),
  own("Rename a passkey", "").patch("rename", "/auth/passkeys/:passkey_id", {
    payload: component("PasskeyChange", { name: Name }),
    success: Passkey,
    error: [Wire.not_found]
  }),
  own("Remove a passkey", "It signs in no more. Password and sessions stay.").delete(
    "remove",
    "/auth/passkeys/:passkey_id",
    { success: removed("psk", "RemovedPasskey"), error: [Wire.not_found] }
  )
) {}
