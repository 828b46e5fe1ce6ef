/**
 * Composes the layers of each process role over one database and one set of queues.
 *
 * The role `http` answers requests, `worker` takes turns and executes runs, and `all` does both. Any number of processes share the work.
 */
import { Effect, Layer } from "effect"
import { AccountsWorker } from "./actors/AccountsWorker.ts"
import { AccountMails } from "./actors/accounts/AccountMails.ts"
import { ApprovalWorker } from "./actors/guards/Approvals.ts"
import { Allowances, AllowanceWorker } from "./actors/allowances/Allowances.ts"
import { Admission } from "./actors/runs/Admission.ts"
import { BackgroundWorker } from "./actors/BackgroundWorker.ts"
import { BooksWorker } from "./actors/BooksWorker.ts"
import { CreditsReader } from "./actors/operator/CreditsReader.ts"
import { BatchFeeder } from "./actors/batches/BatchFeeder.ts"
import { CommandClient } from "./actors/mailbox/CommandClient.ts"
import { PaymentWorker } from "./actors/payments/PaymentWorker.ts"
import { HeadWorker } from "./actors/receipts/HeadWorker.ts"
import { Receipts } from "./actors/receipts/Receipts.ts"
import { RunSlots } from "./actors/runs/RunSlots.ts"
import { HistoryWorker, UsageWorker } from "./actors/HistoryWorker.ts"
import { AlertMails } from "./actors/events/AlertMails.ts"
import { EventFeed } from "./actors/events/EventFeed.ts"
import { EventSequencer } from "./actors/events/EventSequencer.ts"
import { DirectCommands } from "./actors/mailbox/DirectCommands.ts"
import { Lanes } from "./actors/mailbox/Lanes.ts"
import { PaymentEvents } from "./actors/payments/PaymentEvents.ts"
import { RunActor } from "./actors/runs/RunActor.ts"
import { Simulations } from "./actors/simulation/Simulations.ts"
import { TopUps } from "./actors/payments/TopUps.ts"
import { Waiters } from "./actors/mailbox/Waiters.ts"
import { BounceReports } from "./actors/warranty/BounceReports.ts"
import { DisputeWorker } from "./actors/warranty/DisputeWorker.ts"
import { Warranties } from "./actors/warranty/Warranties.ts"
import { WalletActor } from "./actors/wallet/WalletActor.ts"
import { Workers } from "./actors/Workers.ts"
import { MetricsServer } from "./http/MetricsServer.ts"
import { WebhookWorker } from "./actors/webhooks/WebhookWorker.ts"
import { Readiness } from "./http/middleware/Readiness.ts"
import { Server } from "./http/Server.ts"
import { Breakers } from "./layers/executor/Breakers.ts"
import { Catalog } from "./layers/catalog/Catalog.ts"
import { CostDrifts } from "./layers/executor/CostDrifts.ts"
import { CrashPoints } from "./layers/platform/CrashPoint.ts"
import { ServiceDatabase } from "./layers/postgres/Database.ts"
import { Endpoints } from "./layers/catalog/Endpoints.ts"
import { Health } from "./layers/executor/Health.ts"
import { OwnAccounts } from "./layers/provideraccounts/OwnAccounts.ts"
import type { ProviderAccounts } from "./layers/provideraccounts/ProviderAccounts.ts"
import { Mailer } from "./layers/accounts/Mailer.ts"
import { NoPayments, type Payments } from "./layers/payments/Payments.ts"
import { SimulatedPayments } from "./layers/payments/Simulated.ts"
import { StripePayments } from "./layers/payments/Stripe.ts"
import type { Providers } from "./layers/executor/Providers.ts"
import { ProviderCredits } from "./layers/executor/ProviderCredits.ts"
import type { ProviderShares } from "./layers/executor/ProviderShares.ts"
import { Queues } from "./layers/queues/Queues.ts"
import { Redis } from "./layers/queues/Redis.ts"
import { SandboxProviders } from "./layers/executor/Sandbox.ts"
import { OfferOutcomes } from "./layers/quotes/OfferOutcomes.ts"
import { type Role, Settings } from "./layers/platform/Settings.ts"
import { Signals } from "./layers/queues/Signals.ts"
import { Reads } from "./layers/standby/Reads.ts"
import { WebhookSender } from "./layers/webhooks/Sender.ts"
import { Replica } from "./layers/standby/Replica.ts"
import { Tracing } from "./layers/observability/Traces.ts"
import { Storage } from "./layers/Storage.ts"
import { HttpProviders } from "./layers/executor/HttpProviders.ts"

