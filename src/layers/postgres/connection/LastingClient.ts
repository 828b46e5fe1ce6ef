/**
 * A connection of BullMQ to PostgreSQL whose loss does not end the process.
 *
 * An error event without a listener ends the process. BullMQ and its pool have no listener while they use a connection in a transaction, in
 * the moment between a connection and its listener, and while they close it. What waits on the connection fails all the same, and BullMQ
 * repeats it.
 */
import pg, { Client } from "pg"

export class LastingClient extends Client {
  override emit(event: string | symbol, ...values: Array<unknown>): boolean {
    if (event === "error" && this.listenerCount(event) === 0) return false
    return super.emit(event, ...values)
  }
}

/** Makes BullMQ listen with such connections too. It takes that class from the module `pg` and not from its settings. */
export const listenWithLastingClients = () => {
  Object.assign(pg, { Client: LastingClient })
}
