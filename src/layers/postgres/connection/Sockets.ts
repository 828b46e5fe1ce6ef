/**
 * Opens the sockets of the service's connections to PostgreSQL. A process that stops closes those that leave it waiting.
 *
 * COMMIT and ROLLBACK can't be interrupted, so a frozen or unreachable server would keep the process for ever. Without its socket the
 * statement fails at once. The server then ends or has ended the transaction by itself, as if this process had been killed.
 *
 * The state is a module variable and not an Effect service: the signal handler that stops the process has no services.
 */
import { createConnection, type Socket } from "node:net"
import { Redacted } from "effect"

/** A statement of a healthy server takes milliseconds. */
const silenceMillisMax = 3_000
/** For connections that are opened after the limit began: several may follow each other, and the process shall end soon. */
const laterMillisMax = 1_000

const opened = new Set<Socket>()
let limited = false

/** An idle connection is closed as well, which harms nobody: the process stops. */
const limit = (socket: Socket, millis: number) =>
  socket.setTimeout(millis, () =>
    socket.destroy(new Error(`PostgreSQL sent nothing for ${millis / 1_000} s, and this process stops`))
  )

/** From now on, closes each connection on which nothing has come from the server for so long. Nothing undoes this. */
export const limitSilence = (): void => {
  limited = true
  for (const socket of opened) limit(socket, silenceMillisMax)
}

/** Where the driver would connect to by itself. */
const targetOf = ({ hostname, port, searchParams }: URL) => {
  const host = searchParams.get("host") ?? decodeURIComponent(hostname.replace(/^\[(.*)\]$/, "$1"))
  const number = Number(searchParams.get("port") ?? (port === "" ? 5432 : port))
  if (host.startsWith("/")) return { path: `${host}/.s.PGSQL.${number}` }
  // A statement is one write and then a wait for the answer, so Nagle's algorithm would only delay it.
  return { host: host === "" ? "localhost" : host, port: number, noDelay: true }
}

/** The option `stream` of the driver's client for the server at `url`. */
export const socketsTo = (url: Redacted.Redacted) => {
  const target = targetOf(new URL(Redacted.value(url)))
  return (): Socket => {
    const socket = createConnection(target)
    opened.add(socket)
    socket.once("close", () => opened.delete(socket))
    if (limited) limit(socket, laterMillisMax)
    return socket
  }
}
