/** What a plan says for the guards and for reuse: whom the run contacts, and which results it may take. */
import { Effect } from "effect"
import type { Catalog, CatalogEntry } from "../../layers/catalog/Catalog.ts"
import type { Endpoints } from "../../layers/catalog/Endpoints.ts"
import type { GuardStore } from "../../layers/guards/GuardStore.ts"
import type { HistoryStore } from "../../layers/history/HistoryStore.ts"
import type { NewRun } from "../../layers/runs/NewRuns.ts"
import type { Endpoint } from "../../schema/catalog/Endpoint.ts"
import { type ProblemOf, refused } from "../../schema/Errors.ts"
import { type Contacts, contactsPeople, recipientsOf } from "../../schema/guards/ContactGuard.ts"
import { contactTies } from "./ContactTies.ts"
import { rawResults } from "./RawResults.ts"

/** The refusal of a run that acts and asks for reuse. */
export const notReusable = refused(
  "reuse",
  "is for lookups",
  "reuse is for lookups: a run that acts outside is never replaced by the result of another one"
)

/** The member of a plan that fixes whom the run contacts. */
export const contactsOf = (
  capability: string,
  within_seconds: number | null,
  input: unknown
): { readonly contacts?: Contacts } =>
  contactsPeople(capability) ? { contacts: { within_seconds, recipients: recipientsOf(capability, input) } } : {}

/** A raw call that may act is reused only if capabilities that only look up wrap it. */
export const reusableRaw = (
  endpoints: Endpoints["Service"],
  catalog: Catalog["Service"],
  provider: string,
  endpoint: Endpoint
): Effect.Effect<void, ProblemOf<"invalid_request">> => {
  const wrapping = endpoints.snapshot().wrappedBy(provider, endpoint)
  const looksUp = wrapping.every((slug) => catalog.find(slug)?.capability.side_effect === false)
  return endpoint.acts !== true && wrapping.length > 0 && looksUp ? Effect.void : notReusable
}

interface Planned {
  readonly run: NewRun
  readonly route: { readonly entry: CatalogEntry; readonly input: unknown }
}

/** Whom a run contacts and what it may reuse are looked up for runs that ask for it only. */
export const guardedPlans = (history: HistoryStore["Service"], guards: GuardStore["Service"], sandbox: boolean) => {
  const withTies = contactTies(history, guards)
  const withRawResult = rawResults(guards, sandbox)

  const withReusable = <A extends Planned>(planned: A): Effect.Effect<A> => {
    const { run, route } = planned
    if (run.plan.reuse === undefined) return Effect.succeed(planned)
    return Effect.map(withRawResult(run, route.entry, route.input), (reusing) => ({ ...planned, run: reusing }))
  }
  return {
    /** Adds a raw result that the run may take. */
    withReusable,
    withTies,
    /** The run of a capability as it is admitted. */
    completed: (planned: Planned): Effect.Effect<NewRun, ProblemOf<"rate_limited">> =>
      planned.run.plan.contacts === undefined
        ? Effect.map(withReusable(planned), ({ run }) => run)
        : withTies(planned.run)
  }
}
