/**
 * Composes the database layer and its stores, for the service and for the operator's commands.
 *
 * It is separate from App.ts so that a command does not load providers, the catalog or the HTTP server.
 */
import { Layer } from "effect"
import { AllowanceStore } from "./allowances/AllowanceStore.ts"
import { Accounts } from "./accounts/Accounts.ts"
import { Marketplace } from "./catalog/Marketplace.ts"
import { Audit } from "./audit/Audit.ts"
import { BooksWatch } from "./audit/BooksWatch.ts"
import { AuditLog } from "./auditlog/AuditLog.ts"
import { BackgroundMigrations } from "./postgres/BackgroundMigrations.ts"
import { Directory } from "./accounts/Directory.ts"
import { Books } from "./ledger/Books.ts"
import { CatalogStore } from "./catalog/CatalogStore.ts"
import { ProviderChecks } from "./catalog/ProviderChecks.ts"
import { CreditsStore } from "./executor/CreditsStore.ts"
import { BatchErasure } from "./history/BatchErasure.ts"
import { Erasure } from "./history/Erasure.ts"
import { AlertMailStore } from "./events/AlertMailStore.ts"
import { AlertSettings } from "./events/AlertSettings.ts"
import { EventLog } from "./events/EventLog.ts"
import { EventWriter } from "./events/EventWriter.ts"
import { Finder } from "./history/Finder.ts"
import { HistoryIndex } from "./history/index/HistoryIndex.ts"
import { HistoryStore } from "./history/HistoryStore.ts"
import { ApprovalStore } from "./members/ApprovalStore.ts"
import { GuardStore } from "./guards/GuardStore.ts"
import { OptOuts } from "./guards/OptOuts.ts"
import { Installation } from "./queues/Installation.ts"
import { Invitations } from "./accounts/Invitations.ts"
import { Leases } from "./runs/Leases.ts"
import { Losses } from "./ledger/Losses.ts"
import { Margins } from "./ledger/Margins.ts"
import { Mails } from "./accounts/Mails.ts"
import { MemberInvitations } from "./members/MemberInvitations.ts"
import { Members } from "./members/Members.ts"
import { MailStore } from "./ledger/MailStore.ts"
import { OperatorSessions } from "./operator/OperatorSessions.ts"
import { Ownership } from "./runs/Ownership.ts"
import { ProviderAccounts } from "./provideraccounts/ProviderAccounts.ts"
import { Identities } from "./accounts/Identities.ts"
import { Passkeys } from "./accounts/Passkeys.ts"
import { Passwords } from "./accounts/Passwords.ts"
import { PaymentStore } from "./payments/PaymentStore.ts"
import { HeadStore } from "./receipts/HeadStore.ts"
import { ReceiptStore } from "./receipts/ReceiptStore.ts"
import { SigningKeys } from "./receipts/SigningKeys.ts"
import { Referrals } from "./accounts/Referrals.ts"
import { ReferralShares } from "./accounts/ReferralShares.ts"
import { ProviderShares } from "./executor/ProviderShares.ts"
import { RunStore } from "./runs/RunStore.ts"
import { Sessions } from "./accounts/Sessions.ts"
import { SecondFactors } from "./accounts/SecondFactors.ts"
import { SignInAddresses } from "./accounts/SignInAddresses.ts"
import { WalletLimits } from "./ledger/WalletLimits.ts"
import { LabelBudgets } from "./accounts/LabelBudgets.ts"
import { Senders } from "./accounts/Senders.ts"
import { Stats } from "./ledger/Stats.ts"
import { TurnStore } from "./ledger/TurnStore.ts"
import { UnknownOutcomes } from "./runs/UnknownOutcomes.ts"
import { WaitStore } from "./runs/WaitStore.ts"
import { WalletLanes } from "./accounts/WalletLanes.ts"
import { UsageRollups } from "./usage/UsageRollups.ts"
import { PastRuns } from "./simulation/PastRuns.ts"
import { UsageStore } from "./usage/UsageStore.ts"
import { BatchFeeds } from "./batches/BatchFeeds.ts"
import { BatchStore } from "./batches/BatchStore.ts"
import { ClientDocuments } from "./oauth/ClientDocuments.ts"
import { Connections } from "./oauth/Connections.ts"
import { WebhookDeliveries } from "./webhooks/Deliveries.ts"
import { WebhookEndpoints } from "./webhooks/Endpoints.ts"
import { PauseMails } from "./webhooks/PauseMails.ts"
import { Disputes } from "./warranty/Disputes.ts"
import { WarrantyRefunds } from "./warranty/WarrantyRefunds.ts"
import { DatabaseLayer } from "./postgres/Database.ts"

const Stores = Layer.mergeAll(
  Erasure.layer.pipe(
    Layer.provideMerge(
      Layer.mergeAll(HistoryStore.layer.pipe(Layer.provide(Finder.layer)), HistoryIndex.layer, UsageRollups.layer)
    ),
    Layer.provideMerge(BatchErasure.layer)
  ),
  RunStore.layer,
  TurnStore.layer,
  Layer.merge(GuardStore.layer, ApprovalStore.layer),
  OptOuts.layer,
  MailStore.layer,
  Leases.layer,
  Ownership.layer,
  Layer.merge(Senders.layer, ProviderAccounts.layer),
  LabelBudgets.layer,
  WaitStore.layer,
  Layer.mergeAll(
    Layer.merge(Connections.layer, Passkeys.layer).pipe(
      Layer.provideMerge(Accounts.layer),
      Layer.provideMerge(SecondFactors.layer)
    ),
    ClientDocuments.layer,
    AllowanceStore.layer,
    WalletLanes.layer,
    SignInAddresses.layer,
    Identities.layer
  ),
  Layer.mergeAll(Invitations.layer, Mails.layer, Passwords.layer, Sessions.layer),
  Layer.merge(Members.layer, MemberInvitations.layer).pipe(
    Layer.provide([Accounts.layer, Mails.layer]),
    Layer.provide(SecondFactors.layer)
  ),
  Referrals.layer,
  ReferralShares.layer,
  Layer.merge(Books.layer, WalletLimits.layer),
  PaymentStore.layer,
  Layer.mergeAll(CatalogStore.layer, ProviderChecks.layer, CreditsStore.layer, ProviderShares.layer),
  Installation.layer,
  BooksWatch.layer.pipe(Layer.provideMerge(Audit.layer)),
  Layer.merge(Losses.layer, Margins.layer),
  UnknownOutcomes.layer,
  Layer.mergeAll(EventLog.layer, AlertSettings.layer, EventWriter.layer.pipe(Layer.provideMerge(AlertMailStore.layer))),
  Stats.layer,
  Layer.merge(UsageStore.layer, PastRuns.layer),
  Layer.merge(Disputes.layer, WarrantyRefunds.layer),
  OperatorSessions.layer,
  Layer.mergeAll(HeadStore.layer, ReceiptStore.layer, SigningKeys.layer),
  Layer.merge(BatchStore.layer, BatchFeeds.layer),
  BackgroundMigrations.layer,
  Layer.merge(WebhookEndpoints.layer, WebhookDeliveries.layer.pipe(Layer.provideMerge(PauseMails.layer))).pipe(
    Layer.provide(EventLog.layer)
  )
).pipe(Layer.provideMerge(Layer.merge(AuditLog.layer, Directory.layer)))

/** The database and the stores, without HTTP and providers. */
export const Storage = Marketplace.layer.pipe(Layer.provideMerge(Stores), Layer.provideMerge(DatabaseLayer))
