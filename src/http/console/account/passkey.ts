/** Passkeys of this browser (WebAuthn): makes one, and signs in with one. */
import { api } from "../data/api.ts"

/** Browsers from 2025 on read and write the JSON of WebAuthn. */
export const hasPasskeys = "PublicKeyCredential" in globalThis && "parseRequestOptionsFromJSON" in PublicKeyCredential

const none = new Error("The browser gave no passkey. Try again.")
const jsonOf = (credential: Credential | null) => {
  if (credential instanceof PublicKeyCredential) return credential.toJSON()
  throw none
}

const publicKey = "public-key"
/** EdDSA, ES256 and RS256, which the service checks. */
const algorithms = [-8, -7, -257]

export const addPasskey = async (
  name: string,
  proof: { readonly current_password: string; readonly code?: string },
  email: string
) => {
  const { challenge, rp_id, user_handle, credential_ids } = await api.passkeys.start({ payload: proof })
  const options = PublicKeyCredential.parseCreationOptionsFromJSON({
    challenge,
    rp: { id: rp_id, name: "Rungate" },
    user: { id: user_handle, name: email, displayName: email },
    pubKeyCredParams: algorithms.map((alg) => ({ type: publicKey, alg })),
    excludeCredentials: credential_ids.map((id) => ({ type: publicKey, id })),
    authenticatorSelection: { residentKey: "required", requireResidentKey: true, userVerification: "required" }
  })
  const { id, response } = jsonOf(await navigator.credentials.create({ publicKey: options }))
  if (!("attestationObject" in response)) throw none
  return api.passkeys.create({
    payload: {
      ...{ name, credential_id: id },
      ...{ client_data: response.clientDataJSON, attestation: response.attestationObject }
    }
  })
}

export const signInWithPasskey = async (organization: { readonly organization_id?: string }) => {
  const { challenge, rp_id } = await api.browser.startPasskey({})
  const options = PublicKeyCredential.parseRequestOptionsFromJSON({
    challenge,
    rpId: rp_id,
    userVerification: "required"
  })
  const { id, response } = jsonOf(await navigator.credentials.get({ publicKey: options }))
  if (!("signature" in response)) throw none
  return api.browser.passkey({
    payload: {
      ...{ credential_id: id, client_data: response.clientDataJSON, authenticator_data: response.authenticatorData },
      ...{ signature: response.signature, user_handle: response.userHandle ?? "", ...organization }
    }
  })
}
