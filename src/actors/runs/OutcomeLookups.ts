/**
 * Looks up calls of unknown outcome at their providers, by the run id that was sent with each, and records what they say.
 *
 * A look-up only reads: it never makes the call again, moves no money and leaves the run's status as it is. Any number of workers do
 * this; each run is claimed by one of them at a time.
 */
import { Context, Effect, Layer } from "effect"
import { oneLine } from "../../layers/postgres/Batch.ts"
import { Catalog } from "../../layers/catalog/Catalog.ts"
import { Providers } from "../../layers/executor/Providers.ts"
import { type DueLookup, UnknownOutcomes } from "../../layers/runs/UnknownOutcomes.ts"

/** Runs claimed at once: few enough that a process which dies delays few of them. */
const claimMax = 20
/** Look-ups share the provider's limit of calls at once with the runs, which come first. */
const parallel = 2
const lookSeconds = 60

/** How often a worker looks for runs that are due. */
export const LookSeconds = Context.Reference("rungate/actors/runs/LookSeconds", { defaultValue: () => lookSeconds })

export class OutcomeLookups extends Context.Service<
  OutcomeLookups,
  {
    /** Looks up everything that is due. */
    readonly look: Effect.Effect<void>
  }
>()("rungate/actors/runs/OutcomeLookups") {
  static readonly layer = Layer.effect(
    OutcomeLookups,
    Effect.gen(function* () {
      const catalog = yield* Catalog
      const providers = yield* Providers
      const outcomes = yield* UnknownOutcomes
      const offers = catalog.entries.flatMap(({ capability, offers }) =>
        offers
          .filter(({ offer, executable }) => executable && offer.reconcile !== undefined)
          .map(({ provider }) => ({ provider: provider.slug, capability: capability.slug }))
      )

      const failed = Effect.fnUntraced(function* (run_id: string, title: string, why: string) {
        if (yield* outcomes.lookFailed(run_id))
          yield* Effect.logWarning(
            `${run_id}: ${title} did not say whether it carried this call out (${why}). It is asked again later.`
          )
      })

      const lookUp = Effect.fn("OutcomeLookups.lookUp")(function* (due: DueLookup) {
        const { run_id, age_seconds } = due
        const offer = catalog.offer(due.capability, due.provider)
        if (offer === undefined) return
        const { title } = offer.provider
        const input: unknown = JSON.parse(due.input)
        const said = yield* providers.lookUp({ run_id, offer, input, age_seconds })
        if (said === null) return
        if (said._tag === "Failure") return yield* failed(run_id, title, said.detail)
        const recorded = yield* outcomes.resolve(
          run_id,
          said.finding,
          said.note,
          `This service looked it up at ${title}`
        )
        if (recorded) yield* Effect.logInfo(`${run_id}: ${said.finding}: ${said.note}`)
      })

      /** One that fails must not keep the others from being looked up. */
      const apart = (due: DueLookup) =>
        Effect.catchCause(lookUp(due), (cause) => Effect.logWarning(`look-up of ${due.run_id}: ${oneLine(cause)}`))

      const look = Effect.fn("OutcomeLookups.look")(function* () {
        let more = offers.length > 0
        while (more) {
          const due = yield* outcomes.claim(offers, claimMax)
          yield* Effect.forEach(due, apart, { concurrency: parallel, discard: true })
          more = due.length === claimMax
        }
      })

      return OutcomeLookups.of({ look: look() })
    })
  )
}
