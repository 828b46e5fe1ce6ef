/**
 * Looks up calls of unknown outcome at their providers, by the run id that was sent with each call, and records the outcome.
 *
 * A look-up only reads: it never repeats the call, moves no money and does not change the run's status. Any number of workers do
 * this; one worker at a time claims a run.
 */
import { Context, Effect } from "effect"
import { logFailure } from "../../layers/postgres/Batch.ts"
import { Catalog } from "../../layers/catalog/Catalog.ts"
import { Providers } from "../../layers/executor/Providers.ts"
import { type DueLookup, type OfferName, UnknownOutcomes } from "../../layers/runs/UnknownOutcomes.ts"

/** Small, because look-ups share the provider's concurrency limit with runs. */
const parallel = 2
const lookSeconds = 60

/** Seconds between two passes of a worker. */
export const LookSeconds = Context.Reference("rungate/actors/runs/LookSeconds", { defaultValue: () => lookSeconds })

/** Looks up all runs that are due. */
export const makeLookUps = Effect.gen(function* () {
  const catalog = yield* Catalog
  const providers = yield* Providers
  const outcomes = yield* UnknownOutcomes
  const offersNow = () =>
    catalog.entries.flatMap(({ capability, offers }) =>
      offers
        .filter(({ offer, executable }) => executable && offer.reconcile !== undefined)
        .map(({ provider }) => ({ provider: provider.slug, capability: capability.slug }))
    )

  const failed = Effect.fnUntraced(function* (run_id: string, title: string, why: string) {
    if (yield* outcomes.lookFailed(run_id))
      yield* Effect.logWarning(
        `${run_id}: ${title} did not say whether it carried this call out (${why}). The look-up will be retried.`
      )
  })

  const lookUp = Effect.fn("OutcomeLookups.lookUp")(function* (due: DueLookup) {
    const { run_id, org_id, own, age_seconds } = due
    const offer = catalog.offer(due.capability, due.provider)
    if (offer === undefined) return
    const { title } = offer.provider
    const input: unknown = JSON.parse(due.input)
    const answered = yield* providers.lookUp({ run_id, org_id, own, offer, input, age_seconds })
    if (answered === null) return
    if (answered._tag === "Failure") return yield* failed(run_id, title, answered.detail)
    const recorded = yield* outcomes.resolve(
      run_id,
      answered.finding,
      answered.note,
      `This service looked it up at ${title}`
    )
    if (recorded) yield* Effect.logInfo(`${run_id}: ${answered.finding}: ${answered.note}`)
  })

  /** Logs a failed look-up, so that the others continue. */
  const isolated = (due: DueLookup) =>
    Effect.catchCause(lookUp(due), logFailure(`Looking up ${due.run_id} failed; the next look retries`))

  /**
   * A run is claimed when its look-up begins. A claim is over before the first pause is: runs that waited here behind slow
   * look-ups would be claimed, and looked up, by another process meanwhile.
   */
  const lookUpDue = Effect.fnUntraced(function* (offers: ReadonlyArray<OfferName>) {
    for (;;) {
      const due = yield* outcomes.claim(offers)
      if (due === null) return
      yield* isolated(due)
    }
  })

  return Effect.fn("OutcomeLookups.look")(function* () {
    const offers = offersNow()
    if (offers.length === 0) return
    yield* Effect.replicateEffect(lookUpDue(offers), parallel, { concurrency: parallel, discard: true })
  })
})
