/**
 * Admits runs: routes and quotes a request, stores the run durably, and waits for its end.
 *
 * Invalid requests are refused before a run exists. An admitted run continues to its end even if the client hangs up.
 */
import { Context, Effect, Layer } from "effect"
import { Marketplace } from "../../layers/catalog/Marketplace.ts"
import { Breakers } from "../../layers/executor/Breakers.ts"
import { Catalog } from "../../layers/catalog/Catalog.ts"
import { crashPoint } from "../../layers/platform/CrashPoint.ts"
import { Endpoints } from "../../layers/catalog/Endpoints.ts"
import { CostDrifts } from "../../layers/executor/CostDrifts.ts"
import { Health } from "../../layers/executor/Health.ts"
import { Accounts } from "../../layers/accounts/Accounts.ts"
import { newId } from "../../layers/platform/Ids.ts"
import { Ownership } from "../../layers/runs/Ownership.ts"
import { type Admission as Admitted, type NewRun, type RunRow, RunStore } from "../../layers/runs/RunStore.ts"
import { Settings } from "../../layers/platform/Settings.ts"
import type { KeyAccess } from "../../schema/accounts/KeyAccess.ts"
import { problem, type ProblemOf } from "../../schema/Errors.ts"
import type * as Money from "../../schema/money/Money.ts"
import { markedUp, type Plan, totalOf } from "../../schema/runs/Plan.ts"
import { plannedPrice } from "../../schema/runs/PlannedPrice.ts"
import { type Metadata, storedMetadata } from "../../schema/runs/Metadata.ts"
import { isFinal, isRunStatus } from "../../schema/runs/Run.ts"
import type { RoutingRequest } from "../../schema/runs/Routing.ts"
import { DirectCommands } from "../mailbox/DirectCommands.ts"
import { Lanes } from "../mailbox/Lanes.ts"
import { type CapabilityRoute, capabilityRoute } from "./CapabilityRoute.ts"
import { committedRow } from "./CommittedRow.ts"
import { capFor, checkScope, type KeyChanged, keyChanged, ofKeyCap, revoked, withCurrentKey } from "./KeyScopes.ts"
import { ownedByRaw } from "./Owners.ts"
import { actsOutside, type RawRoute, rawRoute, rawRun } from "./RawRoute.ts"
import { Waiters } from "../mailbox/Waiters.ts"

/** The caller, its idempotency key, and how long it waits. */
export interface Asked {
  readonly org_id: string
  readonly key_id: string | null
  /** The rules of the API key, perhaps from a cache. Null for a session. */
  readonly access: KeyAccess | null
  readonly request_id: string
  readonly idempotency_key: string | null
  readonly fingerprint: string
  readonly wait_millis: number
  /** The caller's labels; null when there are none. */
  readonly metadata: Metadata | null
  /** Set for a row of a batch. */
  readonly batch?: BatchBudget
}

/** The budget of a batch, and that of the API key which it belongs to. A run counts in both. */
export interface BatchBudget {
  readonly budget_id: string
  readonly parent_id: string | null
}

const movedBudget = problem("rate_limited", "The budget of this API key was replaced meanwhile. Try again.")

/** The run, which counts against the batch's budget. Fails if the key got another budget since that one was made. */
const ofBatch = (run: NewRun, { access, batch }: Asked) => {
  if (batch === undefined) return Effect.succeed(run)
  return batch.parent_id === (access?.budget_id ?? null)
    ? Effect.succeed({ ...run, budget_id: batch.budget_id })
    : Effect.fail(movedBudget)
}

export interface CapabilityRequest extends Asked {
  readonly capability: string
  readonly input: unknown
  readonly routing: RoutingRequest
  readonly include_raw: boolean
}

