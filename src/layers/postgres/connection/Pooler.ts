/**
 * Finds out how a connection pooler shares the server's sessions, by trying it.
 *
 * In session mode a client keeps one server session, as without a pooler. In transaction mode it gets any session for each transaction:
 * settings, LISTEN and session locks do not last, and prepared statements only work if the pooler knows them (PgBouncer from 1.21 on).
 */
import { Redacted } from "effect"
import { Client } from "pg"

export interface Sharing {
  /** Whether a client keeps its session: a direct connection, or a pool in session mode. */
  readonly sessionLasts: boolean
  /** Whether named prepared statements work. False if the probe could not tell. */
  readonly keepsStatements: boolean
}

/**
 * Connections that the probe opens beside its own. It does not detect a pooler with more idle server connections than this; the check of
 * the session settings still detects what such a pooler drops.
 */
const othersMax = 3
const probeMillisMax = 5_000

/**
 * Holds other connections in transactions meanwhile. A pooler in transaction mode lends this connection's server session to one of them,
 * which then sees the value, or gives this connection a session without the value.
 */
export const sharingOf = async (url: string): Promise<Sharing> => {
  const opened: Array<Client> = []
  const open = async () => {
    const limits = { connectionTimeoutMillis: probeMillisMax, query_timeout: probeMillisMax }
    const client = new Client({ connectionString: url, application_name: "rungate", ...limits })
    // A connection that breaks during the probe also fails its query.
    client.on("error", () => {})
    opened.push(client)
    await client.connect()
    return client
  }
  const read = async (client: Client): Promise<unknown> => {
    const { rows } = await client.query("SELECT current_setting('rungate.session', true) AS value")
    return rows[0]?.value
  }
  /** The server session in which the named statement ran. */
  const prepared = async (client: Client): Promise<unknown> => {
    const { rows } = await client.query({ name: "rungate_probe", text: "SELECT pg_backend_pid() AS pid", values: [] })
    return rows[0]?.pid
  }
  try {
    const value = crypto.randomUUID()
    const session = await open()
    const statement = await open()
    await session.query("SELECT set_config('rungate.session', $1, false)", [value])
    const preparedIn = await prepared(statement)
    let lent = false
    for (let n = 0; n < othersMax && !lent; n++) {
      const other = await open()
      await other.query("BEGIN")
      lent = (await read(other)) === value
    }
    // In a small pool all sessions are busy with the other connections, so these fail by their timeout.
    const [kept, ranIn] = await Promise.all([
      lent ? null : read(session).catch(() => null),
      prepared(statement).catch(() => null)
    ])
    const sessionLasts = kept === value
    // In the same session the statement would run with any pooler, so that tells nothing.
    return { sessionLasts, keepsStatements: sessionLasts || (ranIn !== null && ranIn !== preparedIn) }
  } finally {
    for (const client of opened) client.end().catch(() => {})
  }
}

/** What works through the pooler, for the log. */
export const sentenceOf = ({ sessionLasts, keepsStatements }: Sharing): string =>
  sessionLasts
    ? "DATABASE_URL leads to a pool in session mode, where everything works. LISTEN and BullMQ's queues use DATABASE_DIRECT_URL."
    : `DATABASE_URL leads to a pool in transaction mode. Runs, payments and questions go through it, ${keepsStatements ? "with prepared statements" : "without prepared statements because the pooler does not keep them"}. LISTEN and BullMQ's queues on PostgreSQL use DATABASE_DIRECT_URL.`

const withClient = async <A>(
  url: Redacted.Redacted,
  options: string | undefined,
  use: (client: Client) => Promise<A>
): Promise<A> => {
  const client = new Client({
    connectionString: Redacted.value(url),
    application_name: "rungate",
    connectionTimeoutMillis: probeMillisMax,
    query_timeout: probeMillisMax,
    ...(options === undefined ? {} : { options })
  })
  client.on("error", () => {})
  try {
    await client.connect()
    return await use(client)
  } finally {
    client.end().catch(() => {})
  }
}

/** Whether startup options reach the server. BullMQ names the schema of its tables in them. */
export const keepsOptions = (url: Redacted.Redacted): Promise<boolean> =>
  withClient(url, "-c rungate.options=kept", async (client) => {
    const { rows } = await client.query("SELECT current_setting('rungate.options', true) AS value")
    return rows[0]?.value === "kept"
  })

/** Whether both addresses lead to one database of one server. A standby of the server counts as another one. */
export const sameDatabase = async (one: Redacted.Redacted, other: Redacted.Redacted): Promise<boolean> => {
  const identityOf = (url: Redacted.Redacted) =>
    withClient(url, undefined, async (client) => {
      const { rows } = await client.query(`
        SELECT concat_ws(' ', (SELECT system_identifier FROM pg_control_system()), oid, pg_is_in_recovery()) AS identity
        FROM pg_database WHERE datname = current_database()`)
      return String(rows[0]?.identity)
    })
  return (await identityOf(one)) === (await identityOf(other))
}
