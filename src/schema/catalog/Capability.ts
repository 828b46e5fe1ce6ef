/**
 * A capability: a routed product with one input, one output and one billing rule, independent of the provider.
 *
 * `capability()` combines the typed parts and returns an untyped form for the catalog. Every function of that form first validates
 * its input against the published contract.
 */
import type { Schema } from "effect"
import { type Contract, contract, type Issue } from "./Contract.ts"
import type { ResourceKind } from "./Endpoint.ts"
import { type Billing, type Demand, demandOf } from "../money/Pricing.ts"
import type { Made, Named } from "./Resources.ts"
import { defined } from "../defined.ts"

/** What the sandbox's simulated provider answers from: the input, the provider, and a number derived from both. */
export interface Simulation<I> {
  readonly input: I
  readonly provider: string
  /** The same input and provider give the same seed; use it to vary output deterministically. */
  readonly seed: number
  /** `partial` asks for one result fewer than the input's limit. */
  readonly partial: boolean
}

export interface Definition<I, O> {
  readonly slug: string
  readonly title: string
  /** The first word of the slug's family: people, company, web, email … */
  readonly category: string
  readonly description: string
  readonly tags: ReadonlyArray<string>
  readonly status: "live" | "coming_soon"
  readonly billing: Billing
  readonly platforms: ReadonlyArray<string>
  readonly input: Schema.Codec<I, unknown>
  /** Groups of input fields of which one must be present in full. */
  readonly anyOf?: ReadonlyArray<ReadonlyArray<Extract<keyof I, string>>>
  readonly output: Schema.Codec<O, unknown>
  /** An input that works, shown by inspect. */
  readonly example: NoInfer<I>
  /** Whether an output counts as a match; an output that does not is a billed or unbilled no-match. */
  readonly matched: (output: NoInfer<O>) => boolean
  /** How many results an output holds, for metered billing; 1 when left out. */
  readonly results?: (output: NoInfer<O>) => number
  /** An answer that settles nothing: a run that wants the highest success rate asks the next provider, and keeps it in reserve. */
  readonly inconclusive?: (output: NoInfer<O>) => boolean
  /** Delivered, but not charged: the output says that there was nothing left to do. */
  readonly unbilled?: (output: NoInfer<O>) => boolean
  /** How many results an input asks for, when that is not its `limit`; null when it does not say. */
  readonly asked?: (input: NoInfer<I>) => number | null
  /** What is refused although it has the published shape. */
  readonly refuses?: (input: NoInfer<I>) => ReadonlyArray<Issue>
  /** Objects with an owner that the input names: a run may only name its organization's own. */
  readonly uses?: (input: NoInfer<I>) => ReadonlyArray<Named>
  /** Objects that a delivered run has made: its organization owns them from then on. */
  readonly makes?: (output: NoInfer<O>) => ReadonlyArray<Made>
  /** Cuts an output that speaks of a whole account down to what the workspace owns. */
  readonly ownOnly?: {
    readonly kind: ResourceKind
    readonly keep: (output: NoInfer<O>, owned: ReadonlySet<string>) => NoInfer<O>
  }
  /** A run of it changes the outside world, so it is called at most once: no failover, no retry after a crash. */
  readonly side_effect: boolean
  /** The channel of its touches in history, when a run contacts somebody. */
  readonly channel?: "email" | "network"
  /** Deterministic sandbox output, plainly marked as simulated by the caller. */
  readonly simulate: (simulation: Simulation<NoInfer<I>>) => NoInfer<O>
  /** What to try when nothing was found: short sentences for an agent. */
  readonly missHints?: (input: NoInfer<I>) => ReadonlyArray<string>
}

export interface Capability<I = unknown, O = unknown> {
  readonly slug: string
  readonly title: string
  readonly category: string
  readonly description: string
  readonly tags: ReadonlyArray<string>
  readonly status: "live" | "coming_soon"
  readonly billing: Billing
  readonly platforms: ReadonlyArray<string>
  readonly side_effect: boolean
  readonly channel: "email" | "network" | null
  readonly example: unknown
  readonly input: Contract<I>
  readonly output: Contract<O>
  /** Empty when run accepts the input. */
  readonly issues: (input: unknown) => ReadonlyArray<Issue>
  /** Null when the output does not have the published shape. */
  readonly judge: (output: unknown) => Judgement | null
  /** What a price depends on. */
  readonly demand: (input: unknown) => Demand
  readonly uses: (input: unknown) => ReadonlyArray<Named>
  readonly makes: (output: unknown) => ReadonlyArray<Made>
  /** Null when its outputs speak of nothing that has an owner. */
  readonly ownOnly: {
    readonly kind: ResourceKind
    readonly keep: (output: unknown, owned: ReadonlySet<string>) => unknown
  } | null
  readonly simulate: (simulation: Simulation<unknown>) => unknown
  readonly missHints: (input: unknown) => ReadonlyArray<string>
}

/** What an output is worth. */
export interface Judgement {
  readonly matched: boolean
  readonly results: number
  readonly unbilled: boolean
  /** Another provider may know better. */
  readonly inconclusive: boolean
}

/** What a capability takes, for adapters that build a call outside of `offer()`. */
export type InputOf<C> = C extends Capability<infer I, unknown> ? I : never

export const capability = <I, O>(definition: Definition<I, O>): Capability<I, O> => {
  const input = contract(definition.input, {
    title: `Input of ${definition.slug}`,
    ...defined({ anyOf: definition.anyOf })
  })
  const { ownOnly } = definition
  const output = contract(definition.output, { title: `Output of ${definition.slug}` })
  return {
    slug: definition.slug,
    title: definition.title,
    category: definition.category,
    description: definition.description,
    tags: definition.tags,
    status: definition.status,
    billing: definition.billing,
    platforms: definition.platforms,
    side_effect: definition.side_effect,
    channel: definition.channel ?? null,
    example: definition.example,
    input,
    output,
    issues: (value) => {
      const issues = input.issues(value)
      return issues.length === 0 && input.accepts(value) ? (definition.refuses?.(value) ?? []) : issues
    },
    judge: (value) =>
      output.accepts(value)
        ? {
            matched: definition.matched(value),
            results: definition.results?.(value) ?? 1,
            unbilled: definition.unbilled?.(value) ?? false,
            inconclusive: definition.inconclusive?.(value) ?? false
          }
        : null,
    demand: (value) =>
      definition.asked !== undefined && input.accepts(value)
        ? { ...demandOf(value), results: definition.asked(value) }
        : demandOf(value),
    uses: (value) => (definition.uses !== undefined && input.accepts(value) ? definition.uses(value) : []),
    makes: (value) => (definition.makes !== undefined && output.accepts(value) ? definition.makes(value) : []),
    ownOnly:
      ownOnly === undefined
        ? null
        : {
            kind: ownOnly.kind,
            // What has another shape is judged by nobody, and delivered to nobody.
            keep: (value, owned) => (output.accepts(value) ? ownOnly.keep(value, owned) : null)
          },
    simulate: (simulation) => {
      if (!input.accepts(simulation.input)) throw new Error(`${definition.slug}: simulated with a refused input`)
      return definition.simulate({ ...simulation, input: simulation.input })
    },
    missHints: (value) =>
      definition.missHints !== undefined && input.accepts(value) ? definition.missHints(value) : []
  }
}
