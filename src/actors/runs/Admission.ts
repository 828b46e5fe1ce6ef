/**
 * Admits runs: routes and quotes a request, stores the run durably, and waits for its end.
 *
 * Invalid requests are refused before a run exists. An admitted run continues to its end even if the client hangs up.
 */
import { Context, Effect, Layer } from "effect"
import { Marketplace } from "../../layers/catalog/Marketplace.ts"
import { Breakers } from "../../layers/executor/Breakers.ts"
import { ProviderCredits } from "../../layers/executor/ProviderCredits.ts"
import { Catalog } from "../../layers/catalog/Catalog.ts"
import { catalogVersion } from "../../layers/catalog/CatalogVersion.ts"
import { crashPoint } from "../../layers/platform/CrashPoint.ts"
import { GuardStore } from "../../layers/guards/GuardStore.ts"
import { HistoryStore } from "../../layers/history/HistoryStore.ts"
import { Endpoints } from "../../layers/catalog/Endpoints.ts"
import { CostDrifts } from "../../layers/executor/CostDrifts.ts"
import { Health } from "../../layers/executor/Health.ts"
import { Accounts } from "../../layers/accounts/Accounts.ts"
import { newId } from "../../layers/platform/Ids.ts"
import { OwnAccounts } from "../../layers/provideraccounts/OwnAccounts.ts"
import { Ownership } from "../../layers/runs/Ownership.ts"
import { RunStore } from "../../layers/runs/RunStore.ts"
import { type NewRun, admittedRow } from "../../layers/runs/NewRuns.ts"
import { watchDisk } from "../../layers/postgres/embedded/DiskSpace.ts"
import { Settings } from "../../layers/platform/Settings.ts"
import { seesRunsOf } from "../../schema/accounts/KeyAccess.ts"
import { planned as plannedAccept } from "../../schema/catalog/Acceptance.ts"
import { contactsPeople } from "../../schema/guards/ContactGuard.ts"
import { inputHashOf } from "../../schema/guards/InputHash.ts"
import { isReuse, plannedReuse } from "../../schema/guards/Reuse.ts"
import { problem, type ProblemOf, refusedWith } from "../../schema/Errors.ts"
import { markedUp, type Plan, totalOf } from "../../schema/runs/Plan.ts"
import { ownedBy } from "../../schema/accounts/OwnAccount.ts"
import { storedMetadata } from "../../schema/runs/Metadata.ts"
import { ownOffers, priceInPlan } from "../../schema/runs/Routing.ts"
import { storageFull } from "../../schema/wallet/FreeStorage.ts"
import { seenOf } from "../../schema/runs/Seen.ts"
import { contactsOf, guardedPlans, reusableRaw } from "../guards/GuardedPlans.ts"
import { DirectCommands } from "../mailbox/DirectCommands.ts"
import { Lanes } from "../mailbox/Lanes.ts"
import { type CapabilityRoute, capabilityRoute } from "./CapabilityRoute.ts"
import { capFor, checkScope, type KeyChanged, keyChanged, ofKeyCap, revoked } from "./KeyScopes.ts"
import { usedFor, withCurrentKey, withPins } from "./KeyScopes.ts"
import { actsOutside, type RawRoute, rawRoute, rawRun } from "./RawRoute.ts"
import {
  type CapabilityRequest,
  type EndpointRequest,
  type PlanRequest,
  type RunCaller,
  startedBy
} from "./RunRequests.ts"
import { PendingRun, type Submitted, type ToEnd, toEndOf } from "../mailbox/PendingRun.ts"
import { diskIsFull, isMoving } from "./Unavailable.ts"
import type { Place } from "../mailbox/Places.ts"
import { Waiters } from "../mailbox/Waiters.ts"
import { isFinalRow, type RunRow } from "../../schema/nouns/Run.ts"

/** The worker that executes the run continues the trace of its request, a `traceparent`. Without one, the run is as it was. */
const traced = <E>(prepared: Effect.Effect<NewRun, E>, trace: string | null | undefined) =>
  trace === undefined || trace === null
    ? prepared
    : Effect.map(prepared, (run): NewRun => ({ ...run, plan: { ...run.plan, trace } }))

