/**
 * Runs PostgreSQL's programs under an account that may run them, and connects to the server.
 *
 * The programs get a log file and nothing else: no terminal, no environment with secrets, no current directory.
 */
import { type ChildProcess, spawn } from "node:child_process"
import * as fs from "node:fs"
import { join } from "node:path"
import { Client } from "pg"
import { lastComplaint, openLog, type Place, type State } from "./EmbeddedPostgresFiles.ts"

const database = "rungate"
const environment = { PATH: "/usr/bin:/bin", LC_ALL: "C" }

export const run = (place: Place, program: string, args: ReadonlyArray<string>): ChildProcess => {
  const log = openLog(place, program)
  // Detached, because Ctrl-C reaches the whole terminal group and the server must outlive our own goodbyes.
  const stdio: Array<"ignore" | number> = ["ignore", log, log]
  const spawnOptions = { stdio, detached: true, cwd: "/", env: environment, ...place.account }
  const started = spawn(join(place.native, "bin", program), args, spawnOptions)
  fs.closeSync(log)
  started.unref()
  return started
}

/** Creates the cluster beside its final place and renames it there, so that a half-made one is never taken for it. */
export const createCluster = async (place: Place, password: string, durable: boolean) => {
  const draft = `${place.cluster}.draft`
  const secret = `${place.cluster}.secret`
  fs.rmSync(draft, { recursive: true, force: true })
  fs.writeFileSync(secret, password, { mode: 0o600 })
  fs.mkdirSync(draft, { mode: 0o700 })
  if (place.account !== undefined) {
    for (const path of [draft, secret]) fs.chownSync(path, place.account.uid, place.account.gid)
  }
  const common = ["-D", draft, "-U", "rungate", `--pwfile=${secret}`, "--auth=scram-sha-256", "-E", "UTF8"]
  if (!durable) common.push("--no-sync")
  try {
    // Some systems have no C.UTF-8 of their own; PostgreSQL's built-in one does the sorting either way.
    for (const locale of ["C.UTF-8", "C"]) {
      const locales = ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", `--locale=${locale}`]
      const initdb = run(place, "initdb", [...common, ...locales])
      const code = await new Promise((resolve, reject) => initdb.once("exit", resolve).once("error", reject))
      if (code === 0) return fs.renameSync(draft, place.cluster)
    }
    throw new Error(`initdb failed: ${lastComplaint(place)}`)
  } finally {
    fs.rmSync(secret, { force: true })
  }
}

export const urlOf = ({ port, password }: State, name = database) =>
  `postgres://rungate:${password}@127.0.0.1:${port}/${name}`

export const query = async (state: State, sql: string, name = database): Promise<ReadonlyArray<unknown>> => {
  const client = new Client({ connectionString: urlOf(state, name), connectionTimeoutMillis: 5_000 })
  client.on("error", () => {})
  try {
    await client.connect()
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

export const ensureDatabase = async (state: State): Promise<State> => {
  const rows = await query(state, `SELECT 1 FROM pg_database WHERE datname = '${database}'`, "postgres")
  if (rows.length === 0) await query(state, `CREATE DATABASE ${database}`, "postgres")
  return state
}
