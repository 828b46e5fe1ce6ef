/** A digest of a request body that ignores the order of fields. Two requests with one Idempotency-Key must have the same digest. */
import type { RunRequest } from "../api/Runs.ts"

const canonical = (value: unknown): unknown => {
  if (typeof value === "bigint") return String(value)
  if (Array.isArray(value)) return value.map(canonical)
  if (typeof value !== "object" || value === null) return value
  const sorted = Object.entries(value)
    .filter(([, child]) => child !== null && child !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return sorted.map(([key, child]) => [key, canonical(child)])
}

export const digestOf = (content: unknown): string =>
  new Bun.CryptoHasher("sha256").update(JSON.stringify(canonical(content))).digest("hex")

/** `wait_seconds` and `async` are left out: they change how long the client waits, not what the run does. */
export const fingerprintOf = ({ wait_seconds: _wait, async: _async, ...content }: RunRequest): string =>
  digestOf(content)