export interface EndpointRequest extends Asked {
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

/** A run that was planned and not admitted: what it would call and hold. */
export type Planned =
  | { readonly _tag: "Capability"; readonly run: NewRun; readonly route: CapabilityRoute }
  | { readonly _tag: "Endpoint"; readonly run: NewRun; readonly route: RawRoute }

export interface Submitted {
  readonly run: RunRow
  readonly replayed: boolean
}

/** The errors of a request for which no run can be planned. */
export type Unplannable = ProblemOf<
  "invalid_request" | "capability_not_found" | "endpoint_not_found" | "provider_not_available" | "forbidden"
>

export type Refused = Unplannable | ProblemOf<"idempotency_key_reused" | "unauthorized" | "rate_limited">

type Entering = Effect.Effect<Submitted, Refused | KeyChanged>

export const isFinalRow = (run: RunRow): boolean => isRunStatus(run.status) && isFinal(run.status)

export class Admission extends Context.Service<
  Admission,
  {
    /** Plans a run as `submit` does, and changes nothing. It calls no provider and no marketplace. */
    readonly plan: (request: PlanRequest) => Effect.Effect<Planned, Unplannable>
    readonly submit: (request: CapabilityRequest) => Effect.Effect<Submitted, Refused>
    /** A raw run: one provider's own endpoint, with its own request. */
    readonly submitRaw: (request: EndpointRequest) => Effect.Effect<Submitted, Refused>
    /** Waits at most `millis` for the run's end. Null for an unknown run and another organization's. */
    readonly watch: (org_id: string, run_id: string, millis: number) => Effect.Effect<RunRow | null>
  }
>()("rungate/actors/runs/Admission") {
  static readonly layer = Layer.effect(
    Admission,
    Effect.gen(function* () {
      const catalog = yield* Catalog
      const endpoints = yield* Endpoints
      const actors = yield* Marketplace
      const health = yield* Health
      const breakers = yield* Breakers
      const drifts = yield* CostDrifts
      const ownership = yield* Ownership
      const store = yield* RunStore
      const lanes = yield* Lanes
      const direct = yield* DirectCommands
      const waiters = yield* Waiters
      const settings = yield* Settings
      const withKey = withCurrentKey(yield* Accounts)

      const watch = Effect.fnUntraced(function* (org_id: string, run_id: string, millis: number) {
        const { answer, signalled } = yield* waiters.waitFor(
          run_id,
          millis,
          store.find(org_id, run_id),
          (run) => run === null || isFinalRow(run)
        )
        // Also read again after a timeout: the run may have started meanwhile.
        const waited = signalled || (millis > 0 && answer !== null && !isFinalRow(answer))
        return waited ? yield* store.find(org_id, run_id) : answer
      })

      const newRun = (request: CapabilityRequest, { entry, input, demand, chosen }: CapabilityRoute): NewRun => {
        const plan: Plan = {
          providers: chosen.candidates.map((one) => one.provider),
          attempts_max: chosen.attempts_max,
          routing: chosen.routing,
          include_raw: request.include_raw,
          ...(request.routing.strategy === "highest_success_rate" ? { conclusive: true } : {}),
          side_effect: entry.capability.side_effect,
          prices: chosen.candidates.map((one) => plannedPrice(one.offer.price, demand)),
          ...markedUp(settings.markup),
          excluded: chosen.excluded,
          ...totalOf(
            request.routing.max_total ?? null,
            chosen.candidates.map((one) => one.quote),
            chosen.over_total
          )
        }
        return {
          run_id: newId("run"),
          org_id: request.org_id,
          key_id: request.key_id,
          key_version: request.access?.version ?? null,
          budget_id: request.access?.budget_id ?? null,
          request_id: request.request_id,
          idempotency_key: request.idempotency_key,
          fingerprint: request.fingerprint,
          kind: "capability",
          capability: request.capability,
          endpoint: null,
          provider: plan.providers[0] ?? null,
          hold: chosen.hold,
          quoted: chosen.hold,
          input: JSON.stringify(input),
          plan,
          routing_reason: chosen.reason,
          metadata: storedMetadata(request.metadata)
        }
      }

      const found = (run: RunRow | null, replayed: boolean) =>
        run === null ? Effect.die(new Error("an admitted run was not found")) : Effect.succeed({ run, replayed })

      const replay = ({ org_id, wait_millis }: Asked, run_id: string) =>
        Effect.flatMap(watch(org_id, run_id, wait_millis), (row) => found(row, true))

      const enter = Effect.fnUntraced(function* (request: Asked, run: NewRun) {
        const admit = Effect.uninterruptible(
          Effect.gen(function* () {
            yield* crashPoint("admit.before")
            const created_at = yield* direct.apply({ _tag: "Reserve", run })
            if (created_at !== null) {
              yield* crashPoint("admit.after")
              return { _tag: "Admitted", created_at } as const
            }
            const admitted = yield* store.admit(run)
            yield* crashPoint("admit.after")
            if (admitted._tag === "Admitted") {
              direct.learn(run.org_id, admitted.lane)
              yield* lanes.wake(admitted.lane)
            }
            yield* crashPoint("wake.after")
            return admitted
          })
        )
        const isOver = (admitted: Pick<Admitted, "_tag">) => admitted._tag !== "Admitted"
        const { answer: admitted, end } = yield* waiters.waitFor(run.run_id, request.wait_millis, admit, isOver)
        if (admitted._tag === "Admitted") {
          if (end !== undefined) return { run: committedRow(run, admitted.created_at, end), replayed: false }
          return yield* Effect.flatMap(store.find(request.org_id, run.run_id), (row) => found(row, false))
        }
        if (admitted._tag === "Full") {
          return yield* Effect.fail(
            problem(
              "rate_limited",
              `This organization has ${admitted.most} open runs, which is its limit. Wait until some have ended, or ask the operator to raise RUNGATE_ORG_QUEUE.`
            )
          )
        }
        if (admitted._tag === "Revoked") return yield* Effect.fail(revoked)
        if (admitted._tag === "KeyChanged") return yield* Effect.fail(keyChanged)
        if (admitted.fingerprint !== request.fingerprint) {
          return yield* Effect.fail(
            problem(
              "idempotency_key_reused",
              `This Idempotency-Key was used for ${admitted.run_id} with a different request body. Use a new key for a new request.`
            )
          )
        }
        return yield* replay(request, admitted.run_id)
      })

      /**
       * Returns the run of a repeated request even if a new run would be refused now, for example because a price rose above its cap
       * or an endpoint was removed.
       */
      const orItsRun = (request: Asked, prepared: Effect.Effect<NewRun, Refused>): Entering =>
        Effect.matchEffect(prepared, {
          onSuccess: (run) =>
            request.batch === undefined
              ? enter(request, run)
              : Effect.flatMap(ofBatch(run, request), (one) => enter(request, one)),
          onFailure: Effect.fnUntraced(function* (refusal) {
            const run_id = yield* store.begun(request)
            if (run_id === null) return yield* Effect.fail(refusal)
            return yield* replay(request, run_id)
          })
        })

      const context = { catalog, health, breakers, drifts, ownership }
      const plan = (request: CapabilityRequest) =>
        Effect.map(capabilityRoute(context, request), (route) => ({
          _tag: "Capability" as const,
          run: newRun(request, route),
          route
        }))
      const planRaw = Effect.fnUntraced(function* (request: EndpointRequest, load: "new" | "stored") {
        const { access, provider, max_cost } = request
        const asked = { capability: null, provider, max_cost }
        yield* checkScope(access, { ...asked, acts: false })
        const capped = { ...request, max_cost: capFor(access, max_cost) }
        const route = yield* Effect.mapError(
          rawRoute(endpoints, actors, breakers, drifts, settings, capped, load),
          (refusal) => ofKeyCap(access, max_cost, refusal)
        )
        yield* checkScope(access, { ...asked, acts: actsOutside(route.endpoint) })
        if (!catalog.sandbox) yield* ownedByRaw(ownership, route.provider.slug, route.endpoint, request)
        return { _tag: "Endpoint" as const, run: rawRun(request, newId("run"), route), route }
      })
      const runOf = ({ run }: Planned) => run

      return Admission.of({
        plan: (asked) => (asked._tag === "Endpoint" ? planRaw(asked.request, "stored") : plan(asked.request)),
        submit: (asked) => withKey(asked, (request) => orItsRun(request, Effect.map(plan(request), runOf))),
        submitRaw: (asked) =>
          withKey(asked, (request) => orItsRun(request, Effect.map(planRaw(request, "new"), runOf))),
        watch
      })
    })
  )
}
