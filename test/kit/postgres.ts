/**
 * A throwaway PostgreSQL for tests: one cluster per `bun test` process, one database per call, empty or with the service's tables in it.
 *
 * It is the embedded database itself without durability. TEST_DATABASE_URL names another server to use instead (its
 * user must be allowed to create databases).
 */
import { randomBytes } from "node:crypto"
import { spawnSync } from "node:child_process"
import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Exit, Layer, Redacted, Scope } from "effect"
import { Client } from "pg"
import { DatabaseLayer } from "../../src/layers/postgres/Database.ts"
import { embeddedPostgres } from "../../src/layers/postgres/embedded/EmbeddedPostgres.ts"
import { locate, readState, writeState } from "../../src/layers/postgres/embedded/EmbeddedPostgresFiles.ts"
import { Installation } from "../../src/layers/queues/Installation.ts"
import { Queues } from "../../src/layers/queues/Queues.ts"
import { Redis } from "../../src/layers/queues/Redis.ts"
import { Settings } from "../../src/layers/platform/Settings.ts"
import { filesUnder, keptFolder } from "./build-cache.ts"
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

const open = (dataDir: string, scope: Scope.Scope) =>
  Effect.runPromise(embeddedPostgres({ dataDir, onProgress: () => Effect.void, settings }).pipe(Scope.provide(scope)))

/** A folder whose contents the server's account, which is not root's, may reach. */
const newFolder = (parent = tmpdir()) => {
  const folder = mkdtempSync(join(parent, "rungate-postgres-"))
  chmodSync(folder, 0o755)
  return folder
}

const copy = (from: string, to: string) => {
  const { status, stderr } = spawnSync("cp", ["-a", from, to], { encoding: "utf8" })
  if (status !== 0) throw new Error(`${from} could not be copied: ${stderr}`)
}

/**
 * The schema of prepared databases, which is their sessions' search path too. The service in `public` is what real processes run in the tests of
 * kills, of upgrades and of the packages.
 */
export const preparedSchema = "rungate_tests"

/** The database of a new server that new ones are copies of. */
export const keptTemplate = "rungate_template"
const sources = () => [...filesUnder("src/layers/{postgres,queues,platform}/**/*.{ts,sql}"), "package-lock.json"]

/** A stopped cluster with the template in it. Making one takes seconds: initdb, our migrations and the queues' one by one. */
const makeCluster = async (folder: string) => {
  const dataDir = newFolder()
  const scope = Scope.makeUnsafe()
  try {
    const { url, cluster } = await open(dataDir, scope)
    await cheapPassword(Redacted.value(url))
    await newTemplate(Redacted.value(url), keptTemplate)
    await Effect.runPromise(Scope.close(scope, Exit.void))
    copy(cluster, join(folder, "cluster"))
    copy(locate(dataDir).state, join(folder, "state"))
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
}

/** Starts a server with its files in a folder, and gives its URL. It ends with this process. */
export const newServer = async (parent?: string): Promise<string> => {
  const dataDir = newFolder(parent)
  const place = locate(dataDir)
  await keptFolder("postgres", sources, makeCluster, (kept) => {
    copy(join(kept, "cluster"), place.cluster)
    copy(join(kept, "state"), place.state)
  })
  const state = readState(place)
  // Another process has a copy too, and takes the port that was free when the cluster was made.
  if (state !== undefined) writeState(place, { ...state, port: 0 })
  // The scope is never closed: the process has no last test, and `afterwards` also works when it is killed.
  const running = await open(dataDir, Scope.makeUnsafe())
  afterwards(bury, dataDir, running.cluster)
  return Redacted.value(running.url)
}

const start = async () => {
  const given = process.env.TEST_DATABASE_URL
  return given === undefined || given === "" ? await newServer() : given
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

/** Random, because several test processes may share the server of TEST_DATABASE_URL. */
const newName = () => `rungate_test_${randomBytes(6).toString("hex")}`

const create = async (server: string, template: string, name: string, schema?: string): Promise<string> => {
  const client = new Client({ connectionString: server })
  await client.connect()
  try {
    // A copy of the files: the log, which the other strategy writes block by block, is nobody's here.
    await client.query(`CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY FILE_COPY`)
    if (schema !== undefined) await client.query(`ALTER DATABASE ${name} SET search_path = ${schema}`)
    await dropOldest(client)
  } finally {
    await client.end()
  }
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.toString()
}

const createAndRemember = async (template: string, schema?: string) => {
  const url = await create(await startPostgres(), template, newName(), schema)
  databases.push(new URL(url).pathname.slice(1))
  return url
}

/** The URL of a new, empty database. */
export const freshDatabase = (): Promise<string> => createAndRemember("template0")

/** Creates a database as the service's first start leaves it, by the service's own layers, and gives its name. */
const newTemplate = async (server: string, name = newName()): Promise<string> => {
  const url = await create(server, "template0", name)
  const layer = Queues.layer.pipe(
    Layer.provide(Installation.layer),
    Layer.provide(Layer.merge(DatabaseLayer, Redis.layer)),
    Layer.provide(Settings.layerFrom({ DATABASE_URL: url, REDIS_URL: "", RUNGATE_DATABASE_SCHEMA: preparedSchema }))
  )
  await Effect.runPromise(Effect.scoped(Layer.build(layer)))
  return name
}

/** Of a server that was given: TEST_DATABASE_TEMPLATE names a database of it that is as a first start leaves it. */
const prepared = (): Promise<string> =>
  once("postgres/prepared", async () => {
    const { TEST_DATABASE_TEMPLATE: template = "", TEST_DATABASE_URL: server = "" } = process.env
    if (template !== "") return template
    await startPostgres()
    return server === "" ? keptTemplate : newTemplate(server)
  })

/** The URL of a new database as the service's first start leaves it. */
export const preparedDatabase = async (): Promise<string> => createAndRemember(await prepared(), preparedSchema)
