/** The shares of a process that is the only one that calls providers. */
import { Effect, Layer } from "effect"
import { ProviderShares } from "../../src/layers/executor/ProviderShares.ts"

const alone = () => 1

export const aloneWithProviders = Layer.succeed(ProviderShares, {
  workers: alone,
  workersOfCell: alone,
  count: () => Effect.void
})
