/**
 * Which organizations have accounts of their own at which providers: a copy in memory, so that a run needs no query for it. It has no keys.
 *
 * A change is signalled to all processes. A process that misses the signal reads all accounts again within a minute. Until then its runs may
 * still be planned by the earlier accounts. Their calls read the account itself, so they never use a key that was removed.
 */
import { Context, Effect, Layer, Schedule, Semaphore } from "effect"
import { logFailure } from "../postgres/Batch.ts"
import { Signals } from "../queues/Signals.ts"
import { type RoutingAccount, ProviderAccounts } from "./ProviderAccounts.ts"

export interface OwnAccount {
  readonly account_id: string
  /** The service's account may be used for a call that the provider refuses with this one. */
  readonly fallback: boolean
}

/** By provider. */
export type AccountsOfOrganization = ReadonlyMap<string, OwnAccount>

const none: AccountsOfOrganization = new Map()
const refreshEvery = "1 minute"

/** Distinguishes these signals from run ids and command ids. */
const prefix = "provider_accounts:"

const byProvider = (rows: ReadonlyArray<RoutingAccount>): AccountsOfOrganization =>
  new Map(rows.map(({ provider, account_id, fallback }) => [provider, { account_id, fallback }]))

export class OwnAccounts extends Context.Service<
  OwnAccounts,
  {
    readonly of: (org_id: string) => AccountsOfOrganization
    /** Call after a change. This process knows it when the effect ends, and the others a moment later. */
    readonly changed: (org_id: string) => Effect.Effect<void>
  }
>()("rungate/layers/provideraccounts/OwnAccounts") {
  static readonly layer = Layer.effect(
    OwnAccounts,
    Effect.gen(function* () {
      const accounts = yield* ProviderAccounts
      const signals = yield* Signals
      const organizations = new Map<string, AccountsOfOrganization>()
      // One read at a time, so that an older answer never replaces a newer one.
      const lock = Semaphore.makeUnsafe(1)

      const readOne = (org_id: string) =>
        lock.withPermits(1)(
          Effect.map(accounts.routingAccounts(org_id), (rows) => {
            if (rows.length === 0) organizations.delete(org_id)
            else organizations.set(org_id, byProvider(rows))
          })
        )
      const readAll = lock.withPermits(1)(
        Effect.map(accounts.routingAccounts(null), (rows) => {
          organizations.clear()
          for (const [org_id, those] of Map.groupBy(rows, (row) => row.org_id))
            organizations.set(org_id, byProvider(those))
        })
      )
      const orWarn = Effect.catchCause(logFailure("Reading provider accounts failed; keeping the last ones"))

      const fork = Effect.runForkWith(yield* Effect.context<never>())
      const stop = signals.listen((ids) => {
        for (const id of ids) if (id.startsWith(prefix)) fork(orWarn(readOne(id.slice(prefix.length))))
      })
      yield* Effect.addFinalizer(() => Effect.sync(stop))
      yield* orWarn(readAll)
      yield* orWarn(readAll).pipe(
        Effect.repeat(Schedule.spaced(refreshEvery)),
        Effect.delay(refreshEvery),
        Effect.forkScoped
      )

      return OwnAccounts.of({
        of: (org_id) => organizations.get(org_id) ?? none,
        changed: (org_id) => Effect.andThen(readOne(org_id), signals.publish([`${prefix}${org_id}`]))
      })
    })
  )
}
