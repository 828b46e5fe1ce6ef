/**
 * Admits runs: routes and quotes a request, stores the run durably, and waits for its end.
 *
 * Invalid requests are refused before a run exists. An admitted run continues to its end even if the client hangs up.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { Marketplace } from "../../layers/catalog/Marketplace.ts"
import { Breakers } from "../../layers/executor/Breakers.ts"
import { Catalog, type CatalogEntry } from "../../layers/catalog/Catalog.ts"
import { crashPoint } from "../../layers/platform/CrashPoint.ts"
import { Endpoints } from "../../layers/catalog/Endpoints.ts"
import { CostDrifts } from "../../layers/executor/CostDrifts.ts"
import { Health } from "../../layers/executor/Health.ts"
import { newId } from "../../layers/platform/Ids.ts"
import { Ownership } from "../../layers/runs/Ownership.ts"
import { type Admission as Admitted, type NewRun, type RunRow, RunStore } from "../../layers/runs/RunStore.ts"
import { Settings } from "../../layers/platform/Settings.ts"
import { problem, type ProblemOf } from "../../schema/Errors.ts"
import type * as Money from "../../schema/money/Money.ts"
import type { Demand } from "../../schema/money/Pricing.ts"
import { markedUp, type Plan } from "../../schema/runs/Plan.ts"
import { plannedPrice } from "../../schema/runs/PlannedPrice.ts"
import { type Metadata, storedMetadata } from "../../schema/runs/Metadata.ts"
import { isFinal, isRunStatus } from "../../schema/runs/Run.ts"
import { type Candidate, type Route, type RoutingRequest, route } from "../../schema/runs/Routing.ts"
import { didYouMean } from "../../schema/suggestion.ts"
import { DirectCommands } from "../mailbox/DirectCommands.ts"
import { Lanes } from "../mailbox/Lanes.ts"
import { inboxFirst, ownedByRaw, ownedInputs, throughOwned } from "./Owners.ts"
import { rawRoute, rawRun } from "./RawRoute.ts"
import { type CommittedEnd, Waiters } from "../mailbox/Waiters.ts"
import { unavailable } from "./Unavailable.ts"
import { withCommands } from "../../schema/Hints.ts"
import { discover } from "../../schema/Steps.ts"

/** The caller, its idempotency key, and how long it waits. */
export interface Asked {
  readonly org_id: string
  readonly key_id: string | null
  readonly request_id: string
  readonly idempotency_key: string | null
  readonly fingerprint: string
  readonly wait_millis: number
  /** The caller's labels; null when there are none. */
  readonly metadata: Metadata | null
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
}

export interface Submitted {
  readonly run: RunRow
  readonly replayed: boolean
}

export type Refused = ProblemOf<
  | "invalid_request"
  | "capability_not_found"
  | "endpoint_not_found"
  | "provider_not_available"
  | "idempotency_key_reused"
  | "unauthorized"
  | "rate_limited"
>

export const isFinalRow = (run: RunRow): boolean => isRunStatus(run.status) && isFinal(run.status)

/** `null` in an optional field is the same as leaving it out. */
const withoutNulls = (input: unknown): unknown => {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return input
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null))
}

/** A checked request with its route. */
interface Prepared {
  readonly input: unknown
  readonly demand: Demand
  readonly chosen: Route
  readonly side_effect: boolean
}

/** Whether only the cursor keeps every provider from serving the input: then no provider here issued it. */
const hasForeignCursor = (candidates: ReadonlyArray<Candidate>, input: unknown): boolean => {
  if (typeof input !== "object" || input === null || !("cursor" in input)) return false
  const { cursor: _cursor, ...rest } = input
  return candidates.some((one) => one.barred === null && one.offer.serves(rest))
}

const servingAll = (candidate: Candidate): Candidate => ({
  ...candidate,
  offer: { ...candidate.offer, serves: () => true }
})

/** The row of a run that this process admitted and ended itself. It saves the look-up, which would return the same row. */
const rowOf = (run: NewRun, created_at: Date, { ending, finished_at, result }: CommittedEnd): RunRow => ({
  org_id: run.org_id,
  run_id: run.run_id,
  request_id: run.request_id,
  kind: run.kind,
  capability: run.capability,
  endpoint: run.endpoint,
  provider: ending.provider ?? run.provider,
  status: ending.status,
  quoted: run.quoted,
  charged: ending.charged,
  routing_reason: run.routing_reason,
  attempts: ending.attempts,
  hints: ending.hints,
  result,
  metadata: run.metadata,
  error_code: ending.error_code,
  error_message: ending.error_message,
  created_at,
  finished_at,
  erased_at: null
})

