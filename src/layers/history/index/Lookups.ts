/**
 * What makes a run a lookup that can be read again, or a touch.
 */
import { outcomeUnknown } from "../../../schema/catalog/Doubt.ts"
import type { Catalog } from "../../catalog/Catalog.ts"
import { touchCapabilities } from "../../../schema/runs/History.ts"
import type { Class, Kind } from "../../../schema/segments/Docs.ts"

/** Runs of these are no lookups: what they did can't be read again instead of being done again. */
export interface NoLookups {
  readonly capabilities: ReadonlyArray<string>
  /** Of raw endpoints. */
  readonly providers: ReadonlyArray<string>
}

export const noLookups = ({ entries }: Catalog["Service"]): NoLookups => {
  const acting = entries.filter(({ capability }) => capability.side_effect)
  return {
    capabilities: acting.map(({ capability }) => capability.slug),
    // A raw call of somebody who sends may have sent.
    providers: acting
      .filter(({ capability }) => touchCapabilities.includes(capability.slug))
      .flatMap(({ offers }) => offers.map((one) => one.provider.slug))
  }
}

/** It was paid for, and what it brought can be read again. */
export const isLookup = (
  { kind: { status, capability, provider }, charged }: Class,
  { capabilities, providers }: NoLookups
): boolean =>
  status === "succeeded" &&
  charged > 0n &&
  (capability === null ? provider !== null && !providers.includes(provider) : !capabilities.includes(capability))

/** It may have reached somebody, and nobody knows. */
export const isUnknownTouch = ({ status, capability }: Kind): boolean =>
  status === outcomeUnknown && capability !== null && touchCapabilities.includes(capability)

export const isTouch = ({ status, capability }: Kind): boolean =>
  status === "succeeded" && capability !== null && touchCapabilities.includes(capability)