const movedBudget = problem("rate_limited", "The budget of this API key was replaced meanwhile. Try again.")

/** The run, which counts against the batch's budget. Fails if the key got another budget since that one was made. */
const ofBatch = (run: NewRun, { access, batch }: RunCaller) => {
  if (batch === undefined) return Effect.succeed(run)
  return batch.parent_id === (access?.budget_id ?? null)
    ? Effect.succeed({ ...run, budget_id: batch.budget_id })
    : Effect.fail(movedBudget)
}

/** A run that was planned and not admitted: what it would call and hold. */
export type Planned =
  | { readonly _tag: "Capability"; readonly run: NewRun; readonly route: CapabilityRoute }
  | { readonly _tag: "Endpoint"; readonly run: NewRun; readonly route: RawRoute }

/** The errors of a request for which no run can be planned. */
export type Unplannable = ProblemOf<
  "invalid_request" | "capability_not_found" | "endpoint_not_found" | "provider_not_available" | "forbidden"
>

export type Refused =
  | Unplannable
  | ProblemOf<"idempotency_key_reused" | "unauthorized" | "rate_limited" | "service_unavailable">

type Entering = Effect.Effect<Submitted | PendingRun, Refused | KeyChanged>

export class Admission extends Context.Service<
  Admission,
  {
    /** Plans a run as `submit` does, and changes nothing. It calls no provider and no marketplace. */
    readonly plan: (request: PlanRequest) => Effect.Effect<Planned, Unplannable>
    /** Stores a run, and waits for its end as long as the request says. */
    readonly submit: (request: PlanRequest) => Effect.Effect<Submitted, Refused>
    /** Waits at most `millis` for the run's end. Null for an unknown run and another organization's. */
    readonly watch: (org_id: string, run_id: string, millis: number) => Effect.Effect<RunRow | null>
    /** Stores a run. Its end is waited for in `toEnd`, whose `place` is registered for the run before it is stored. */
    readonly begin: (request: PlanRequest, place: Place) => Effect.Effect<Submitted | PendingRun, Refused>
    /** Reads a stored run, as `begin` stores a new one. Null for an unknown run and another organization's. */
    readonly beginWatch: (
      org_id: string,
      run_id: string,
      millis: number,
      place: Place
    ) => Effect.Effect<Submitted | PendingRun | null>
    readonly toEnd: ToEnd
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
      const credits = yield* ProviderCredits
      const drifts = yield* CostDrifts
      const ownership = yield* Ownership
      const ownAccounts = yield* OwnAccounts
      const store = yield* RunStore
      const lanes = yield* Lanes
      const direct = yield* DirectCommands
      const settings = yield* Settings
      const lacksRoom = yield* watchDisk
      const withKey = withCurrentKey(yield* Accounts)

      /** Reads the run after the wait, and after a timeout too: it may have started meanwhile. */
      const reread = ({ org_id, run_id }: RunRow) =>
        Effect.flatMap(store.find(org_id, run_id), (row) =>
          row === null ? Effect.die(new Error("a run that was there is not found")) : Effect.succeed(row)
        )
      const toEnd = toEndOf(yield* Waiters, reread)
      const begun = (run: RunRow, replayed: boolean, millis: number, place: Place) =>
        isFinalRow(run) || millis <= 0 || (replayed && run.approval !== null)
          ? { run, replayed }
          : new PendingRun(run, replayed, millis, place)

      const beginWatch = (org_id: string, run_id: string, millis: number, place: Place, replayed = false) =>
        Effect.suspend(() => {
          if (millis > 0) place.at(run_id)
          return Effect.map(store.find(org_id, run_id), (run) =>
            run === null ? null : begun(run, replayed, millis, place)
          )
        })

      const watch = (org_id: string, run_id: string, millis: number) =>
        Effect.map(
          toEnd<Submitted | null, never>(
            (place) => beginWatch(org_id, run_id, millis, place),
            (ended) => ended
          ),
          (one) => one?.run ?? null
        )

      const planOf = (request: CapabilityRequest, planned: CapabilityRoute): Plan => {
        const { entry, input, demand, considered, chosen, routing } = planned
        // Without the cost drifts of this process, which are in the prices.
        const listed = catalog.find(request.capability) ?? entry
        return {
          providers: chosen.candidates.map((one) => one.provider),
          attempts_max: chosen.attempts_max,
          routing: chosen.routing,
          include_raw: request.include_raw,
          ...(request.routing.strategy === "highest_success_rate" ? { conclusive: true } : {}),
          side_effect: entry.capability.side_effect,
          prices: chosen.candidates.map((one) => priceInPlan(one, demand)),
          ...ownedBy(ownOffers(chosen.candidates)),
          ...markedUp(settings.markup),
          ...contactsOf(request.capability, request.unless_contacted_within_seconds ?? null, input),
          ...plannedAccept(routing.accept),
          ...plannedReuse(request.reuse, request.access),
          ...startedBy(request),
          excluded: chosen.excluded,
          ...totalOf(
            request.routing.max_total ?? null,
            chosen.candidates.map((one) => one.failover ?? one.quote),
            chosen.over_total
          ),
          seen: {
            ...seenOf(catalogVersion(listed), routing, considered, chosen),
            ...(routing.max_cost === request.routing.max_cost ? {} : { key_cap: true as const })
          }
        }
      }

      /** Plans of choices, for requests of which nothing else is in the plan. */
      const plans = new WeakMap<CapabilityRoute["chosen"], Plan>()

      const newRun = (request: CapabilityRequest, planned: CapabilityRoute): NewRun => {
        const { input, chosen, routing } = planned
        const isPlain =
          !request.include_raw &&
          !isReuse(request.reuse) &&
          (routing.accept ?? null) === null &&
          !contactsPeople(request.capability) &&
          Object.keys(startedBy(request)).length === 0 &&
          routing.max_cost === request.routing.max_cost
        const plan = (isPlain ? plans.get(chosen) : undefined) ?? planOf(request, planned)
        if (isPlain) plans.set(chosen, plan)
        return {
          run_id: newId("run"),
          org_id: request.org_id,
          key_id: request.key_id,
          key_version: request.access?.version ?? null,
          budget_id: request.access?.budget_id ?? null,
          input_hash: inputHashOf(
            {
              capability: request.capability,
              ...(request.include_raw ? { include_raw: true } : {}),
              ...plannedAccept(routing.accept)
            },
            input
          ),
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

      const replay = ({ org_id, access, wait_millis }: RunCaller, run_id: string, place: Place) =>
        Effect.flatMap(beginWatch(org_id, run_id, wait_millis, place, true), (one) => {
          if (one === null) return Effect.die(new Error("an admitted run was not found"))
          return seesRunsOf(access, one.run.key_id) ? Effect.succeed(one) : Effect.fail(usedFor(null))
        })

      const enter = Effect.fnUntraced(function* (request: RunCaller, run: NewRun, place: Place) {
        const admit = Effect.uninterruptible(
          Effect.gen(function* () {
            yield* crashPoint("admit.before")
            // A run that may take another one's result is stored first, so that it can wait for it.
            const created_at = run.plan.reuse === undefined ? yield* direct.apply({ _tag: "Reserve", run }) : null
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
        // Before the run is stored, so that its end is not missed.
        if (request.wait_millis > 0) place.at(run.run_id)
        const admitted = yield* admit
        if (admitted._tag === "Admitted") {
          const row = admittedRow(run, admitted.created_at)
          // The state is read for a client that does not wait: the run may have started, or ended, by now.
          const current = request.wait_millis > 0 ? row : yield* reread(row)
          return begun(current, false, request.wait_millis, place)
        }
        if (admitted._tag === "Full") {
          return yield* refusedWith(
            "rate_limited",
            `This organization has ${admitted.most} open runs, which is its limit. Wait until some have ended, or ask the operator to raise RUNGATE_ORG_QUEUE.`
          )
        }
        if (admitted._tag === "Moving") return yield* Effect.fail(isMoving)
        if (admitted._tag === "StorageFull") return yield* Effect.fail(storageFull(admitted.limit))
        if (admitted._tag === "Revoked") return yield* Effect.fail(revoked)
        if (admitted._tag === "KeyChanged") return yield* Effect.fail(keyChanged)
        const replayed = yield* replay(request, admitted.run_id, place)
        return admitted.fingerprint === request.fingerprint ? replayed : yield* Effect.fail(usedFor(admitted.run_id))
      })

      /**
       * Returns the run of a repeated request even if a new run would be refused now, for example because a price rose above its cap
       * or an endpoint was removed.
       */
      const orItsRun = (request: RunCaller, prepared: Effect.Effect<NewRun, Refused>, place: Place): Entering =>
        Effect.matchEffect(traced(lacksRoom() ? Effect.fail(diskIsFull) : prepared, request.trace), {
          onSuccess: (run) =>
            request.batch === undefined
              ? enter(request, run, place)
              : Effect.flatMap(ofBatch(run, request), (one) => enter(request, one, place)),
          onFailure: (refusal) =>
            Effect.flatMap(store.begun(request), (run_id) =>
              run_id === null ? Effect.fail(refusal) : replay(request, run_id, place)
            )
        })

      const { ownAccountFee } = settings
      const context = { catalog, health, breakers, credits, drifts, ownership, ownAccounts, ownAccountFee }
      const plan = (request: CapabilityRequest) =>
        Effect.map(capabilityRoute(context, request), (route) => ({
          _tag: "Capability" as const,
          run: newRun(request, route),
          route
        }))
      const planRaw = Effect.fnUntraced(function* (request: EndpointRequest, load: "new" | "stored") {
        const { access, provider, max_cost } = request
        const call = { capability: null, provider, max_cost }
        yield* checkScope(access, { ...call, acts: false })
        const capped = { ...request, max_cost: capFor(access, max_cost) }
        const route = yield* Effect.mapError(
          rawRoute({ endpoints, actors, breakers, credits, drifts, ownership, ownAccounts }, settings, capped, load),
          (refusal) => ofKeyCap(access, max_cost, refusal)
        )
        yield* checkScope(access, { ...call, acts: actsOutside(route.endpoint) })
        if (isReuse(request.reuse) && actsOutside(route.endpoint))
          yield* reusableRaw(endpoints, catalog, route.provider.slug, route.endpoint)
        yield* route.owned
        return { _tag: "Endpoint" as const, run: rawRun({ ...route.request, max_cost }, newId("run"), route), route }
      })
      const guarded = guardedPlans(yield* HistoryStore, yield* GuardStore, catalog.sandbox)
      const newRaw = (one: EndpointRequest) => Effect.flatMap(planRaw(one, "new"), ({ run }) => guarded.withTies(run))

      const begin = (order: PlanRequest, place: Place) =>
        order._tag === "Endpoint"
          ? withKey(order.request, (request) =>
              Effect.flatMap(withPins(request), (one) => orItsRun(one, newRaw(one), place))
            )
          : withKey(order.request, (request) =>
              Effect.flatMap(withPins(request), (one) =>
                orItsRun(one, Effect.flatMap(plan(one), guarded.completed), place)
              )
            )

      return Admission.of({
        plan: (order) =>
          order._tag === "Endpoint"
            ? Effect.flatMap(withPins(order.request), (one) => planRaw(one, "stored"))
            : Effect.flatMap(Effect.flatMap(withPins(order.request), plan), guarded.withReusable),
        submit: (order) =>
          toEnd<Submitted, Refused>(
            (place) => begin(order, place),
            (ended) => ended
          ),
        watch,
        begin,
        beginWatch: (org_id, run_id, millis, place) => beginWatch(org_id, run_id, millis, place),
        toEnd
      })
    })
  )
}
