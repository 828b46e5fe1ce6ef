/**
 * The directory that all cells of a service read: which cells there are, in which one an e-mail address has its account, which organizations have
 * moved, and what operators imported into the catalog (RUNGATE_DIRECTORY_URL).
 *
 * One row for each verified address, so two cells can't give it two accounts. It holds digests of addresses and no secret. Sign-up, sign-in,
 * password resets, invitations, imports and the operator's commands need it: keys and sessions name their cell themselves. Without a directory,
 * every address is at home here.
 */
import { PgClient } from "@effect/sql-pg"
import type { Statement } from "effect/sql"
import { Cause, Clock, Context, Effect, Layer, Schema } from "effect"
import { Reactivity } from "effect/reactivity"
import { tagOf } from "../../schema/accounts/TokenText.ts"
import { digest } from "./Secrets.ts"
import { Settings } from "../platform/Settings.ts"
import { oneLine } from "../postgres/Batch.ts"
import { keepAwake } from "../postgres/connection/KeepAwake.ts"
import { socketsTo } from "../postgres/connection/Sockets.ts"
import { done, oneRowOf, storedAs, texts } from "../postgres/Rows.ts"
import { timezone } from "../postgres/SessionSettings.ts"

/** The directory does not answer. What the cells share stays as this one has it. */
export class DirectoryAway extends Schema.TaggedError<DirectoryAway>()("DirectoryAway", { message: Schema.String }) {}

const away = new DirectoryAway({
  message:
    "The directory of the cells (RUNGATE_DIRECTORY_URL) does not answer, and the catalog changes in all cells or in none. Try again when this works: rungate admin cells list. A new directory needs first: rungate admin cells add"
})

/** Shorter than a transaction of the cell may idle, because a change of the catalog runs in the operator's (AuditLog.by). */
const answerWithin = "2 seconds"

/** Another cell has the account of this address. */
export class AddressElsewhere extends Schema.TaggedError<AddressElsewhere>()("AddressElsewhere", {}) {}

const CellRow = Schema.Struct({
  name: Schema.String,
  /** Where the other cells reach it. */
  url: Schema.String,
  /** Whether new addresses get their accounts there. */
  takes_accounts: Schema.Boolean,
  addresses: Schema.BigInt
})

const cells = storedAs(CellRow.fields)
const homes = storedAs({ name: Schema.String, url: Schema.String })
const ownCell = storedAs({ cell: Schema.String })
const moves = storedAs({ tag: Schema.String, cell: Schema.String })
const workersRow = oneRowOf({ elsewhere: Schema.Int })
const counts = storedAs({ elsewhere: Schema.Int })

/** Long for a statement of one row. Somebody waits who signs up or in. */
const millisMax = 5_000
const connections = 4

/** Idempotent, so that every cell may run it. */
const tables = [
  "CREATE SCHEMA IF NOT EXISTS rungate_directory",
  // `salt` places addresses that have no account, in a way that strangers can't compute.
  `CREATE TABLE IF NOT EXISTS rungate_directory.cells (
    name text PRIMARY KEY CHECK (name ~ '^[a-z0-9]{1,12}$'),
    url text NOT NULL,
    takes_accounts boolean NOT NULL,
    salt uuid NOT NULL DEFAULT gen_random_uuid(),
    created_at timestamptz NOT NULL DEFAULT now())`,
  `CREATE TABLE IF NOT EXISTS rungate_directory.addresses (
    address bytea PRIMARY KEY CHECK (length(address) = 32),
    cell text NOT NULL REFERENCES rungate_directory.cells)`,
  `CREATE TABLE IF NOT EXISTS rungate_directory.moved (
    tag text PRIMARY KEY CHECK (tag ~ '^[0-9a-f]{12}$'),
    cell text NOT NULL REFERENCES rungate_directory.cells,
    moved_at timestamptz NOT NULL DEFAULT now())`,
  // The imported catalog (SharedCatalog.ts).
  `CREATE TABLE IF NOT EXISTS rungate_directory.catalog_documents (
    provider text PRIMARY KEY,
    revision bigint NOT NULL,
    document bytea,
    retired text NOT NULL,
    endpoints integer NOT NULL CHECK (endpoints >= 0),
    actor text NOT NULL,
    imported_at timestamptz NOT NULL DEFAULT now())`,
  // Each cell's living workers, who share the limits of providers (ProviderShares.ts).
  `CREATE TABLE IF NOT EXISTS rungate_directory.workers (
    cell text PRIMARY KEY,
    alive integer NOT NULL CHECK (alive > 0),
    counted_at timestamptz NOT NULL DEFAULT now())`
]

