/**
 * Decides whether a run is a lookup, whose result can be read again, or a touch, which contacted somebody.
 */
import { outcomeUnknown } from "../../../schema/catalog/Doubt.ts"
import type { Catalog } from "../../catalog/Catalog.ts"
import { touchCapabilities } from "../../../schema/runs/History.ts"
import type { RunClass, RunKind } from "../../../schema/segments/Docs.ts"

/** Runs of these have side effects, so reading their results does not replace a new run. */
export interface NoLookups {
  readonly capabilities: ReadonlyArray<string>
  /** Providers whose raw endpoints may have side effects. */
  readonly providers: ReadonlyArray<string>
}

export const noLookups = ({ entries }: Catalog["Service"]): NoLookups => {
  const acting = entries.filter(({ capability }) => capability.side_effect)
  return {
    capabilities: acting.map(({ capability }) => capability.slug),
    // A raw call to a provider of touches may have sent something.
    providers: acting
      .filter(({ capability }) => touchCapabilities.includes(capability.slug))
      .flatMap(({ offers }) => offers.map((one) => one.provider.slug))
  }
}

/** It was paid for, and its result can be read again. */
export const isLookup = (
  { kind: { status, capability, provider }, charged }: RunClass,
  { capabilities, providers }: NoLookups
): boolean =>
  status === "succeeded" &&
  charged > 0n &&
  (capability === null ? provider !== null && !providers.includes(provider) : !capabilities.includes(capability))

/** A touch with an unknown outcome. */
export const isUnknownTouch = ({ status, capability }: RunKind): boolean =>
  status === outcomeUnknown && capability !== null && touchCapabilities.includes(capability)

export const isTouch = ({ status, capability }: RunKind): boolean =>
  status === "succeeded" && capability !== null && touchCapabilities.includes(capability)
