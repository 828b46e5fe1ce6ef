/** The loss of a connection that BullMQ uses ends its statement, and not the process. */
import { expect, test } from "bun:test"
import { once } from "node:events"
import net, { type AddressInfo } from "node:net"
import { PostgresConnection } from "bullmq"
import { Client, Pool } from "pg"
import { LastingClient, listenWithLastingClients } from "../../../src/layers/postgres/connection/LastingClient.ts"
import { freshDatabase } from "../../kit/postgres.ts"

test("a connection that is lost while it is used fails what is asked next, and the pool goes on", async () => {
  const connectionString = await freshDatabase()
  const pool = new Pool({ connectionString, Client: LastingClient })
  const used = await pool.connect()
  const { rows } = await used.query("SELECT pg_backend_pid() AS pid")
  const lost = new Promise((resolve) => used.once("end", () => resolve("lost")))
  const other = new Client({ connectionString })
  await other.connect()
  await other.query("SELECT pg_terminate_backend($1)", [rows[0]?.pid])
  expect(await lost).toBe("lost")
  await expect(used.query("SELECT 1")).rejects.toThrow()
  used.release(true)
  expect((await pool.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }])
  await Promise.all([pool.end(), other.end()])
})

const message = (type: string, body: Buffer) => {
  const head = Buffer.alloc(5)
  head.write(type)
  head.writeUInt32BE(body.length + 4, 1)
  return Buffer.concat([head, body])
}

/** What PostgreSQL sends, as one packet, to a connection that is ready when the server's main process dies. */
const readyThenLost = Buffer.concat([
  message("R", Buffer.alloc(4)),
  message("Z", Buffer.from("I")),
  message("E", Buffer.from("SFATAL\0C57P01\0Mterminating connection due to unexpected postmaster exit\0\0"))
])

test("a connection that ends before BullMQ listens to its errors fails what waits for it", async () => {
  listenWithLastingClients()
  const server = net.createServer((socket) => socket.once("data", () => socket.end(readyThenLost)))
  await once(server.listen(0, "127.0.0.1"), "listening")
  // A server on TCP has an address with a port.
  const { port } = server.address() as AddressInfo
  const connection = new PostgresConnection({ connectionString: `postgres://nobody:secret@127.0.0.1:${port}/none` })
  const listening = await connection.getListenClient()
  await expect(listening.query("LISTEN rungate")).rejects.toThrow()
  await connection.close()
  server.close()
})
