/**
 * A connection of BullMQ to PostgreSQL whose loss does not end the process.
 *
 * A pool listens for errors of a connection that nobody uses. While BullMQ uses one in a transaction or its first check, nobody listens, and an
 * error event without a listener ends the process. The statement that waits on the connection fails all the same, and BullMQ repeats it.
 */
import { Client, type ClientConfig } from "pg"

export class LastingClient extends Client {
  constructor(config?: string | ClientConfig) {
    super(config)
    this.on("error", () => {})
  }
}
