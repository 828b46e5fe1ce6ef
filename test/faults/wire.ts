/**
 * A wire that a test may break: what one to PostgreSQL and one to Redis have in common.
 *
 * A proxy asks it about everything that passes; what counts is numbered, and the chosen one breaks one connection, once.
 */
import { createConnection, createServer, type Socket } from "node:net"

/** `before`: it never reaches the server. `after`: the server has executed it, and nobody on our side knows. */
export type Moment = "before" | "after"
export const moments: ReadonlyArray<Moment> = ["before", "after"]

/** Something that passes: a statement or a packet of commands, and what the connection calls itself. */
export interface Passing {
  readonly text: string
  /** The service's own connections to Postgres say `rungate`, BullMQ's nothing. */
  readonly from: string
}
export type Counts = (passing: Passing) => boolean

export interface Passage {
  /** What counted since the wire was armed, the one that broke it included. */
  readonly counted: ReadonlyArray<string>
  /** What broke it, and when; null when it was never reached. */
  readonly struck: { readonly text: string; readonly at: number } | null
}

export interface Wire {
  /** The server's address with the wire in between. */
  readonly url: string
  /** Breaks at the k-th that counts from now on; at none when k is 0. */
  readonly arm: (counts: Counts, k: number, moment: Moment) => void
  readonly struck: () => boolean
  readonly disarm: () => Passage
  readonly stop: () => Promise<void>
}

/** Says for everything that passes, in order, whether it breaks the wire. */
export type Strikes = (passing: Passing) => Moment | null
/** Puts a client's connection through to a server's. */
export type Relay = (client: Socket, server: Socket, strikes: Strikes) => void

export const wire = async (serverUrl: string, portDefault: number, relay: Relay): Promise<Wire> => {
  const target = new URL(serverUrl)
  const sockets = new Set<Socket>()
  let chosen: { readonly counts: Counts; readonly k: number; readonly moment: Moment } | null = null
  let counted: Array<string> = []
  let struck: Passage["struck"] = null

  const strikes: Strikes = (passing) => {
    if (chosen === null || struck !== null || !chosen.counts(passing)) return null
    counted.push(passing.text)
    if (counted.length !== chosen.k) return null
    struck = { text: passing.text, at: performance.now() }
    return chosen.moment
  }
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.setNoDelay(true).once("close", () => sockets.delete(socket))
  }

  const proxy = createServer((client) => {
    const server = createConnection({ host: target.hostname, port: Number(target.port) || portDefault })
    keep(client)
    keep(server)
    relay(client, server, strikes)
  })
  const url = new URL(serverUrl)
  url.hostname = "127.0.0.1"
  url.port = await new Promise<string>((resolve, reject) => {
    proxy.once("error", reject)
    proxy.listen(0, "127.0.0.1", () => {
      const address = proxy.address()
      if (typeof address === "object" && address !== null) resolve(String(address.port))
      else reject(new Error("no port"))
    })
  })

  return {
    url: url.toString(),
    arm: (counts, k, moment) => {
      chosen = { counts, k, moment }
      counted = []
      struck = null
    },
    struck: () => struck !== null,
    disarm: () => {
      chosen = null
      return { counted, struck }
    },
    stop: async () => {
      for (const socket of [...sockets]) socket.destroy()
      await new Promise((resolve) => proxy.close(resolve))
    }
  }
}
