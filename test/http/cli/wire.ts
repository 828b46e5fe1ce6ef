/** A line to the service that breaks: the request arrives, and its answer does not. */
import { createServer, connect as open, type Socket } from "node:net"

export interface Wire {
  readonly url: string
  /** Answers that were swallowed. */
  readonly cut: () => number
  /** Nothing is swallowed from now on. */
  readonly mend: () => void
  readonly stop: () => Promise<void>
}

/** Passes connections on to `target`; the first `cuts` answers are swallowed and the connection is closed. */
export const cutLine = (target: string, cuts: number, mayCut: (request: string) => boolean = () => true): Wire => {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  let cut = 0
  let left = cuts
  const server = createServer((near) => {
    const far = open(Number(port), hostname)
    sockets.add(near).add(far)
    let request = ""
    near.on("data", (part) => {
      request = String(part)
      far.write(part)
    })
    far.on("data", (part) => {
      if (left > 0 && mayCut(request)) {
        cut++
        left--
        near.destroy()
        far.destroy()
      } else near.write(part)
    })
    for (const [one, other] of [
      [near, far],
      [far, near]
    ] as const) {
      one.on("error", () => other.destroy()).on("close", () => other.destroy())
    }
  })
  server.listen(0, "127.0.0.1")
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`,
    cut: () => cut,
    mend: () => {
      left = 0
    },
    stop: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy()
        server.close(() => resolve())
      })
  }
}
