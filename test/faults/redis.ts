/**
 * A wire to Redis that breaks at a chosen write: at the k-th packet of commands that counts.
 *
 * `before`: Redis never sees it. `after`: Redis executes it, and its answer is lost.
 */
import { wire } from "./wire.ts"

/** Commands are readable text with lengths in between; enough to tell which they are. */
const readable = (packet: Buffer) =>
  packet
    .toString("latin1")
    .split("\r\n")
    .filter((line) => line !== "" && !/^[*$]\d+$/.test(line))
    .join(" ")

export const faultyRedis = (redisUrl: string) =>
  wire(redisUrl, 6379, (client, server, strikes) => {
    let struck = false
    const end = () => {
      client.destroy()
      server.destroy()
    }
    client.on("data", (packet: Buffer) => {
      if (struck) return
      const moment = strikes({ text: readable(packet), from: "redis" })
      struck = moment !== null
      if (moment === "before") return end()
      server.write(packet)
      if (moment === null) return
      // Closed with a farewell, so Redis still reads and executes what was written; its answer goes nowhere.
      server.end()
      client.destroy()
    })
    server.on("data", (answer) => {
      if (!struck) client.write(answer)
    })
    client.on("error", end).on("close", () => (struck ? undefined : end()))
    server.on("error", end).on("close", end)
  })
