/**
 * Encrypts secrets of organizations with the first key of RUNGATE_ENCRYPTION_KEY, so that an earlier key can be removed: keys of own accounts,
 * second factors, and signing secrets of webhooks, which may be from a time without a key. Every worker process does it at its start, and when a reload brings
 * a key. A secret that is replaced meanwhile is left alone, so several processes do no harm.
 */
import { Effect, Layer } from "effect"
import { logFailure } from "../layers/postgres/Batch.ts"
import { Settings } from "../layers/platform/Settings.ts"
import { SecondFactors } from "../layers/accounts/SecondFactors.ts"
import { ProviderAccounts } from "../layers/provideraccounts/ProviderAccounts.ts"
import { WebhookEndpoints } from "../layers/webhooks/Endpoints.ts"

interface Kind {
  readonly name: string
  readonly secrets: string
  readonly remedy: string
  readonly reseal: Effect.Effect<{ readonly resealed: number; readonly unreadable: number }>
}

const attempt = ({ name, secrets, remedy, reseal }: Kind) =>
  Effect.gen(function* () {
    const { resealed, unreadable } = yield* reseal
    if (resealed > 0)
      yield* Effect.logInfo(
        `${name}: encrypted ${resealed} ${secrets} with the first key of RUNGATE_ENCRYPTION_KEY${unreadable === 0 ? ". The others are not needed for them any more" : ""}`
      )
    if (unreadable > 0)
      yield* Effect.logWarning(
        `${name}: ${unreadable} ${secrets} can't be decrypted. Add the earlier key to RUNGATE_ENCRYPTION_KEY, or ask the customers to ${remedy}`
      )
  }).pipe(Effect.catchCause(logFailure(`Encrypting ${secrets} of ${name} failed; the next start retries`)))

export const AccountsWorker = Layer.effectDiscard(
  Effect.gen(function* () {
    const accounts = yield* ProviderAccounts
    const endpoints = yield* WebhookEndpoints
    const factors = yield* SecondFactors
    const all = Effect.andThen(
      attempt({ name: "provider accounts", secrets: "keys", remedy: "set them again", reseal: accounts.reseal }),
      attempt({ name: "webhooks", secrets: "signing secrets", remedy: "rotate them", reseal: endpoints.reseal })
    ).pipe(
      Effect.andThen(
        attempt({ name: "second factors", secrets: "secrets", remedy: "use recovery codes", reseal: factors.reseal })
      )
    )
    const { onReload } = yield* Settings
    onReload((changed) => (changed.includes("RUNGATE_ENCRYPTION_KEY") ? all : Effect.void))
    yield* Effect.forkScoped(all)
  })
)
