/** Reads RUNGATE_ENCRYPTION_KEY: keys that encrypt secrets in the database. */
import { Redacted } from "effect"
import { type EncryptionKeys, keyBytes } from "./Encryption.ts"
import { listOf, type SettingsReader } from "./SettingsReader.ts"

const base64 = /^[A-Za-z0-9+/_-]+={0,2}$/

/** The first key encrypts. The others only decrypt what was encrypted before a rotation. */
export const encryptionKeysOf = (read: SettingsReader): EncryptionKeys => {
  const keys = listOf(read, "RUNGATE_ENCRYPTION_KEY").map((text) =>
    base64.test(text) ? new Uint8Array(Buffer.from(text, "base64")) : new Uint8Array()
  )
  if (!keys.every(({ length }) => length === keyBytes))
    read.problems.push(
      `RUNGATE_ENCRYPTION_KEY must be ${keyBytes} random bytes in Base64 (openssl rand -base64 ${keyBytes}); separate an earlier key with a comma`
    )
  return keys.map((key) => Redacted.make(key))
}
