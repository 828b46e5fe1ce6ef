/**
 * What an endpoint does, as far as it matters for API keys with a scope (`allow`).
 *
 * Requests with GET only read. Every other endpoint changes something, unless its contract says what else it does:
 * `.annotate(ScopedKeys, "reads")`. So a new endpoint is closed to such keys until somebody decides about it.
 */
import { Context } from "effect"

/**
 * - `reads`: changes nothing.
 * - `runs`: starts runs; admission checks each of them against the scope, and quotes as well.
 * - `stops`: cancels a run. Closed to read-only keys.
 * - `mints`: gives an allowance. Open to keys with `allow.mint`.
 * - `own`: changes the calling key only, for the worse.
 * - `changes`: changes the organization. Closed to keys with a scope.
 */
export type ScopedUse = "reads" | "runs" | "stops" | "mints" | "own" | "changes"

export const ScopedKeys = Context.Reference<ScopedUse>("rungate/http/api/shapes/ScopedKeys", {
  defaultValue: () => "changes"
})
