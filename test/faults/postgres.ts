/**
 * A wire to PostgreSQL that breaks at a chosen statement: a proxy that reads the protocol and knows which statement is which.
 *
 * `before`: the statement never reaches the server. `after`: the server has executed it, and its answer is lost, so nobody on
 * our side knows whether it was committed. What was on its way on the same connection before it is answered.
 */
import type { Socket } from "node:net"
import { type Strikes, wire } from "./wire.ts"

const sslRequest = 80_877_103
const gssRequest = 80_877_104
const cancelRequest = 80_877_102

/** Splits a stream into messages: with a type byte in front, but for the first ones of a client. */
const messages = (typed: () => boolean, take: (message: Buffer) => void) => {
  let pending: Buffer = Buffer.alloc(0)
  return (chunk: Buffer) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk])
    for (;;) {
      const head = typed() ? 1 : 0
      if (pending.length < head + 4) return
      const length = head + pending.readInt32BE(head)
      if (pending.length < length) return
      const message = pending.subarray(0, length)
      pending = pending.subarray(length)
      take(message)
    }
  }
}

const textAt = (message: Buffer, from: number) => message.toString("utf8", from, message.indexOf(0, from))
const tagOf = (message: Buffer) => String.fromCharCode(message[0] ?? 0)
/** Two strings, one after the other, as Parse and Bind carry them. */
const pairOf = (message: Buffer): readonly [string, string] => {
  const first = textAt(message, 5)
  return [first, textAt(message, 5 + Buffer.byteLength(first) + 1)]
}

const relay = (client: Socket, server: Socket, strikes: Strikes) => {
  const prepared = new Map<string, string>()
  const portals = new Map<string, string>()
  /** One for each Sync or simple query that the server has not finished; true: its answer is lost. */
  const cycles: Array<boolean> = []
  let application = ""
  let started = false
  let lost = false
  /** The statement was swallowed: nothing more goes to the server, and the wire breaks when it has answered the rest. */
  let swallowing = false

  const end = () => {
    client.destroy()
    server.destroy()
  }

  const startup = (message: Buffer) => {
    const code = message.readInt32BE(4)
    if (code === sslRequest || code === gssRequest) return void client.write("N")
    if (code !== cancelRequest) {
      started = true
      const words = message.toString("utf8", 8).split("\0")
      const at = words.findIndex((word, index) => index % 2 === 0 && word === "application_name")
      application = at < 0 ? "" : (words[at + 1] ?? "")
    }
    server.write(message)
  }

  const statement = (sql: string) => {
    const struck = strikes({ text: sql, from: application })
    if (struck === "after") lost = true
    if (struck !== "before") return
    swallowing = true
    if (cycles.length === 0) end()
  }

  const fromClient = (message: Buffer) => {
    if (!started) return startup(message)
    if (swallowing) return
    const tag = tagOf(message)
    if (tag === "P") prepared.set(...pairOf(message))
    if (tag === "B") {
      const [portal, name] = pairOf(message)
      portals.set(portal, prepared.get(name) ?? "")
    }
    if (tag === "E") statement(portals.get(textAt(message, 5)) ?? "")
    if (tag === "Q") statement(textAt(message, 5))
    if (swallowing) return
    if (tag === "S" || tag === "Q") {
      cycles.push(lost)
      lost = false
    }
    server.write(message)
  }

  const fromServer = (message: Buffer) => {
    const ready = tagOf(message) === "Z"
    if (cycles[0] === true) return ready ? end() : undefined
    client.write(message)
    // The very first one ends the login, which is no cycle of a statement.
    if (ready) cycles.shift()
    if (ready && swallowing && cycles.length === 0) end()
  }

  client.on(
    "data",
    messages(() => started, fromClient)
  )
  server.on(
    "data",
    messages(() => true, fromServer)
  )
  for (const socket of [client, server]) socket.on("error", end).on("close", end)
}

export const faultyPostgres = (databaseUrl: string) => wire(databaseUrl, 5432, relay)
