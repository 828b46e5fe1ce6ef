/** Reads what an operator sees of one organization. Run it in `Books.snapshot`, so that its parts fit each other. */
import { Effect, Option } from "effect"
import { Accounts, type KeyRow } from "../accounts/Accounts.ts"
import { Books, type OpenRunRow, type WalletRow } from "../ledger/Books.ts"
import type { EntryRow } from "../ledger/EntryList.ts"
import { Losses } from "../ledger/Losses.ts"
import { type MemberRow, Members } from "../members/Members.ts"
import { PaymentStore } from "../payments/PaymentStore.ts"
import type { Payment } from "../../schema/nouns/operator/Payment.ts"
import type { AutoTopup } from "../../schema/nouns/Wallet.ts"
import type { LossTotal } from "../../schema/nouns/operator/Provider.ts"
import { UnknownOutcomes } from "../runs/UnknownOutcomes.ts"
import type { OrganizationRow } from "../accounts/organizations/OrganizationList.ts"

/** The most that is read of each list. */
const shownMax = { entries: 20, payments: 10, keys: 100, people: 20, runs: 50, unknowns: 1_000 } as const

export interface OrganizationState {
  readonly organization: OrganizationRow
  readonly wallet: WalletRow
  readonly auto: AutoTopup | null
  readonly payments: ReadonlyArray<Payment>
  readonly people: ReadonlyArray<MemberRow>
  readonly keys: ReadonlyArray<KeyRow>
  readonly entries: ReadonlyArray<EntryRow>
  readonly runs: ReadonlyArray<OpenRunRow>
  readonly losses: ReadonlyArray<LossTotal>
  /** Calls with an unresolved unknown outcome. */
  readonly unknown: number
}

/** Reads the state of an organization. Dies if there is none: ask `Accounts.organization` before. */
export const makeOrganizationState = Effect.gen(function* () {
  const accounts = yield* Accounts
  const books = yield* Books
  const store = yield* PaymentStore
  const losses = yield* Losses
  const unknowns = yield* UnknownOutcomes
  const members = yield* Members
  return (org_id: string): Effect.Effect<OrganizationState> =>
    Effect.all({
      organization: Effect.map(accounts.organization(org_id), Option.getOrThrow),
      wallet: books.wallet(org_id),
      auto: store.autoTopup(org_id),
      payments: store.latest(org_id, shownMax.payments),
      people: members.list(org_id, null, shownMax.people),
      keys: accounts.keys(org_id, null, shownMax.keys),
      entries: books.entries(org_id, null, shownMax.entries),
      runs: books.openRuns(org_id, shownMax.runs),
      losses: losses.totals({ org_id, since: null }),
      unknown: Effect.map(unknowns.list({ org_id, resolved: false }, shownMax.unknowns), (rows) => rows.length)
    })
})