const keyOf = (email: string) => digest(email.trim().toLowerCase())

const directoryOf = (sql: PgClient.PgClient, cell: string) => {
  const unprepared = (statement: string) => sql.unsafe(statement)

  const keysOf = (emails: ReadonlyArray<string>) =>
    texts(emails.map((email) => Buffer.from(keyOf(email)).toString("hex")))

  const other = (statement: Statement.Statement<object>) =>
    Effect.map(homes.first(statement), (home) => (home === null || home.name === cell ? null : home))

  const claim = Effect.fnUntraced(function* (email: string) {
    const { cell: owner } = yield* ownCell.one(sql`
      INSERT INTO rungate_directory.addresses (address, cell) VALUES (${keyOf(email)}, ${cell})
      ON CONFLICT (address) DO UPDATE SET cell = addresses.cell RETURNING cell`)
    if (owner !== cell) return yield* new AddressElsewhere()
  })

  return {
    /**
     * The other cell that answers for an address: that of its account, and for an address without one the cell in which it would get one. So
     * strangers can't tell by the cell whether there is an account. Null for this cell.
     */
    home: (email: string) =>
      other(sql`
        SELECT c.name, c.url FROM rungate_directory.cells c
        LEFT JOIN rungate_directory.addresses a ON a.address = ${keyOf(email)} AND a.cell = c.name
        WHERE a.address IS NOT NULL OR c.takes_accounts
        ORDER BY a.address IS NULL, sha256(convert_to(c.salt::text, 'UTF8') || ${keyOf(email)}::bytea) LIMIT 1`),
    /** The other cell that has the account of an address. */
    of: (email: string) =>
      other(sql`
        SELECT c.name, c.url FROM rungate_directory.addresses a JOIN rungate_directory.cells c ON c.name = a.cell
        WHERE a.address = ${keyOf(email)}`),
    claim,
    /** Makes this cell the home of the addresses that have none. Returns how many have another one. */
    claimAll: (emails: ReadonlyArray<string>) => {
      const keys = keysOf(emails)
      return Effect.andThen(
        done(sql`
          INSERT INTO rungate_directory.addresses (address, cell) SELECT decode(key, 'hex'), ${cell} FROM unnest(${keys}) AS k (key)
          ON CONFLICT (address) DO NOTHING`),
        Effect.map(
          counts.one(sql`
            SELECT count(*)::int AS elsewhere FROM unnest(${keys}) AS k (key)
            JOIN rungate_directory.addresses ON address = decode(key, 'hex') AND cell <> ${cell}`),
          ({ elsewhere }) => elsewhere
        )
      )
    },
    register: Effect.fnUntraced(function* (url: string, takesAccounts: boolean) {
      yield* Effect.forEach(tables, unprepared, { discard: true })
      yield* sql`
        INSERT INTO rungate_directory.cells (name, url, takes_accounts) VALUES (${cell}, ${url}, ${takesAccounts})
        ON CONFLICT (name) DO UPDATE SET url = excluded.url, takes_accounts = excluded.takes_accounts`
    }, Effect.orDie),
    list: cells.all(sql`
      SELECT name, url, takes_accounts, (SELECT count(*) FROM rungate_directory.addresses a WHERE a.cell = c.name) AS addresses
      FROM rungate_directory.cells c ORDER BY name`),
    /** An organization has moved, and with it the accounts of these addresses. */
    moved: (org_id: string, to: string, emails: ReadonlyArray<string>) =>
      Effect.andThen(
        sql`
          INSERT INTO rungate_directory.moved (tag, cell) VALUES (${tagOf(org_id)}, ${to})
          ON CONFLICT (tag) DO UPDATE SET cell = excluded.cell, moved_at = now()`,
        sql`
          UPDATE rungate_directory.addresses SET cell = ${to}
          WHERE address IN (SELECT decode(key, 'hex') FROM unnest(${keysOf(emails)}) AS k (key))`
      ).pipe(sql.withTransaction, Effect.asVoid, Effect.orDie),
    /** Tells how many workers of this cell are alive. Returns those of the other cells: a cell that has told nothing for 30 seconds has none. */
    countWorkers: (alive: number) =>
      Effect.map(
        workersRow(sql`
          INSERT INTO rungate_directory.workers (cell, alive) VALUES (${cell}, ${alive})
          ON CONFLICT (cell) DO UPDATE SET alive = excluded.alive, counted_at = now()
          RETURNING (SELECT coalesce(sum(alive), 0)::int FROM rungate_directory.workers
                     WHERE cell <> ${cell} AND counted_at > now() - interval '30 seconds') AS elsewhere`),
        ({ elsewhere }) => elsewhere
      ),
    /** For the router: its map of tags. */
    moves: moves.all(sql`SELECT tag, cell FROM rungate_directory.moved ORDER BY tag`)
  }
}

