/**
 * Encrypts secrets that are stored in the database, with AES-256-GCM and the keys of RUNGATE_ENCRYPTION_KEY.
 *
 * A sealed text names its key by a digest, so a wrong key is told from a damaged text. `purpose` is authenticated with it: a secret that is
 * copied to another row or column can't be opened there. The first key seals, and every key opens, so that keys can be rotated.
 */
import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto"
import { Redacted, Result } from "effect"
import type { EncryptionKeys } from "./settings/readSettings.ts"

export type { EncryptionKeys } from "./settings/readSettings.ts"

const algorithm = "aes-256-gcm"
/** The lengths that NIST SP 800-38D recommends for GCM. */
const nonceBytes = 12
const tagBytes = 16
const version = "v1"

/** Names a key without telling anything about it. */
const nameOf = (key: Uint8Array): string =>
  createHash("sha256").update("rungate encryption key\0").update(key).digest("base64url").slice(0, 8)

/** Whether a stored text is sealed. */
export const isSealed = (text: string): boolean => text.startsWith(`${version}.`)

/** Null without a key. */
export const seal = (keys: EncryptionKeys, purpose: string, secret: string): string | null => {
  const [first] = keys
  if (first === undefined) return null
  const key = Redacted.value(first)
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv(algorithm, key, nonce).setAAD(Buffer.from(purpose))
  const sealed = Buffer.concat([cipher.update(secret, "utf8"), cipher.final(), cipher.getAuthTag()])
  return [version, nameOf(key), nonce.toString("base64url"), sealed.toString("base64url")].join(".")
}

/** Whether the first key sealed it. Otherwise it should be sealed again, after a rotation. */
export const isSealedByFirst = ([first]: EncryptionKeys, sealed: string): boolean =>
  first !== undefined && sealed.split(".")[1] === nameOf(Redacted.value(first))

/** How texts begin that the first key has sealed. Null without a key. */
export const sealedBegin = ([first]: EncryptionKeys): string | null =>
  first === undefined ? null : `${version}.${nameOf(Redacted.value(first))}.`

/** Why a sealed text can't be opened. */
export type Unopened = "no_key" | "damaged"

export const open = (
  keys: EncryptionKeys,
  purpose: string,
  sealed: string
): Result.Result<Redacted.Redacted, Unopened> => {
  const [form, name, nonce, text] = sealed.split(".")
  if (form !== version || nonce === undefined || text === undefined) return Result.fail("damaged")
  const key = keys.find((one) => nameOf(Redacted.value(one)) === name)
  if (key === undefined) return Result.fail("no_key")
  const bytes = Buffer.from(text, "base64url")
  if (bytes.length < tagBytes) return Result.fail("damaged")
  return Result.try({
    try: () => {
      const decipher = createDecipheriv(algorithm, Redacted.value(key), Buffer.from(nonce, "base64url"))
      decipher.setAAD(Buffer.from(purpose)).setAuthTag(bytes.subarray(-tagBytes))
      const plain = Buffer.concat([decipher.update(bytes.subarray(0, -tagBytes)), decipher.final()])
      return Redacted.make(plain.toString("utf8"))
    },
    catch: (): Unopened => "damaged"
  })
}

/** Seals a secret again with the first key, or one that is stored as it is. Null if none of the keys opens it. */
export const sealedAgain = (keys: EncryptionKeys, purpose: string, stored: string): string | null => {
  const opened = isSealed(stored) ? open(keys, purpose, stored) : Result.succeed(Redacted.make(stored))
  return Result.isSuccess(opened) ? seal(keys, purpose, Redacted.value(opened.success)) : null
}
