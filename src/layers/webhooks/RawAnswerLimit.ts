/**
 * Limits what a receiver sends beside the body of its answer.
 *
 * The client reads without end what comes before an answer (interim answers with a 1xx status, empty lines) and around the parts of its body
 * (zeros before a length). Each byte costs parsing: one receiver that sent them as fast as it could kept the process from everything else
 * for seconds.
 */
import type { ClientRequest } from "node:http"

/** Four times the client's own limit of an answer's headers. */
const headBytesMax = 65_536

/** Ends the request when more than that has come before the answer, or more than `bodyBytesMax` after it, whatever the bytes say. */
export const limitRawAnswer = (request: ClientRequest, bodyBytesMax: number): void => {
  let left = headBytesMax
  request.once("response", () => {
    left = bodyBytesMax
  })
  // Nobody reads what follows, and nobody else would close the connection.
  request.once("upgrade", (_answer, socket) => {
    socket.destroy()
    request.emit("error", new Error("the receiver changed the protocol"))
  })
  request.once("socket", (socket) => {
    socket.on("data", (bytes: Buffer) => {
      left -= bytes.length
      if (left >= 0) return
      // Later, so that a reader who has enough of the answer ends it first, without an error.
      setImmediate(() => request.destroy(new Error("the receiver sent too much beside its answer")))
    })
  })
}