/** The catalog and the workers are asked for every five seconds. */
const logEveryMillis = 60_000

const reaching = (): Directory["Service"]["reach"] => {
  let loggedAt = Number.NEGATIVE_INFINITY
  return (work) =>
    work.pipe(
      Effect.timeout(answerWithin),
      Effect.tapError(
        Effect.fnUntraced(function* (error) {
          const now = yield* Clock.currentTimeMillis
          if (now - loggedAt < logEveryMillis) return
          loggedAt = now
          const cause = oneLine(Cause.fail(error))
          yield* Effect.logWarning(
            `The directory of the cells does not answer as it must, so the catalog and the shares of providers' limits stay as this cell has them: ${cause}`
          )
        })
      ),
      Effect.mapError(() => away)
    )
}

export class Directory extends Context.Service<
  Directory,
  {
    /** Null without a directory. */
    readonly cells: Omit<ReturnType<typeof directoryOf>, "claim"> | null
    /** The directory's database, for what else the cells share. Null without a directory. */
    readonly sql: PgClient.PgClient | null
    /** For work that may not wait for the directory. The cause is logged once a minute. */
    readonly reach: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, DirectoryAway, R>
    /** This cell. Empty without cells. */
    readonly cell: string
    /**
     * Makes this cell the home of a verified address: of two cells, one gets it. Call it before the transaction that stores the account or its
     * verification. If that fails, the address has a home and no account, which the next sign-up gives it there.
     */
    readonly claim: (email: string) => Effect.Effect<void, AddressElsewhere>
  }
>()("rungate/layers/accounts/Directory") {
  static readonly layer = Layer.effect(
    Directory,
    Effect.gen(function* () {
      const { cell, directoryUrl } = yield* Settings
      const reach = reaching()
      if (cell === null || directoryUrl === null)
        return Directory.of({ cells: null, sql: null, reach, cell: cell ?? "", claim: () => Effect.void })
      const sql = yield* PgClient.make({
        url: directoryUrl,
        stream: socketsTo(directoryUrl),
        maxConnections: connections,
        connectTimeout: millisMax,
        applicationName: `rungate directory ${cell}`,
        startupParameters: { ...timezone, statement_timeout: String(millisMax) }
      })
      yield* Effect.forkScoped(keepAwake(sql`SELECT 1`, connections))
      const { claim, ...cells } = directoryOf(sql, cell)
      return Directory.of({ cells, sql, reach, cell, claim })
    })
  ).pipe(Layer.provide(Reactivity.layer))
}
