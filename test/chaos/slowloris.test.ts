/**
 * T56 slowloris.client: 500 connections that say nothing, that never end their headers, or whose body arrives a byte a second. Everybody
 * else is served as before.
 */
import { createConnection, type Socket } from "node:net"
import { afterAll, beforeAll, expect, test } from "bun:test"
import { figures, percentile, timed } from "../kit/app.ts"
import { until } from "./processes.ts"
import { backends, World } from "./world.ts"

const connections = 500
const requests = 400
/** A p99 is one request in a hundred: what a busy machine adds by itself is no sign of harm. */
const p99SlackMillis = 400
const bodySecondsMax = 15

let world: World
beforeAll(async () => {
  world = await World.open({ backend: backends[0] ?? "postgres" })
})
afterAll(() => world.close(), 30_000)

type Kind = "silent" | "headers" | "body"

test("500 slow connections take nothing from others", async () => {
  const service = await world.start("all")
  await world.openAccounts()
  const { hostname, port } = new URL(service.url)
  const [customer] = world.customers
  const headers = { authorization: `Bearer ${customer?.token}` }
  const ask = async () => {
    const { value, millis } = await timed(() => fetch(`${service.url}/v1/wallet`, { headers }))
    await value.arrayBuffer()
    expect(value.status).toBe(200)
    return millis
  }
  /** Four clients, one request after the other each. */
  const measure = async () => {
    const times: Array<number> = []
    const client = async () => {
      for (let n = 0; n < requests / 4; n++) times.push(await ask())
    }
    await Promise.all([client(), client(), client(), client()])
    return percentile(times, 0.99)
  }
  /** The best of three: whatever else this machine does can only make it worse. */
  const best = async () => {
    const found: Array<number> = []
    for (let round = 0; round < 3; round++) found.push(await measure())
    return Math.min(...found)
  }
  await measure()
  const before = await best()

  const slow: Array<{ readonly kind: Kind; readonly socket: Socket; answer: string; closed: boolean }> = []
  const open = (kind: Kind) => {
    const one = { kind, socket: createConnection({ host: hostname, port: Number(port) }), answer: "", closed: false }
    one.socket
      .on("error", () => {})
      .on("data", (chunk: Buffer) => {
        one.answer += chunk.toString()
      })
      .once("close", () => {
        one.closed = true
      })
      .once("connect", () => {
        if (kind === "headers") one.socket.write("GET /v1/wallet HTTP/1.1\r\nHost: x\r\n")
        if (kind === "body")
          one.socket.write(
            `POST /v1/run HTTP/1.1\r\nHost: x\r\nAuthorization: ${headers.authorization}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`
          )
      })
    slow.push(one)
  }
  for (let n = 0; n < connections; n++) open(n % 5 < 1 ? "silent" : n % 5 < 3 ? "headers" : "body")
  const drip = setInterval(() => {
    for (const { kind, socket, closed } of slow)
      if (kind !== "silent" && !closed) socket.write(kind === "body" ? " " : "X")
  }, 1_000)
  try {
    await until("all are connected", 10_000, () => slow.every(({ socket }) => !socket.connecting))
    const during = await best()
    const bodies = slow.filter(({ kind }) => kind === "body")
    await until("every slow body was refused", (bodySecondsMax + 15) * 1_000, () =>
      bodies.every(({ answer }) => answer.startsWith("HTTP/1.1 408"))
    )
    figures("T56 slowloris.client", {
      connections,
      p99_before_ms: before,
      p99_during_ms: during,
      ratio: Math.round((100 * during) / before) / 100,
      slow_bodies_refused: bodies.filter(({ answer }) => answer.startsWith("HTTP/1.1 408")).length
    })
    expect(during).toBeLessThan(Math.max(2 * before, before + p99SlackMillis))
  } finally {
    clearInterval(drip)
    for (const { socket } of slow) socket.destroy()
  }
  // What they leave behind: nothing that anybody notices.
  await measure()
  expect(await world.audit()).toEqual([])
})
