/**
 * The process, composed: which layers a role needs, over one database and one set of queues.
 *
 * `http` answers requests, `worker` takes turns and executes runs, `all` does both. Any number of each share the work.
 */
import { Effect, Layer } from "effect"
import { AccountMails } from "./actors/AccountMails.ts"
import { Admission } from "./actors/Admission.ts"
import { Asking } from "./actors/Asking.ts"
import { Cashier } from "./actors/Cashier.ts"
import { Executions } from "./actors/Executions.ts"
import { Historian } from "./actors/Historian.ts"
import { Lanes } from "./actors/Lanes.ts"
import { OutcomeLookups } from "./actors/OutcomeLookups.ts"
import { PaymentEvents } from "./actors/PaymentEvents.ts"
import { ReferralActor } from "./actors/ReferralActor.ts"
import { RunActor } from "./actors/RunActor.ts"
import { TopUps } from "./actors/TopUps.ts"
import { Waiters } from "./actors/Waiters.ts"
import { WalletActor } from "./actors/WalletActor.ts"
import { Workers } from "./actors/Workers.ts"
import { MetricsServer } from "./http/MetricsServer.ts"
import { Readiness } from "./http/Readiness.ts"
import { Server } from "./http/Server.ts"
import { Breakers } from "./layers/Breakers.ts"
import { Catalog } from "./layers/Catalog.ts"
import { CrashPoints } from "./layers/CrashPoint.ts"
import { Dns } from "./layers/Dns.ts"
import { Discovery } from "./layers/Discovery.ts"
import { ServiceDatabase } from "./layers/Database.ts"
import { Endpoints } from "./layers/Endpoints.ts"
import { Health } from "./layers/Health.ts"
import { Mailer } from "./layers/Mailer.ts"
import type { Payments } from "./layers/Payments.ts"
import { NoPayments } from "./layers/payments/None.ts"
import { SimulatedPayments } from "./layers/payments/Simulated.ts"
import { StripePayments } from "./layers/payments/Stripe.ts"
import type { Providers } from "./layers/Providers.ts"
import { Queues } from "./layers/Queues.ts"
import { Redis } from "./layers/Redis.ts"
import { SandboxProviders } from "./layers/Sandbox.ts"
import { type Role, Settings } from "./layers/Settings.ts"
import { Signals } from "./layers/Signals.ts"
import { Storage } from "./Storage.ts"
import { HttpProviders } from "./layers/HttpProviders.ts"

const ProvidersLayer = Layer.unwrap(
  Effect.map(
    Settings,
    ({ mode }): Layer.Layer<Providers, never, Breakers | Catalog | Settings> =>
      mode === "sandbox" ? SandboxProviders : HttpProviders
  )
)

const PaymentsLayer = Layer.unwrap(
  Effect.map(Settings, ({ mode, stripe }): Layer.Layer<Payments, never, Settings> => {
    if (mode === "sandbox") return SimulatedPayments
    return stripe === null ? NoPayments : StripePayments
  })
)

const Infrastructure = Layer.merge(ProvidersLayer, PaymentsLayer).pipe(
  Layer.provideMerge(Breakers.layer),
  Layer.provideMerge(Discovery.layer),
  Layer.provideMerge(Endpoints.layer),
  Layer.provideMerge(Catalog.layer),
  Layer.provideMerge(Layer.mergeAll(Signals.layer, Queues.layer, Health.layer, Dns.layer)),
  Layer.provideMerge(Redis.layer),
  Layer.provideMerge(ServiceDatabase.pipe(Layer.provideMerge(Storage))),
  Layer.provideMerge(CrashPoints)
)

/** Asking and waiting: what both roles share. */
const Doors = Layer.mergeAll(
  Admission.layer,
  TopUps.layer,
  PaymentEvents.layer,
  ReferralActor.layer,
  AccountMails.layer.pipe(Layer.provide(Mailer.layer))
).pipe(
  Layer.provideMerge(Asking.layer),
  Layer.provideMerge(Layer.mergeAll(Lanes.layer, Waiters.layer)),
  Layer.provideMerge(Infrastructure)
)

const Working = Workers.pipe(
  Layer.provide(
    Layer.mergeAll(WalletActor.layer, RunActor.layer, Cashier.layer, Historian.layer, OutcomeLookups.layer)
  ),
  Layer.provide(Executions.layer)
)

/** The service in one role, on `Settings`. Its server's address is in `Server` when the role has one. */
export const service = (role: Exclude<Role, "worker">) =>
  (role === "all" ? Layer.merge(Server.layer, Working) : Server.layer).pipe(
    Layer.merge(MetricsServer),
    Layer.provideMerge(Readiness.layer),
    Layer.provideMerge(Doors)
  )

export const worker = Layer.merge(Working, MetricsServer).pipe(
  Layer.provideMerge(Readiness.layer),
  Layer.provideMerge(Doors)
)