export class Admission extends Context.Service<
  Admission,
  {
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

      const capabilityNames = catalog.entries.map((one) => one.capability.slug)

      /** Makes all checks that need no database. */
      const checked = (
        request: CapabilityRequest
      ): Effect.Effect<{ readonly entry: CatalogEntry; readonly input: unknown }, Refused> => {
        const entry = catalog.find(request.capability)
        if (entry === undefined) {
          return Effect.fail(
            problem(
              "capability_not_found",
              withCommands`There is no capability "${request.capability}".${didYouMean(request.capability, capabilityNames)} Search the catalog with ${discover}.`
            )
          )
        }
        const input = withoutNulls(request.input)
        const issues = entry.capability.issues(input)
        if (issues.length > 0) {
          const details = issues.map((issue) => ({
            ...issue,
            path: issue.path === "" ? "input" : `input.${issue.path}`
          }))
          const first = details[0]
          return Effect.fail(problem("invalid_request", `${first?.path} ${first?.message}`, details))
        }
        const { provider } = request.routing
        const names = entry.offers.map((one) => one.provider.slug)
        if (provider !== "auto" && !names.includes(provider)) {
          const message = `routing.provider "${provider}" does not serve ${request.capability}.${didYouMean(provider, ["auto", ...names])} Use "auto" or one of: ${names.join(", ")}`
          return Effect.fail(
            problem("invalid_request", message, [
              { path: "routing.provider", message: `must be auto or one of ${names.join(", ")}` }
            ])
          )
        }
        if (!catalog.sandbox && entry.capability.status === "coming_soon") {
          const message = `${request.capability} is coming soon. At present it runs only in the sandbox, where it is simulated.`
          return Effect.fail(problem("provider_not_available", message))
        }
        return Effect.succeed({ entry, input })
      }

      /** Chooses providers that can use the objects (senders, accounts, inboxes) that the input names. */
      const prepare = Effect.fnUntraced(function* (request: CapabilityRequest, now: number) {
        const { entry, input } = yield* checked(request)
        const names = entry.offers.map((one) => one.provider.slug)
        const uses = catalog.sandbox ? [] : entry.capability.uses(input)
        const all = yield* ownedInputs(ownership, request.org_id, uses)
        const owned = request.routing.provider === "auto" ? inboxFirst(all) : all
        const offered = drifts.priced(entry).offers.map(
          ({ provider: { slug }, offer, executable }) =>
            ({
              provider: slug,
              offer,
              metrics: health.offer(request.capability, slug).expected,
              barred: !executable
                ? "no_account"
                : breakers.tripped(slug, request.capability, request.org_id, now)
                  ? "unavailable"
                  : null
            }) satisfies Candidate
        )
        const candidates = uses.length === 0 ? offered : offered.map((one) => throughOwned(owned, one))
        const { side_effect } = entry.capability
        const asked = entry.capability.demand(input)
        const among = (candidates: ReadonlyArray<Candidate>) =>
          route(candidates, request.routing, input, asked, side_effect)
        const real = among(candidates)
        // Simulated providers serve every input that the contract accepts, even one that no real provider could.
        const simulated = catalog.sandbox && real.candidates.length === 0 && !hasForeignCursor(candidates, input)
        const chosen = simulated ? among(candidates.map(servingAll)) : real
        const unserved =
          chosen.candidates.length === 0 &&
          chosen.excluded.every((one) => one.reason === "cannot_serve" || one.reason === "no_account")
        if (unserved && hasForeignCursor(candidates, input)) {
          const message =
            "must be the next_cursor of an earlier page of the same search, from a provider that may be asked"
          return yield* Effect.fail(
            problem("invalid_request", `input.cursor ${message}`, [{ path: "input.cursor", message }])
          )
        }
        if (chosen.candidates.length === 0)
          return yield* Effect.fail(unavailable(request.capability, request.routing, chosen, names))
        return { input, demand: asked, chosen, side_effect }
      })

      const newRun = (request: CapabilityRequest, { input, demand, chosen, side_effect }: Prepared): NewRun => {
        const plan: Plan = {
          providers: chosen.candidates.map((one) => one.provider),
          attempts_max: chosen.attempts_max,
          routing: chosen.routing,
          include_raw: request.include_raw,
          ...(request.routing.strategy === "highest_success_rate" ? { conclusive: true } : {}),
          side_effect,
          prices: chosen.candidates.map((one) => plannedPrice(one.offer.price, demand)),
          ...markedUp(settings.markup),
          excluded: chosen.excluded
        }
        return {
          run_id: newId("run"),
          org_id: request.org_id,
          key_id: request.key_id,
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
          if (end !== undefined) return { run: rowOf(run, admitted.created_at, end), replayed: false }
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
        if (admitted._tag === "Revoked") {
          return yield* Effect.fail(problem("unauthorized", "This API key has been revoked. Create a new one."))
        }
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
      const orItsRun = (request: Asked, prepared: Effect.Effect<NewRun, Refused>) =>
        Effect.matchEffect(prepared, {
          onSuccess: (run) => enter(request, run),
          onFailure: Effect.fnUntraced(function* (refusal) {
            const run_id = yield* store.begun(request)
            if (run_id === null) return yield* Effect.fail(refusal)
            return yield* replay(request, run_id)
          })
        })

      return Admission.of({
        submit: (request) =>
          orItsRun(
            request,
            Effect.map(
              Effect.flatMap(Clock.currentTimeMillis, (now) => prepare(request, now)),
              (prepared) => newRun(request, prepared)
            )
          ),
        submitRaw: (request) =>
          orItsRun(
            request,
            Effect.gen(function* () {
              const route = yield* rawRoute(endpoints, actors, breakers, drifts, settings, request)
              if (!catalog.sandbox) yield* ownedByRaw(ownership, route.provider.slug, route.endpoint, request)
              return rawRun(request, newId("run"), route)
            })
          ),
        watch
      })
    })
  )
}
