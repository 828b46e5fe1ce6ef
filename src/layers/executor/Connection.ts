/**
 * How a call reaches a provider: through the service's account or the organization's own one, with that account's throttle and breaker.
 *
 * The two share nothing, so a customer's refused or slow account affects no call of others. An own account is read for each attempt.
 */
import { Effect } from "effect"
import type { Account } from "../platform/settings/ProviderSettings.ts"
import { type NotOpened, ProviderAccounts } from "../provideraccounts/ProviderAccounts.ts"
import { type Failure, failure } from "../../schema/catalog/Provider.ts"
import { Breakers } from "./Breakers.ts"
import { ProviderShares } from "./ProviderShares.ts"
import type { Target } from "./ProviderRequest.ts"
import { makeThrottle, type ProviderThrottle } from "./ProviderThrottle.ts"

export interface Connection {
  readonly target: Target
  readonly account: Account | undefined
  readonly throttle: ProviderThrottle
  /** The organization whose own account it goes through, or null. */
  readonly own: string | null
  /** A customer chose the address, so only public ones are connected to. */
  readonly publicOnly: boolean
  /** Applies the result of a call to the breaker. */
  readonly record: (subject: string, failed: Failure | null) => Effect.Effect<void>
}

/** Own accounts whose throttles are kept. The oldest is dropped: its account may then have twice its calls at once for a moment. */
const throttlesMax = 2_000

const notOpened: Readonly<Record<NotOpened, string>> = {
  removed: "your account at this provider was removed after the run was planned",
  unreadable: "the key of your account can't be read any more; set it again"
}

interface Caller {
  readonly org_id: string
  readonly own: boolean
}

/** `accounts`: the operator's as they are now. */
export const makeConnections = Effect.fnUntraced(function* (accounts: () => ReadonlyMap<string, Account>) {
  const [own, breakers, shares] = [yield* ProviderAccounts, yield* Breakers, yield* ProviderShares]
  const throttles = new Map<string, ProviderThrottle>()
  const ownThrottles = new Map<string, ProviderThrottle>()
  const throttleOf = (target: Target) => {
    const throttle = throttles.get(target.slug) ?? makeThrottle(target, shares.workers)
    throttles.set(target.slug, throttle)
    return throttle
  }
  const ownThrottleOf = (account_id: string, target: Target) => {
    const throttle = ownThrottles.get(account_id) ?? makeThrottle(target, shares.workersOfCell)
    // The one that was used last is the newest.
    ownThrottles.delete(account_id)
    ownThrottles.set(account_id, throttle)
    for (const [oldest] of ownThrottles) {
      if (ownThrottles.size <= throttlesMax) break
      ownThrottles.delete(oldest)
    }
    return throttle
  }

  const platform = (target: Target, org_id: string): Connection => ({
    target,
    account: accounts().get(target.slug),
    throttle: throttleOf(target),
    own: null,
    publicOnly: false,
    record: (subject, failed) => breakers.record(target.slug, subject, org_id, failed)
  })

  const ofOrganization = (target: Target, org_id: string): Effect.Effect<Connection | Failure> =>
    Effect.match(own.open(org_id, target.slug), {
      onFailure: (why) => failure("provider_account", notOpened[why]),
      onSuccess: ({ account_id, api_key, base_url }): Connection => ({
        target,
        // The operator's address is that of a proxy, which leads to every account.
        account: {
          apiKey: api_key,
          baseUrl: base_url ?? accounts().get(target.slug)?.baseUrl ?? null,
          creditUsd: null,
          webhookSecrets: []
        },
        throttle: ownThrottleOf(account_id, target),
        own: org_id,
        publicOnly: base_url !== null,
        record: (subject, failed) => breakers.recordOwn(account_id, subject, failed)
      })
    })

  return (target: Target, { org_id, own }: Caller): Effect.Effect<Connection | Failure> =>
    own ? ofOrganization(target, org_id) : Effect.succeed(platform(target, org_id))
})
