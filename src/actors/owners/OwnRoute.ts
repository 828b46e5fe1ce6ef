/**
 * Routes calls through an organization's own accounts at providers: an offer through such an account costs the fee, and the service's account
 * is its failover if the organization allows one.
 *
 * An object that a run made belongs to the account through which it was made. So an input that names an object of the service's account is
 * served by that account, and one that names an unknown object only by an own account.
 */
import { Result } from "effect"
import type { CatalogOffer } from "../../layers/catalog/Catalog.ts"
import type { Breakers } from "../../layers/executor/Breakers.ts"
import type { OwnAccount, OwnAccounts } from "../../layers/provideraccounts/OwnAccounts.ts"
import type { Owned } from "../../layers/runs/Ownership.ts"
import type { Capability } from "../../schema/catalog/Capability.ts"
import type { MicroUsd } from "../../schema/money/Money.ts"
import type { Candidate } from "../../schema/runs/Routing.ts"
import { throughOwned } from "./Owners.ts"

export interface OwnServices {
  readonly ownAccounts: OwnAccounts["Service"]
  readonly ownAccountFee: MicroUsd
  readonly breakers: Breakers["Service"]
  readonly sandbox: boolean
}

/** Whether an account of the caller's can make calls of this offer. The service answers some capabilities from its own records. */
export const isCallable = ({ offer }: CatalogOffer, { status, owned }: Capability, sandbox: boolean): boolean =>
  owned === null && offer.wired && (sandbox || status === "live")

/** The candidate through the organization's account. The candidate itself if there is none, or if it is paused and may fail over. */
export const throughAccount = (
  { ownAccountFee, breakers, sandbox }: Omit<OwnServices, "ownAccounts">,
  account: OwnAccount | undefined,
  capability: Capability,
  offered: CatalogOffer,
  platform: Candidate,
  now: number
): Candidate => {
  if (account === undefined || !isCallable(offered, capability, sandbox)) return platform
  const paused = breakers.ownTripped(account.account_id, capability.slug, now) !== null
  if (paused && account.fallback && platform.barred === null) return platform
  return {
    ...platform,
    offer: { ...platform.offer, price: { kind: "flat", amount: ownAccountFee } },
    barred: paused ? "unavailable" : null,
    own: { failover: account.fallback ? platform : null }
  }
}

const isInAccountOf = (owned: ReadonlyArray<ReadonlyArray<Owned>>, provider: string): boolean =>
  owned.some((those) => those.some((one) => one.provider === provider))

/** The candidates that can use the objects which an input names. `owned` fails if the organization does not own one of them. */
export const throughObjects = <E>(
  owned: Result.Result<ReadonlyArray<ReadonlyArray<Owned>>, E>,
  candidates: ReadonlyArray<Candidate>,
  /** The candidate through the service's account. */
  platformOf: (provider: string) => Candidate | undefined
): Result.Result<ReadonlyArray<Candidate>, E> => {
  if (Result.isFailure(owned)) {
    const own = candidates.filter((one) => one.own !== undefined)
    return own.length === 0
      ? Result.fail(owned.failure)
      : Result.succeed(own.map((one) => ({ ...one, own: { failover: null } })))
  }
  return Result.succeed(
    candidates.map((one) => {
      if (one.own === undefined) return throughOwned(owned.success, one)
      const { failover } = one.own
      if (isInAccountOf(owned.success, one.provider)) {
        const platform = platformOf(one.provider)
        return platform === undefined ? one : throughOwned(owned.success, platform)
      }
      return failover === null ? one : { ...one, own: { failover: throughOwned(owned.success, failover) } }
    })
  )
}
