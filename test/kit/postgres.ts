/**
 * A throwaway PostgreSQL for tests: one cluster per `bun test` process, one database per call, empty or with the service's tables in it.
 *
 * It is the embedded database itself without durability. TEST_DATABASE_URL names another server to use instead (its
 * user must be allowed to create databases).
 */
import { randomBytes } from "node:crypto"
import { chmodSync, mkdtempSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Layer, Redacted, Scope } from "effect"
import { Client } from "pg"
import { DatabaseLayer } from "../../src/layers/postgres/Database.ts"
import { embeddedPostgres } from "../../src/layers/postgres/embedded/EmbeddedPostgres.ts"
import { Installation } from "../../src/layers/queues/Installation.ts"
import { Queues } from "../../src/layers/queues/Queues.ts"
import { Redis } from "../../src/layers/queues/Redis.ts"
import { Settings } from "../../src/layers/platform/Settings.ts"
import { afterwards, once } from "./process-end.ts"

const settings = { fsync: "off", synchronous_commit: "off", full_page_writes: "off", autovacuum_naptime: "1h" }
const bury = `
  kill -QUIT "$(head -n 1 "$2/postmaster.pid")"
  for try in 1 2 3 4 5 6 7 8 9 10; do [ -e "$2/postmaster.pid" ] && sleep 0.1; done
  rm -rf "$1"`

/** Each of some thousand connections would hash the password 4,096 times. */
const cheapPassword = async (url: string) => {
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query("SET scram_iterations = 1")
  await client.query(`ALTER USER CURRENT_USER PASSWORD '${new URL(url).password}'`)
  await client.end()
}

const start = async () => {
  const given = process.env.TEST_DATABASE_URL
  if (given !== undefined && given !== "") return given
  const dataDir = mkdtempSync(join(tmpdir(), "rungate-postgres-"))
  chmodSync(dataDir, 0o755) // the server's account, which is not root's, walks through it
  // The scope is never closed: the process has no last test, and `afterwards` also works when it is killed.
  const running = await Effect.runPromise(
    embeddedPostgres({ dataDir, onProgress: () => Effect.void, settings }).pipe(Scope.provide(Scope.makeUnsafe()))
  )
  afterwards(bury, dataDir, running.cluster)
  const url = Redacted.value(running.url)
  await cheapPassword(url)
  return url
}

/** The URL of the server's own database. Every call of one process gets the same server. */
export const startPostgres = (): Promise<string> => once("postgres", start)

/** A test file has a few databases at once. Older ones go, because each takes 15 MB, in memory where there is room. */
const databasesKept = 40
const databases = once("postgres/databases", (): Array<string> => [])

const dropOldest = async (client: Client) => {
  const oldest = databases.length > databasesKept ? databases.shift() : undefined
  // One that is in use stays until the server ends.
  if (oldest !== undefined) await client.query(`DROP DATABASE IF EXISTS ${oldest}`).catch(() => {})
}

const create = async (template: string): Promise<string> => {
  const server = await startPostgres()
  // Random, because several test processes may share the server of TEST_DATABASE_URL.
  const name = `rungate_test_${randomBytes(6).toString("hex")}`
  const client = new Client({ connectionString: server })
  await client.connect()
  try {
    // A copy of the files: the log, which the other strategy writes block by block, is nobody's here.
    await client.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`)
    databases.push(name)
    await dropOldest(client)
  } finally {
    await client.end()
  }
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.toString()
}

/** The URL of a new, empty database. */
export const freshDatabase = (): Promise<string> => create("template0")

/** Migrated by the service's own layers, once per process: our migrations and the queues' one by one cost more than most tests. */
const prepared = (): Promise<string> =>
  once("postgres/prepared", async () => {
    const url = await freshDatabase()
    const layer = Queues.layer.pipe(
      Layer.provide(Installation.layer),
      Layer.provide(Layer.merge(DatabaseLayer, Redis.layer)),
      Layer.provide(Settings.layerFrom({ DATABASE_URL: url, REDIS_URL: "" }))
    )
    await Effect.runPromise(Effect.scoped(Layer.build(layer)))
    const template = new URL(url).pathname.slice(1)
    databases.splice(databases.indexOf(template), 1)
    return template
  })

/** The URL of a new database as the service's first start leaves it. */
export const preparedDatabase = async (): Promise<string> => create(await prepared())
