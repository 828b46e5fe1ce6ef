/**
 * The process, composed: which layers a role needs, over one database and one set of queues.
 *
 * `http` answers requests, `worker` takes turns and executes runs, `all` does both. Any number of each share the work.
 */
import { Effect, Layer } from "effect"
import { Admission } from "./actors/Admission.ts"
import { Asking } from "./actors/Asking.ts"
import { Executions } from "./actors/Executions.ts"
import { Lanes } from "./actors/Lanes.ts"
import { RunActor } from "./actors/RunActor.ts"
import { Waiters } from "./actors/Waiters.ts"
import { WalletActor } from "./actors/WalletActor.ts"
import { Workers } from "./actors/Workers.ts"
import { Server } from "./http/Server.ts"
import { Accounts } from "./layers/Accounts.ts"
import { Actors } from "./layers/Actors.ts"
import { Audit } from "./layers/Audit.ts"
import { Books } from "./layers/Books.ts"
import { Breakers } from "./layers/Breakers.ts"
import { Catalog } from "./layers/Catalog.ts"
import { CatalogStore } from "./layers/CatalogStore.ts"
import { CrashPoints } from "./layers/CrashPoint.ts"
import { DatabaseLayer } from "./layers/Database.ts"
import { Discovery } from "./layers/Discovery.ts"
import { Endpoints } from "./layers/Endpoints.ts"
import { Health } from "./layers/Health.ts"
import { Leases } from "./layers/Leases.ts"
import { MailStore } from "./layers/MailStore.ts"
import { Ownership } from "./layers/Ownership.ts"
import type { Providers } from "./layers/Providers.ts"
import { Queues } from "./layers/Queues.ts"
import { Redis } from "./layers/Redis.ts"
import { RunStore } from "./layers/RunStore.ts"
import { SandboxProviders } from "./layers/Sandbox.ts"
import { type Role, Settings } from "./layers/Settings.ts"
import { Signals } from "./layers/Signals.ts"
import { Stats } from "./layers/Stats.ts"
import { TurnStore } from "./layers/TurnStore.ts"
import { WaitStore } from "./layers/WaitStore.ts"
import { HttpProviders } from "./layers/HttpProviders.ts"

const ProvidersLayer = Layer.unwrap(
  Effect.map(
    Settings,
    ({ mode }): Layer.Layer<Providers, never, Breakers | Catalog | Settings> =>
      mode === "sandbox" ? SandboxProviders : HttpProviders
  )
)

const Stores = Layer.mergeAll(
  RunStore.layer,
  TurnStore.layer,
  MailStore.layer,
  Leases.layer,
  Ownership.layer,
  WaitStore.layer,
  Accounts.layer,
  Books.layer,
  CatalogStore.layer,
  Audit.layer,
  Stats.layer
)

/** Database and stores only: what the operator's commands need. */
export const Storage = Actors.layer.pipe(Layer.provideMerge(Stores), Layer.provideMerge(DatabaseLayer))

/** Storage and a way to send the actors a command: for a process that is no part of the service, beside it or without it. */
export const Commanding = Asking.layer.pipe(
  Layer.provide(Layer.mergeAll(Lanes.layer, Waiters.layer)),
  Layer.provide(Layer.mergeAll(Signals.layer, Queues.layer)),
  Layer.provide(Redis.layer),
  Layer.provideMerge(Storage)
)

const Infrastructure = ProvidersLayer.pipe(
  Layer.provideMerge(Breakers.layer),
  Layer.provideMerge(Discovery.layer),
  Layer.provideMerge(Endpoints.layer),
  Layer.provideMerge(Catalog.layer),
  Layer.provideMerge(Layer.mergeAll(Signals.layer, Queues.layer, Health.layer)),
  Layer.provideMerge(Redis.layer),
  Layer.provideMerge(Storage),
  Layer.provideMerge(CrashPoints)
)

/** Asking and waiting: what both roles share. */
const Doors = Layer.mergeAll(Admission.layer, Asking.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(Lanes.layer, Waiters.layer)),
  Layer.provideMerge(Infrastructure)
)

const Working = Workers.pipe(
  Layer.provide(Layer.mergeAll(WalletActor.layer, RunActor.layer)),
  Layer.provide(Executions.layer)
)

/** The service in one role, on `Settings`. Its server's address is in `Server` when the role has one. */
export const service = (role: Exclude<Role, "worker">) =>
  (role === "all" ? Layer.merge(Server.layer, Working) : Server.layer).pipe(Layer.provideMerge(Doors))

export const worker = Working.pipe(Layer.provideMerge(Doors))
