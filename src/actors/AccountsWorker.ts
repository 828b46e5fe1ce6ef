/**
 * Encrypts the keys of organizations' own accounts again after a rotation of RUNGATE_ENCRYPTION_KEY, so that the earlier encryption key can be
 * removed. Every worker process does it at its start, and when a reload brings a key. A key that is replaced meanwhile is left alone, so several processes do no harm.
 */
import { Effect, Layer } from "effect"
import { oneLine } from "../layers/postgres/Batch.ts"
import { Settings } from "../layers/platform/Settings.ts"
import { ProviderAccounts } from "../layers/provideraccounts/ProviderAccounts.ts"

export const AccountsWorker = Layer.effectDiscard(
  Effect.gen(function* () {
    const accounts = yield* ProviderAccounts
    const work = Effect.gen(function* () {
      const { resealed, unreadable } = yield* accounts.reseal
      if (resealed > 0)
        yield* Effect.logInfo(
          `provider accounts: encrypted ${resealed} keys with the first key of RUNGATE_ENCRYPTION_KEY${unreadable === 0 ? ". The others are not needed for them any more" : ""}`
        )
      if (unreadable > 0)
        yield* Effect.logWarning(
          `provider accounts: ${unreadable} keys can't be decrypted. Add the earlier key to RUNGATE_ENCRYPTION_KEY, or ask the customers to set them again`
        )
    })
    const attempt = Effect.catchCause(work, (cause) =>
      Effect.logWarning(`provider accounts: can't encrypt them: ${oneLine(cause)}`)
    )
    const { onReload } = yield* Settings
    onReload((changed) => (changed.includes("RUNGATE_ENCRYPTION_KEY") ? attempt : Effect.void))
    yield* Effect.forkScoped(attempt)
  })
)
