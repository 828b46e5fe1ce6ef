/**
 * Ports of servers that a test kills and starts again. They lie below those that the system gives to outgoing connections, so that nobody
 * takes one while its server is away.
 */
import { createServer } from "node:net"

/** Each process of the runner has a range of its own: a port whose server is away looks free to the others. */
const processes = 3
const worker = Number(process.env["BUN_TEST_WORKER_ID"] ?? 1)
const count = Math.floor(17_000 / processes)
const lowest = 15_000 + ((worker - 1) % processes) * count
const given = new Set<number>()

const isFree = (port: number) =>
  new Promise<boolean>((resolve) => {
    const probe = createServer()
    probe.once("error", () => resolve(false))
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)))
  })

/** `second`: the server listens at the port that is so much higher, too. */
export const freePort = async (second = 0): Promise<number> => {
  for (;;) {
    const port = lowest + Math.floor(Math.random() * count)
    if (given.has(port) || !(await isFree(port)) || !(await isFree(port + second))) continue
    given.add(port)
    return port
  }
}
