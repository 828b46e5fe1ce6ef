/** Removes values that look like credentials from published examples. */
import { isJsonObject, type Json } from "../kit/json.ts"

const secretNames =
  /(^|[_\-.])(password|passwd|secret|client_?secret|api_?key|access_?token|auth_?token|refresh_?token|bearer|private_?key|authorization|credentials?)s?$/i
const camelNames = /(Password|Secret|ApiKey|AccessToken|AuthToken|RefreshToken|PrivateKey)$/

const secretValues = [
  /\b(sk|pk|rk|whsec|ghp|gho|ghs|xox[abeoprs]|tvly|re|fc|am|lm)[_-](live_|test_|proj-)?[A-Za-z0-9-]{16,}/,
  /\bxox[abeoprs]-[\w-]{8,}/,
  /\bAKIA[0-9A-Z]{16}\b/,
  /\beyJ[\w-]{8,}\.[\w-]{8,}/,
  /-----BEGIN /,
  /^(Bearer|Basic) \S{8,}/i
]

const placeholder = "your-secret"

/** Values are cut before they are searched. */
const looksSecret = (text: string): boolean => secretValues.some((pattern) => pattern.test(text.slice(0, 2_000)))

/** The same value with secrets replaced; whether the result still fits its schema is for the caller to check. */
export const withoutSecrets = (value: Json, name = ""): Json => {
  if (typeof value === "string") {
    const named = name.length < 100 && (secretNames.test(name) || camelNames.test(name))
    return looksSecret(value) || (named && value.length > 0) ? placeholder : value
  }
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, name))
  if (!isJsonObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, withoutSecrets(child, key)]))
}
