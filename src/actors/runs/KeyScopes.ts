/**
 * Checks a run against the scope of its API key.
 *
 * A process may have the scope in a cache. Admission stores a run only if the key still has the version that was checked here, and a
 * refusal is checked again with the key as it is now. So a change of a key holds for the next run in every process.
 */
import { Effect } from "effect"
import type { Accounts } from "../../layers/accounts/Accounts.ts"
import {
  allowsProvider,
  capOf,
  type KeyAccess,
  pinnedLabels,
  type ScopedRun,
  scopeRefusal
} from "../../schema/accounts/KeyAccess.ts"
import { type Detail, problem, type ProblemOf } from "../../schema/Errors.ts"
import type { Metadata } from "../../schema/runs/Metadata.ts"
import { type MicroUsd, usd } from "../../schema/money/Money.ts"
import type { Route } from "../../schema/runs/Routing.ts"

/** Changes of a key during one admission. More are a bug. */
const changesMax = 5

/** The key was changed while the run was admitted. Nothing was stored. */
export interface KeyChanged {
  readonly keyChanged: true
}
export const keyChanged: KeyChanged = { keyChanged: true }

type Denied = ProblemOf<"forbidden">

export const revoked = problem("unauthorized", "This API key was revoked or has expired. Create a new one.")

/** `run_id` is null if the caller does not see the run. */
export const usedFor = (run_id: string | null) =>
  problem(
    "idempotency_key_reused",
    run_id === null
      ? "This Idempotency-Key was used by another key of the organization. Use a new key for a new request."
      : `This Idempotency-Key was used for ${run_id} with a different request body. Use a new key for a new request.`
  )

const forbidden = (message: string, details: ReadonlyArray<Detail> = []): Denied =>
  problem("forbidden", `${message} Nothing was run. A person can change what the key allows.`, details)

/** Fails if the scope forbids the run. */
export const checkScope = (access: KeyAccess | null, run: ScopedRun): Effect.Effect<void, Denied> => {
  const refusal = scopeRefusal(access?.allow ?? null, run)
  return refusal === null ? Effect.void : Effect.fail(forbidden(refusal))
}

/** The request with the labels that its key gives every run. Fails if it has another value for one. */
export const withPins = <R extends { readonly access: KeyAccess | null; readonly metadata: Metadata | null }>(
  request: R
): Effect.Effect<R, Denied> => {
  const pinned = pinnedLabels(request.access?.allow ?? null, request.metadata)
  if ("refusal" in pinned) return Effect.fail(forbidden(pinned.refusal))
  return Effect.succeed(pinned.metadata === request.metadata ? request : { ...request, metadata: pinned.metadata })
}

/** Keeps the candidates that the key may call. Fails if there is none left. */
export const allowedCandidates = <C extends { readonly provider: string }>(
  access: KeyAccess | null,
  capability: string,
  candidates: ReadonlyArray<C>
): Effect.Effect<ReadonlyArray<C>, Denied> => {
  const allow = access?.allow ?? null
  if (allow?.providers === undefined) return Effect.succeed(candidates)
  const allowed = candidates.filter(({ provider }) => allowsProvider(allow, provider))
  if (allowed.length > 0) return Effect.succeed(allowed)
  const serving = candidates.map(({ provider }) => provider).join(", ")
  return Effect.fail(
    forbidden(
      `${capability} is served by ${serving}, and this API key may call none of them. It can call: ${allow.providers.join(", ") || "none"} (allow.providers).`
    )
  )
}

/** The cap under which a run is planned. */
export const capFor = (access: KeyAccess | null, max_cost: MicroUsd | null): MicroUsd | null =>
  capOf(access?.allow ?? null, max_cost)

const tooDear = (cap: MicroUsd, details: ReadonlyArray<Detail>): Denied =>
  forbidden(
    `This run costs more than the $${usd(cap)} that this API key may spend on a run (allow.max_cost).`,
    details.flatMap((one) => (one.path === "routing.max_cost" ? [{ ...one, path: "allow.max_cost" }] : []))
  )

/** The refusal of a run that no provider serves under the key's own cap. Null if that cap is not the reason. */
export const aboveKeyCap = (
  access: KeyAccess | null,
  maxCost: MicroUsd | null,
  { excluded }: Pick<Route, "excluded">
): Denied | null => {
  const cap = capFor(access, maxCost)
  if (maxCost !== null || cap === null || !excluded.some(({ reason }) => reason === "max_cost")) return null
  const details = excluded.map(({ provider, quote }) => ({
    path: "routing.max_cost",
    message: `${provider} costs up to $${quote}`
  }))
  return tooDear(cap, details)
}

/** As a refusal of the key's scope, if it is about a cap that the request did not set. */
export const ofKeyCap = <E extends ProblemOf<"invalid_request" | "endpoint_not_found" | "provider_not_available">>(
  access: KeyAccess | null,
  maxCost: MicroUsd | null,
  refusal: E
): E | Denied => {
  const cap = capFor(access, maxCost)
  const details = refusal.error.details ?? []
  return maxCost === null && cap !== null && details.some(({ path }) => path === "routing.max_cost")
    ? tooDear(cap, details)
    : refusal
}

/** Who asks, and with which version of the key. */
interface WithKey {
  readonly org_id: string
  readonly key_id: string | null
  readonly access: KeyAccess | null
  /** A row of a batch came with no token. */
  readonly batch?: unknown
}

/** Submits, and again with the key as it is now when the key was changed meanwhile. */
export const withCurrentKey =
  (accounts: Accounts["Service"]) =>
  <
    R extends WithKey,
    A,
    E extends ProblemOf<"invalid_request" | "forbidden" | "unauthorized"> | { readonly error: object }
  >(
    request: R,
    submit: (request: R) => Effect.Effect<A, E | Denied | KeyChanged>,
    changes = 0
  ): Effect.Effect<A, E | Denied | typeof revoked> =>
    Effect.matchEffect(submit(request), {
      onSuccess: Effect.succeed,
      onFailure: (refusal) => {
        const wasChanged = "keyChanged" in refusal
        const { org_id, key_id, access, batch } = request
        if (key_id === null || access === null)
          return wasChanged ? Effect.die(new Error("a session has no key that changes")) : Effect.fail(refusal)
        if (!wasChanged && !("code" in refusal.error && refusal.error.code === "forbidden")) return Effect.fail(refusal)
        return Effect.flatMap(accounts.access(org_id, key_id), (current) => {
          if (current === null || (batch === undefined && current.token_hash !== access.token_hash))
            return Effect.fail(revoked)
          if (current.version === access.version && !wasChanged) return Effect.fail(refusal)
          if (changes >= changesMax)
            return Effect.die(new Error(`${key_id} was changed ${changes} times in one admission`))
          return withCurrentKey(accounts)({ ...request, access: current }, submit, changes + 1)
        })
      }
    })
