/**
 * How signing secrets of webhooks are stored: encrypted with the first key of RUNGATE_ENCRYPTION_KEY, or as they are without a key. An
 * encrypted secret can be opened only for its endpoint.
 */
import { Redacted, Result } from "effect"
import { type EncryptionKeys, isSealed, open, seal } from "../platform/Encryption.ts"

export const purposeOf = (endpoint_id: string) => `webhook secret of ${endpoint_id}`

export const storedSecret = (keys: EncryptionKeys, endpoint_id: string, secret: string): string =>
  seal(keys, purposeOf(endpoint_id), secret) ?? secret

/** Null if none of the keys opens it. */
export const openedSecret = (keys: EncryptionKeys, endpoint_id: string, stored: string): string | null => {
  if (!isSealed(stored)) return stored
  const opened = open(keys, purposeOf(endpoint_id), stored)
  return Result.isSuccess(opened) ? Redacted.value(opened.success) : null
}
