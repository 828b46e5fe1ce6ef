/**
 * The layer of the operator's commands: the stores, a client that sends commands to the wallet actors, and what wakes them.
 *
 * These commands run in their own process, with or without a running service.
 */
import { Layer } from "effect"
import { CommandClient } from "../../actors/mailbox/CommandClient.ts"
import { Lanes } from "../../actors/mailbox/Lanes.ts"
import { Waiters } from "../../actors/mailbox/Waiters.ts"
import { Queues } from "../../layers/queues/Queues.ts"
import { Redis } from "../../layers/queues/Redis.ts"
import { Signals } from "../../layers/queues/Signals.ts"
import { Storage } from "../../layers/Storage.ts"

export const OperatorLayer = CommandClient.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(Lanes.layer, Waiters.layer)),
  Layer.provide(Layer.mergeAll(Signals.layer, Queues.layer)),
  Layer.provide(Redis.layer),
  Layer.provideMerge(Storage)
)
