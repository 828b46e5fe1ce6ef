/** A digest of a request body that ignores the order of fields. Two requests with one Idempotency-Key must have the same digest. */
import { canonicalJson } from "../../schema/json/CanonicalJson.ts"
import type { RunRequest } from "../api/Runs.ts"

export const digestOf = (content: unknown): string =>
  new Bun.CryptoHasher("sha256").update(JSON.stringify(canonicalJson(content))).digest("hex")

/** `wait_seconds` and `async` are left out: they change how long the client waits, not what the run does. */
export const fingerprintOf = ({ wait_seconds: _wait, async: _async, ...content }: RunRequest): string =>
  digestOf(content)
