/**
 * The database and its stores, composed: what the service stands on, and all that the operator's commands need.
 *
 * Apart from App.ts, so that a command loads nothing of providers, the catalog or the socket.
 */
import { Layer } from "effect"
import { Accounts } from "./layers/Accounts.ts"
import { Actors } from "./layers/Actors.ts"
import { Audit } from "./layers/Audit.ts"
import { Books } from "./layers/Books.ts"
import { CatalogStore } from "./layers/CatalogStore.ts"
import { Erasure } from "./layers/history/Erasure.ts"
import { Finder } from "./layers/history/Finder.ts"
import { HistoryIndex } from "./layers/history/HistoryIndex.ts"
import { HistoryStore } from "./layers/history/HistoryStore.ts"
import { Installation } from "./layers/Installation.ts"
import { Invitations } from "./layers/Invitations.ts"
import { Leases } from "./layers/Leases.ts"
import { Losses } from "./layers/Losses.ts"
import { Mails } from "./layers/Mails.ts"
import { MailStore } from "./layers/MailStore.ts"
import { Ownership } from "./layers/Ownership.ts"
import { Passwords } from "./layers/Passwords.ts"
import { PaymentStore } from "./layers/PaymentStore.ts"
import { Referrals } from "./layers/Referrals.ts"
import { ReferralShares } from "./layers/ReferralShares.ts"
import { Reindex } from "./layers/history/Reindex.ts"
import { RunStore } from "./layers/RunStore.ts"
import { SignInAddresses } from "./layers/SignInAddresses.ts"
import { Senders } from "./layers/Senders.ts"
import { Stats } from "./layers/Stats.ts"
import { TurnStore } from "./layers/TurnStore.ts"
import { UnknownOutcomes } from "./layers/UnknownOutcomes.ts"
import { WaitStore } from "./layers/WaitStore.ts"
import { DatabaseLayer } from "./layers/Database.ts"

const Stores = Layer.mergeAll(
  Layer.mergeAll(Erasure.layer, Reindex.layer).pipe(
    Layer.provideMerge(Layer.mergeAll(HistoryStore.layer.pipe(Layer.provide(Finder.layer)), HistoryIndex.layer))
  ),
  RunStore.layer,
  TurnStore.layer,
  MailStore.layer,
  Leases.layer,
  Ownership.layer,
  Senders.layer,
  WaitStore.layer,
  Layer.merge(Accounts.layer, SignInAddresses.layer),
  Layer.mergeAll(Invitations.layer, Mails.layer, Passwords.layer),
  Referrals.layer,
  ReferralShares.layer,
  Books.layer,
  PaymentStore.layer,
  CatalogStore.layer,
  Installation.layer,
  Audit.layer,
  Losses.layer,
  UnknownOutcomes.layer,
  Stats.layer
)

/** Database and stores only: what the operator's commands need. */
export const Storage = Actors.layer.pipe(Layer.provideMerge(Stores), Layer.provideMerge(DatabaseLayer))
