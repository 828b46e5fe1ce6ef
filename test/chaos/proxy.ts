/**
 * A TCP proxy that a test may make silent: bytes of one direction stop, as in a network that is split, and go on when it heals.
 *
 * Nothing is closed and nothing is refused, so neither side is told. A connection that is opened meanwhile is silent too. Towards
 * PostgreSQL it can also swallow notifications, which are the one kind of message that nobody would miss at once.
 */
import { createConnection, createServer, type Socket } from "node:net"

/** `up`: what the client says does not arrive. `down`: what the server says does not. */
export type Direction = "up" | "down" | "both"

export interface Proxy {
  /** The server's address with the proxy in between. */
  readonly url: string
  readonly silence: (direction: Direction) => void
  readonly heal: () => void
  /** New connections go to this server instead, as with an address that an operator moves. Old ones end with their server. */
  readonly redirect: (serverUrl: string) => void
  /** PostgreSQL only: from now on its notifications are swallowed, or no more. */
  readonly swallowNotifications: (yes: boolean) => void
  readonly swallowed: () => number
  readonly stop: () => Promise<void>
}

const notification = "A".charCodeAt(0)

/** Passes PostgreSQL's messages on, all or all but the notifications. Its server sends nothing but messages with a type and a length. */
const notificationFilter = (swallow: () => boolean, swallowed: () => void) => {
  let pending: Buffer = Buffer.alloc(0)
  return (chunk: Buffer): Buffer => {
    pending = Buffer.concat([pending, chunk])
    const kept: Array<Buffer> = []
    while (pending.length >= 5) {
      const length = 1 + pending.readInt32BE(1)
      if (pending.length < length) break
      const message = pending.subarray(0, length)
      pending = pending.subarray(length)
      if (message[0] === notification && swallow()) swallowed()
      else kept.push(message)
    }
    return Buffer.concat(kept)
  }
}

export const proxyTo = async (serverUrl: string, portDefault: number): Promise<Proxy> => {
  let target = new URL(serverUrl)
  const isPostgres = target.protocol.startsWith("postgres")
  const pairs = new Set<{ readonly client: Socket; readonly server: Socket }>()
  let silent: Direction | null = null
  let swallowing = false
  let swallowed = 0
  const stops = (direction: "up" | "down") => silent === direction || silent === "both"
  const apply = () => {
    for (const { client, server } of pairs) {
      if (stops("up")) client.pause()
      else client.resume()
      if (stops("down")) server.pause()
      else server.resume()
    }
  }

  const listener = createServer((client) => {
    const server = createConnection({ host: target.hostname, port: Number(target.port) || portDefault })
    const pair = { client, server }
    pairs.add(pair)
    const filter = notificationFilter(
      () => swallowing,
      () => {
        swallowed += 1
      }
    )
    client.on("data", (chunk: Buffer) => server.write(chunk))
    server.on("data", (chunk: Buffer) => {
      const passed = isPostgres ? filter(chunk) : chunk
      if (passed.length > 0) client.write(passed)
    })
    for (const socket of [client, server])
      socket
        .setNoDelay(true)
        .on("error", () => {})
        .once("close", () => {
          pairs.delete(pair)
          client.destroy()
          server.destroy()
        })
    apply()
  })
  const url = new URL(serverUrl)
  url.hostname = "127.0.0.1"
  url.port = await new Promise<string>((resolve, reject) => {
    listener.once("error", reject)
    listener.listen(0, "127.0.0.1", () => {
      const address = listener.address()
      if (typeof address === "object" && address !== null) resolve(String(address.port))
      else reject(new Error("no port"))
    })
  })

  return {
    url: url.toString(),
    silence: (direction) => {
      silent = direction
      apply()
    },
    heal: () => {
      silent = null
      apply()
    },
    redirect: (otherUrl) => {
      target = new URL(otherUrl)
    },
    swallowNotifications: (yes) => {
      swallowing = yes
    },
    swallowed: () => swallowed,
    stop: async () => {
      for (const { client, server } of pairs) {
        client.destroy()
        server.destroy()
      }
      await new Promise((resolve) => listener.close(resolve))
    }
  }
}
