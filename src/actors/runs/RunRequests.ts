/** What a caller asks to be run: a capability or a raw endpoint, by whom, and under which limits. */
import type { AcceptRequest } from "../../schema/catalog/Acceptance.ts"
import type { KeyAccess } from "../../schema/accounts/KeyAccess.ts"
import type { ReuseRequest } from "../../schema/guards/Reuse.ts"
import type * as Money from "../../schema/money/Money.ts"
import type { Metadata } from "../../schema/runs/Metadata.ts"
import type { RoutingRequest } from "../../schema/runs/Routing.ts"

/** The caller, its idempotency key, and how long it waits. */
export interface RunCaller {
  readonly org_id: string
  readonly key_id: string | null
  /** The member whose session it is. Absent for an API key and for a batch. */
  readonly user_id?: string | null
  /** The rules of the API key, perhaps from a cache. Null for a session. */
  readonly access: KeyAccess | null
  readonly request_id: string
  readonly idempotency_key: string | null
  readonly fingerprint: string
  readonly wait_millis: number
  /** The caller's labels; null when there are none. */
  readonly metadata: Metadata | null
  readonly trace?: string | null
  /** What the run may take from earlier ones. */
  readonly reuse?: ReuseRequest | null
  readonly batch?: BatchBudget
}

/** The budget of a batch, and that of the API key which it belongs to. A run counts in both. */
export interface BatchBudget {
  readonly budget_id: string
  readonly parent_id: string | null
}

export interface CapabilityRequest extends RunCaller {
  readonly capability: string
  readonly input: unknown
  readonly routing: RoutingRequest
  readonly include_raw: boolean
  readonly accept?: AcceptRequest | null
  /** For a capability that contacts people. Null without. */
  readonly unless_contacted_within_seconds?: number | null
}

export interface EndpointRequest extends RunCaller {
  readonly provider: string
  readonly endpoint: string
  readonly method: string | null
  readonly path: Readonly<Record<string, unknown>>
  readonly query: Readonly<Record<string, unknown>>
  readonly input: unknown
  /** The input exactly as the caller wrote it. The provider receives this text. */
  readonly input_text: string
  readonly max_cost: Money.MicroUsd | null
  readonly max_total?: Money.MicroUsd | null
}

/** A run request of either form. */
export type PlanRequest =
  | { readonly _tag: "Capability"; readonly request: CapabilityRequest }
  | { readonly _tag: "Endpoint"; readonly request: EndpointRequest }

/** The member of a plan that says who started the run in a session, for the rule that nobody approves the own run. */
export const startedBy = ({ user_id = null, access }: RunCaller) => ({
  ...(user_id === null ? {} : { by: user_id }),
  ...(access?.given_by === undefined ? {} : { given_by: access.given_by })
})
