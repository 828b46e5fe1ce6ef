/**
 * An authenticator in software: makes passkeys (ES256) and signs in with them, as a browser at `origin` sends it. `forge` changes what it
 * would do, for attacks.
 */
import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from "node:crypto"

type Cbor = number | string | Uint8Array | ReadonlyMap<number | string, Cbor>

/** The part of CBOR (RFC 8949) that an attestation needs. */
const cbor = (value: Cbor): Buffer => {
  const head = (kind: number, size: number) =>
    size < 24
      ? Buffer.from([(kind << 5) | size])
      : size < 256
        ? Buffer.from([(kind << 5) | 24, size])
        : Buffer.from([(kind << 5) | 25, size >> 8, size & 255])
  if (typeof value === "number") return value < 0 ? head(1, -1 - value) : head(0, value)
  if (typeof value === "string") return Buffer.concat([head(3, value.length), Buffer.from(value)])
  if (value instanceof Uint8Array) return Buffer.concat([head(2, value.length), value])
  return Buffer.concat([head(5, value.size), ...[...value].flatMap(([key, one]) => [cbor(key), cbor(one)])])
}

const sha256 = (text: string | Uint8Array) => createHash("sha256").update(text).digest()
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64url")

export interface Credential {
  readonly id: string
  readonly user_handle: string
  readonly key: KeyObject
  counter: number
}

export interface Forged {
  readonly origin?: string
  readonly rp_id?: string
  readonly challenge?: string
  /** False: without a PIN or a fingerprint. */
  readonly verified?: boolean
  readonly counter?: number
  readonly id?: string
  readonly user_handle?: string
  readonly type?: string
  readonly key?: KeyObject
  /** Bytes that the public key has more than it needs. */
  readonly padding?: number
  /** The id that the authenticator has signed, if it is not the one that is sent. */
  readonly signed_id?: string
}

export const authenticatorAt = (origin: string) => {
  const clientData = (type: string, challenge: string, forge: Forged) =>
    Buffer.from(
      JSON.stringify({
        type: forge.type ?? type,
        challenge: forge.challenge ?? challenge,
        origin: forge.origin ?? origin,
        crossOrigin: false
      })
    )
  const dataOf = (rp_id: string, counter: number, forge: Forged, attested: Buffer | null) => {
    // User present, user verified, attested data.
    const flags = 1 | (forge.verified === false ? 0 : 4) | (attested === null ? 0 : 64)
    const count = Buffer.alloc(4)
    count.writeUInt32BE(counter)
    return Buffer.concat([sha256(forge.rp_id ?? rp_id), Buffer.from([flags]), count, attested ?? Buffer.alloc(0)])
  }

  return {
    create: (
      start: { readonly challenge: string; readonly rp_id: string; readonly user_handle: string },
      forge: Forged = {}
    ) => {
      const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
      const { x = "", y = "" } = publicKey.export({ format: "jwk" })
      const id = forge.id ?? text(randomBytes(32))
      const raw = Buffer.from(forge.signed_id ?? id, "base64url")
      // EC2, ES256, P-256.
      const cose = new Map<number, Cbor>([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, Buffer.from(x, "base64url")],
        [-3, Buffer.from(y, "base64url")],
        ...(forge.padding === undefined ? [] : [[-100, Buffer.alloc(forge.padding)] as const])
      ])
      const attested = Buffer.concat([
        Buffer.alloc(16),
        Buffer.from([raw.length >> 8, raw.length & 255]),
        raw,
        cbor(cose)
      ])
      const attestation = cbor(
        new Map<string, Cbor>([
          ["fmt", "none"],
          ["attStmt", new Map()],
          ["authData", dataOf(start.rp_id, 1, forge, attested)]
        ])
      )
      const credential: Credential = { id, user_handle: start.user_handle, key: privateKey, counter: 1 }
      const body = {
        credential_id: id,
        client_data: text(clientData("webauthn.create", start.challenge, forge)),
        attestation: text(attestation)
      }
      return { credential, body }
    },

    get: (
      start: { readonly challenge: string; readonly rp_id: string },
      credential: Credential,
      forge: Forged = {}
    ) => {
      credential.counter += 1
      const client = clientData("webauthn.get", start.challenge, forge)
      const data = dataOf(start.rp_id, forge.counter ?? credential.counter, forge, null)
      return {
        credential_id: forge.id ?? credential.id,
        client_data: text(client),
        authenticator_data: text(data),
        signature: text(sign("sha256", Buffer.concat([data, sha256(client)]), forge.key ?? credential.key)),
        user_handle: forge.user_handle ?? credential.user_handle
      }
    }
  }
}
