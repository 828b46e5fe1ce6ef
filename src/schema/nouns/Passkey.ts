/** A key of a person's device that signs in without a password. */
import { Schema } from "effect"
import { withColumns } from "../Columns.ts"
import { component, idOf, such, time, withExample } from "./Noun.ts"

/** Bytes as WebAuthn writes them. An attestation with certificates takes a few thousand. */
export const Base64url = Schema.String.check(Schema.isPattern(/^[A-Za-z0-9_-]+$/), Schema.isMaxLength(20_000))
/** Of at most 1,023 bytes. */
export const CredentialId = Base64url.check(Schema.isMaxLength(1_364))

/** What an authenticator has made for a new passkey, and signed to sign in. */
const answer = { credential_id: CredentialId, client_data: Base64url }
export const NewCredential = Schema.Struct({ ...answer, attestation: Base64url })
export const Assertion = Schema.Struct({
  ...answer,
  ...{ authenticator_data: Base64url, signature: Base64url, user_handle: Base64url }
})

export const Passkey = component("Passkey", {
  id: idOf("psk"),
  name: such("Laptop"),
  created_at: time,
  last_used_at: Schema.NullOr(time)
}).pipe(
  withColumns({
    list: ["name", "created_at", "last_used_at"],
    wide: ["created_at"],
    titles: { created_at: "Added", last_used_at: "Last used" },
    none: { last_used_at: "never" }
  }),
  withExample({
    id: "psk_01m81nzk5dej20zws915h61fdz",
    name: "Laptop",
    created_at: "2026-11-20T08:00:00.000Z",
    last_used_at: null
  })
)
