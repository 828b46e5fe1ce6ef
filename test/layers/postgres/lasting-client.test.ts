/** The loss of a connection that BullMQ uses ends its statement, and not the process. */
import { expect, test } from "bun:test"
import { Client, Pool } from "pg"
import { LastingClient } from "../../../src/layers/postgres/connection/LastingClient.ts"
import { freshDatabase } from "../../postgres.ts"

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
