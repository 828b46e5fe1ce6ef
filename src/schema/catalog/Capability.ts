/**
 * A capability: a routed product with one input, one output and one billing rule, independent of the provider.
 *
 * `capability()` combines the typed parts and returns an untyped form for the catalog. Every function of that form first validates
 * its input against the published contract.
 */
import type { Schema } from "effect"
import { type Acceptable, acceptableOf } from "./Acceptance.ts"
import { type Contract, contract, type Issue } from "./Contract.ts"
import type { ResourceKind } from "./Endpoint.ts"
import { type Billing, type Demand, demandOf } from "../money/Pricing.ts"
import type { Resource, Named, OwnedPage } from "./Resources.ts"
import { defined } from "../defined.ts"
import { isRecord } from "../json/Json.ts"

/** What the sandbox builds a simulated output from: the input, the provider, and a number derived from both. */
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
  /** Groups of input fields. All fields of at least one group must be present. */
  readonly anyOf?: ReadonlyArray<ReadonlyArray<Extract<keyof I, string>>>
  readonly output: Schema.Codec<O, unknown>
  /** A valid input, shown by inspect. */
  readonly example: NoInfer<I>
  /**
   * Whether an output is a match. Otherwise the run is `no_match`, which `billing` may or may not charge. May be left out for an output with
   * `items`, which is a match if it has any.
   */
  readonly matched?: (output: NoInfer<O>) => boolean
  /** The number of results in an output, for metered billing. The default is the number of `items`, and 1 for an output that has none. */
  readonly results?: (output: NoInfer<O>) => number
  /** Whether an output is inconclusive. A run with `highest_success_rate` then calls the next provider and keeps this output as a fallback. */
  readonly inconclusive?: (output: NoInfer<O>) => boolean
  /** Whether an output is delivered but not charged, because there was nothing to do. */
  readonly unbilled?: (output: NoInfer<O>) => boolean
  /** The number of results that an input requests, if that is not its `limit`. Null if the input does not say. */
  readonly requested?: (input: NoInfer<I>) => number | null
  /** Issues of an input that matches the published schema and is refused for another reason. */
  readonly refuses?: (input: NoInfer<I>) => ReadonlyArray<Issue>
  /** Objects with an owner that the input names, such as an inbox. A run may name only objects of its own organization. */
  readonly uses?: (input: NoInfer<I>) => ReadonlyArray<Named>
  /** Objects that a successful run created. Its organization owns them from then on. */
  readonly makes?: (output: NoInfer<O>) => ReadonlyArray<Resource>
  /** Lists the objects of a kind that the organization owns. In production the service answers it itself and calls no provider. */
  readonly owned?: {
    readonly kind: ResourceKind
    readonly page: (input: NoInfer<I>) => { readonly limit: number; readonly after: string | null }
    readonly list: (page: OwnedPage) => NoInfer<O>
  }
  /** True if a run changes something outside, such as sending a message. After a call of unknown outcome it then makes no other call. */
  readonly side_effect: boolean
  /** The channel of its touches in history, when a run contacts somebody. */
  readonly channel?: "email" | "network"
  /** The outcome warranty: the address that an output calls valid. Null if it calls none valid. A bounce of it refunds the run. */
  readonly vouches?: (output: NoInfer<O>) => string | null
  /** The deterministic output of the sandbox. The caller marks it as simulated. */
  readonly simulate: (simulation: Simulation<NoInfer<I>>) => NoInfer<O>
  /** What to try after a `no_match`: short sentences for an agent. */
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
  /** Null for a capability without an outcome warranty. */
  readonly vouches: ((output: unknown) => string | null) | null
  readonly example: unknown
  readonly input: Contract<I>
  readonly output: Contract<O>
  /** Empty if the input is valid. */
  readonly issues: (input: unknown) => ReadonlyArray<Issue>
  /** Null if the output does not match the published schema. */
  readonly judge: (output: unknown) => Judgement | null
  /** What `accept` of a request may name. Null for a capability that acts: what it did can't be refused. */
  readonly acceptable: () => Acceptable | null
  /** What a price depends on. */
  readonly demand: (input: unknown) => Demand
  readonly uses: (input: unknown) => ReadonlyArray<Named>
  readonly makes: (output: unknown) => ReadonlyArray<Resource>
  /** Null if a provider answers it. */
  readonly owned: {
    readonly kind: ResourceKind
    readonly page: (input: unknown) => { readonly limit: number; readonly after: string | null }
    readonly list: (page: OwnedPage) => unknown
  } | null
  readonly simulate: (simulation: Simulation<unknown>) => unknown
  readonly missHints: (input: unknown) => ReadonlyArray<string>
}

/** How billing and routing treat an output. */
export interface Judgement {
  readonly matched: boolean
  readonly results: number
  readonly unbilled: boolean
  /** Another provider may give a better answer. */
  readonly inconclusive: boolean
}

/** The input type of a capability, for adapters that build a call outside of `offer()`. */
export type InputOf<C> = C extends Capability<infer I, unknown> ? I : never

/** A stored result may have fields beside the output's, such as `sandbox`. */
const vouchedIn = <O>(output: Contract<O>, stored: unknown, vouches: (output: O) => string | null): string | null => {
  if (!isRecord(stored)) return null
  const own = Object.fromEntries(Object.entries(stored).filter(([name]) => output.fields.includes(name)))
  return output.accepts(own) ? vouches(own) : null
}

const itemsIn = (output: unknown): number =>
  isRecord(output) && Array.isArray(output["items"]) ? output["items"].length : 0

export const capability = <I, O>(definition: Definition<I, O>): Capability<I, O> => {
  const input = contract(definition.input, {
    title: `Input of ${definition.slug}`,
    ...defined({ anyOf: definition.anyOf })
  })
  const { owned, vouches } = definition
  const output = contract(definition.output, { title: `Output of ${definition.slug}` })
  const isList = output.fields.includes("items")
  if (definition.matched === undefined && !isList)
    throw new Error(`${definition.slug}: says of no output whether it matches`)
  let acceptable: Acceptable | undefined
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
    vouches: vouches === undefined ? null : (stored) => vouchedIn(output, stored, vouches),
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
            matched: definition.matched?.(value) ?? itemsIn(value) > 0,
            results: definition.results?.(value) ?? (isList ? itemsIn(value) : 1),
            unbilled: definition.unbilled?.(value) ?? false,
            inconclusive: definition.inconclusive?.(value) ?? false
          }
        : null,
    acceptable: () => (definition.side_effect ? null : (acceptable ??= acceptableOf(output.jsonSchema))),
    demand: (value) =>
      definition.requested !== undefined && input.accepts(value)
        ? { ...demandOf(value), results: definition.requested(value) }
        : demandOf(value),
    uses: (value) => (definition.uses !== undefined && input.accepts(value) ? definition.uses(value) : []),
    makes: (value) => (definition.makes !== undefined && output.accepts(value) ? definition.makes(value) : []),
    owned:
      owned === undefined
        ? null
        : {
            ...owned,
            page: (value) => {
              if (!input.accepts(value)) throw new Error(`${definition.slug}: a page of a refused input`)
              return owned.page(value)
            }
          },
    simulate: (simulation) => {
      if (!input.accepts(simulation.input)) throw new Error(`${definition.slug}: simulated with a refused input`)
      return definition.simulate({ ...simulation, input: simulation.input })
    },
    missHints: (value) =>
      definition.missHints !== undefined && input.accepts(value) ? definition.missHints(value) : []
  }
}
