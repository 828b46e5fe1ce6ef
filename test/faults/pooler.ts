/**
 * A connection pooler in transaction mode, as PgBouncer is: a client gets a server connection for one transaction, whichever is free,
 * and startup parameters are ignored.
 */
import { createServer, type Socket } from "node:net"
import type { Duplex } from "node:stream"
import { Client } from "pg"

const sslRequest = 80_877_103
const int32 = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}
const message = (tag: string, body: Buffer) => Buffer.concat([Buffer.from(tag), int32(body.length + 4), body])
const parameter = (name: string, value: string) => message("S", Buffer.from(`${name}\0${value}\0`))
const welcome = Buffer.concat([
  message("R", int32(0)),
  parameter("server_version", "18.0"),
  parameter("client_encoding", "UTF8"),
  parameter("DateStyle", "ISO, MDY"),
  parameter("TimeZone", "UTC"),
  parameter("integer_datetimes", "on"),
  parameter("standard_conforming_strings", "on"),
  message("K", Buffer.concat([int32(4242), int32(4242)])),
  message("Z", Buffer.from("I"))
])

/** Splits a stream into messages; the first of a client has no type byte. */
const split = (typed: () => boolean, take: (message: Buffer) => void) => {
  let pending: Buffer = Buffer.alloc(0)
  return (chunk: Buffer) => {
    pending = Buffer.concat([pending, chunk])
    for (;;) {
      const head = typed() ? 1 : 0
      if (pending.length < head + 4) return
      const length = head + pending.readInt32BE(head)
      if (pending.length < length) return
      const one = pending.subarray(0, length)
      pending = pending.subarray(length)
      take(one)
    }
  }
}

interface Server {
  readonly socket: Duplex
  /** Who uses it now, and the answers that are still to come. */
  user: ((answer: Buffer) => void) | undefined
  due: number
}

/** `options` are what the pooler itself sets on its server connections, as `-c name=value`. */
export const startPooler = async (databaseUrl: string, size: number, options = "") => {
  const idle: Array<Server> = []
  const waiting: Array<(server: Server) => void> = []
  const clients = await Promise.all(
    Array.from({ length: size }, async () => {
      const client = new Client({ connectionString: databaseUrl, options })
      client.on("error", () => {})
      await client.connect()
      // The driver has signed in; from here on the socket speaks for whoever has it.
      const socket: Duplex = Reflect.get(Reflect.get(client, "connection"), "stream")
      socket.removeAllListeners("data")
      const server: Server = { socket, user: undefined, due: 0 }
      const heard = split(
        () => true,
        (answer) => {
          const user = server.user
          if (answer[0] === 0x5a) server.due -= 1
          // Idle, and nothing more was asked: the next transaction of anybody may have it.
          if (answer[0] === 0x5a && answer[5] === 0x49 && server.due === 0) {
            server.user = undefined
            user?.(answer)
            const next = waiting.shift()
            return next === undefined ? void idle.push(server) : next(server)
          }
          user?.(answer)
        }
      )
      socket.on("data", heard)
      idle.push(server)
      return client
    })
  )
  const sockets = new Set<Socket>()
  const front = createServer((socket) => {
    sockets.add(socket)
    socket.on("error", () => {})
    let started = false
    let mine: Server | undefined
    let asked: Array<Buffer> = []
    const answer = (bytes: Buffer) => {
      // It was the last answer of a transaction when the server has no user any more.
      if (mine?.user === undefined) mine = undefined
      socket.write(bytes)
    }
    const forward = (bytes: Buffer) => {
      if (mine === undefined) return void asked.push(bytes)
      if (bytes[0] === 0x51 || bytes[0] === 0x53) mine.due += 1
      mine.socket.write(bytes)
    }
    const attach = (server: Server) => {
      mine = server
      server.user = answer
      const held = asked
      asked = []
      held.forEach(forward)
    }
    const take = (bytes: Buffer) => {
      if (!started) {
        if (bytes.readInt32BE(4) === sslRequest) return void socket.write("N")
        started = true
        return void socket.write(welcome)
      }
      if (bytes[0] === 0x58) return void socket.end()
      const first = mine === undefined && asked.length === 0
      forward(bytes)
      if (!first) return
      const free = idle.pop()
      if (free === undefined) waiting.push(attach)
      else attach(free)
    }
    socket.on(
      "data",
      split(() => started, take)
    )
  })
  await new Promise<void>((resolve) => front.listen(0, "127.0.0.1", resolve))
  const at = front.address()
  const url = new URL(databaseUrl)
  url.port = String(typeof at === "object" && at !== null ? at.port : 0)
  return {
    url: url.toString(),
    stop: async () => {
      for (const socket of sockets) socket.destroy()
      front.close()
      for (const client of clients) Reflect.get(Reflect.get(client, "connection"), "stream").destroy()
    }
  }
}