const ProvidersLayer = Layer.unwrap(
  Effect.map(
    Settings,
    ({ mode }): Layer.Layer<Providers, never, Breakers | Catalog | ProviderAccounts | ProviderShares | Settings> =>
      mode === "sandbox" ? SandboxProviders : HttpProviders
  )
)

const PaymentsLayer = Layer.unwrap(
  Effect.map(Settings, ({ current, mode }): Layer.Layer<Payments, never, Settings> => {
    if (mode === "sandbox") return SimulatedPayments
    return current().stripe === null ? NoPayments : StripePayments
  })
)

const Infrastructure = Layer.merge(ProvidersLayer, PaymentsLayer).pipe(
  Layer.provideMerge(Layer.merge(Breakers.layer, OwnAccounts.layer)),
  Layer.provideMerge(Endpoints.layer),
  Layer.provideMerge(Catalog.layer),
  Layer.provideMerge(
    Layer.mergeAll(
      Signals.layer,
      Queues.layer,
      Health.layer,
      CostDrifts.layer,
      ProviderCredits.layer,
      OfferOutcomes.layer
    )
  ),
  Layer.provideMerge(Redis.layer),
  Layer.provideMerge(ServiceDatabase.pipe(Layer.provideMerge(Storage))),
  Layer.provideMerge(CrashPoints),
  Layer.provideMerge(Tracing)
)

/** Asking and waiting: what both roles share. */
const ApiLayer = Layer.mergeAll(
  Admission.layer,
  Receipts.layer,
  BounceReports.layer.pipe(Layer.provideMerge(Warranties.layer)),
  Allowances.layer,
  TopUps.layer,
  PaymentEvents.layer,
  EventFeed.layer,
  Layer.merge(AccountMails.layer, AlertMails).pipe(Layer.provide(Mailer.layer))
).pipe(
  Layer.provideMerge(CommandClient.layer),
  Layer.provideMerge(Layer.mergeAll(Lanes.layer, Waiters.layer, DirectCommands.layer)),
  Layer.provideMerge(Infrastructure)
)

const Working = Workers.pipe(
  Layer.provide(Layer.mergeAll(WalletActor.layer, RunActor.layer, PaymentWorker.layer, HistoryWorker.layer)),
  Layer.provide(Layer.merge(RunSlots.layer, EventSequencer.layer)),
  Layer.merge(
    Layer.mergeAll(
      BackgroundWorker,
      AccountsWorker,
      Layer.merge(AllowanceWorker, ApprovalWorker),
      DisputeWorker,
      UsageWorker,
      HeadWorker,
      BooksWorker,
      CreditsReader,
      BatchFeeder,
      WebhookWorker.pipe(Layer.provide(WebhookSender.layer))
    )
  )
)

/** The service in one role, on `Settings`. Its server's address is in `Server` when the role has one. */
export const service = (role: Exclude<Role, "worker">) =>
  (role === "all" ? Layer.merge(Server.layer, Working) : Server.layer).pipe(
    Layer.merge(MetricsServer),
    Layer.provideMerge(Readiness.layer),
    Layer.provideMerge(Simulations.layer),
    Layer.provideMerge(Reads.layer),
    Layer.provideMerge(Replica.layer),
    Layer.provideMerge(ApiLayer)
  )

export const worker = Layer.merge(Working, MetricsServer).pipe(
  Layer.provideMerge(Readiness.layer),
  Layer.provideMerge(Replica.none),
  Layer.provideMerge(ApiLayer)
)
