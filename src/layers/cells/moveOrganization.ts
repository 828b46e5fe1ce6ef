/**
 * Moves an organization from this cell to another one while both serve: its open runs end, its rows are copied in one transaction of the other
 * cell, and then deleted here.
 *
 * `wallets.moving` is the fence: turns read it, and a trigger keeps it. From `fenced` on nothing of the organization changes here, so the copy is
 * whole. The commit of the copy is the switch: before it the move is undone, after it the move is finished, by the process that moves or by the
 * next one. Each asks the other cell which of both holds, behind the lock that the copy has until its commit.
 */
import { type Duration, Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { violations } from "../audit/equations.ts"
import { snapshot } from "../audit/snapshot.ts"
import { walletLane } from "../accounts/WalletLanes.ts"
import { crashPoint } from "../platform/CrashPoint.ts"
import { oneFlag, oneNumber, oneRowOf, oneText, rowsOf, textValues } from "../postgres/Rows.ts"
import { copyRows, forCopies, withoutTriggers } from "./copyRows.ts"
import { MoveRefused } from "./MoveRefused.ts"
import { type Catalog, listOf, peopleOf, readCatalog, tablesOf } from "./tables.ts"

export interface Move {
  readonly org_id: string
  readonly source: SqlClient.SqlClient
  readonly target: SqlClient.SqlClient
  /** Names of the cells. */
  readonly from: string
  readonly to: string
  /** How long it waits for open runs to end, and as long again for older transactions. */
  readonly patience: Duration.Duration
  /** Called between the copy and the deletion, with the addresses of the people who leave this cell. */
  readonly announce: (emails: ReadonlyArray<string>) => Effect.Effect<void>
}

export interface Moved {
  readonly tables: number
  readonly rows: bigint
}

const pause = "200 millis"

const stateRows = rowsOf({ state: Schema.String, cell: Schema.String, database: Schema.NullOr(Schema.String) })
const busyRow = oneRowOf({
  runs: Schema.BigInt,
  commands: Schema.BigInt,
  dead_letter: Schema.NullOr(Schema.String)
})
const sameRow = oneRowOf({ id: Schema.String, mode: Schema.String, version: Schema.Int })
const droppedRows = rowsOf({
  from_id: Schema.String,
  to_id: Schema.String,
  settled_until: Schema.NullOr(Schema.String)
})
const fenceRows = rowsOf({ fenced_at: Schema.Date })
const secretRow = oneRowOf({ secret: Schema.String, created_at: Schema.Date })
const keyRows = rowsOf({ key_id: Schema.String, public_key: Schema.String, created_at: Schema.Date })

const refuse = (message: string) => Effect.fail(new MoveRefused({ message }))

/** In the target, until the end of the transaction. A copy that is being committed has it. */
const lockThere = (target: SqlClient.SqlClient, org_id: string) =>
  target`SELECT pg_advisory_xact_lock(hashtext(current_schema()), hashtext(${`move ${org_id}`}))`

const stateOf = (sql: SqlClient.SqlClient, org_id: string) =>
  Effect.map(
    stateRows(sql`SELECT state, cell, database FROM cell_moves WHERE org_id = ${org_id}`),
    ([row]) => row ?? null
  )

const keepState = (
  sql: SqlClient.SqlClient,
  org_id: string,
  cell: string,
  state: string,
  database: string | null = null
) => sql`
  INSERT INTO cell_moves (org_id, cell, state, database) VALUES (${org_id}, ${cell}, ${state}, ${database})
  ON CONFLICT (org_id) DO UPDATE SET cell = excluded.cell, state = excluded.state, database = excluded.database, changed_at = now()`

/** Which database this is, whatever its address. */
const databaseOf = (sql: SqlClient.SqlClient) =>
  sameRow(sql`
    SELECT concat_ws('-', i.id, d.oid, current_schema()) AS id, coalesce((SELECT mode FROM service_mode), '') AS mode, (SELECT max(migration_id)::int FROM effect_sql_migrations) AS version
    FROM installation i, pg_database d WHERE d.datname = current_database()`)

/** One move of an organization at a time. The transaction of the lock changes nothing. */
const alone = Effect.fnUntraced(function* ({ source, org_id }: Move) {
  const connection = yield* source.reserve
  const run = (text: string) => connection.executeUnprepared(text, [], undefined)
  yield* run("BEGIN")
  yield* Effect.addFinalizer(() => Effect.ignore(run("ROLLBACK")))
  yield* run("SET LOCAL idle_in_transaction_session_timeout = 0")
  const locked = yield* oneFlag(
    run(`SELECT pg_try_advisory_xact_lock(hashtext(current_schema()), hashtext('move ${org_id}')) AS locked`)
  )
  if (!locked) return yield* refuse(`Another process is moving ${org_id}.`)
})

/** What the turns and workers of this cell still have to end. Runs that wait for an approval move as they are. No turn applies a dead letter. */
const busy = Effect.fnUntraced(function* (source: SqlClient.SqlClient, org_id: string) {
  const { dead_letter, ...open } = yield* busyRow(source`
    SELECT (SELECT count(*) FROM open_runs WHERE org_id = ${org_id} AND state <> 'waiting') AS runs,
           (SELECT count(*) FROM mailbox WHERE org_id = ${org_id}) AS commands,
           (SELECT concat(tag, ' of ', coalesce(run_id, org_id)) FROM mailbox WHERE org_id = ${org_id} AND parked IS NOT NULL
            ORDER BY id LIMIT 1) AS dead_letter`)
  if (dead_letter !== null)
    return yield* refuse(
      `The command ${dead_letter} is dead-lettered, so ${org_id} can't move. Retry it on the page Queues of the operator console, which shows why it failed. Then run this again.`
    )
  return open
})

/** Refuses what can't move, before anything is changed. */
const check = Effect.fnUntraced(function* ({ source, target, org_id }: Move, catalog: Catalog) {
  const [here, there] = yield* Effect.all([databaseOf(source), databaseOf(target)])
  if (here.id === there.id) return yield* refuse("Both addresses are of the same cell.")
  if (here.mode !== there.mode)
    return yield* refuse(`This cell is in ${here.mode} mode, and the other one in ${there.mode}.`)
  if (here.version !== there.version)
    return yield* refuse("The cells have schemas of different releases. Upgrade both.")
  // The right to do it is needed at the end too, when the other cell has the organization.
  yield* Effect.forEach([source, target], (sql) => sql.withTransaction(withoutTriggers(sql)))
  if ((yield* target`SELECT 1 AS one FROM orgs WHERE org_id = ${org_id}`).length > 0)
    return yield* refuse(`The other cell has an organization ${org_id} already.`)
  const [referral] = yield* textValues(source`
    SELECT CASE WHEN referred_org = ${org_id} THEN referrer_org ELSE referred_org END AS name FROM referrals
    WHERE ${org_id} IN (referred_org, referrer_org) LIMIT 1`)
  if (referral !== undefined)
    return yield* refuse(
      `A referral ties the books of ${org_id} to those of ${referral}, so both must stay in one cell.`
    )
  yield* busy(source, org_id)
  const broken = yield* snapshot(source, violations(source, org_id))
  if (broken.length > 0)
    return yield* refuse(`The books of ${org_id} do not add up, so it can't move. See: rungate audit`)
  const people = yield* peopleOf(catalog, source, org_id)
  const users = people.filter(({ wanted }) => wanted).map(({ user_id }) => user_id)
  const mails = yield* textValues(
    source`SELECT lower(email) AS name FROM users WHERE NOT pending AND user_id = ANY(${source.literal(listOf(users))})`
  )
  const [taken] = yield* textValues(target`
    SELECT email AS name FROM users WHERE NOT pending AND NOT user_id = ANY(${target.literal(listOf(users))})
      AND lower(email) IN (SELECT jsonb_array_elements_text(${JSON.stringify(mails)}::text::jsonb)) LIMIT 1`)
  if (taken !== undefined)
    return yield* refuse(
      `${taken} has an account of another person in the other cell, so signing in would be ambiguous.`
    )
})

/** Fences the wallet if nothing is open. Returns the transaction's id, or null. The lock of the wallet's row stops its turns meanwhile. */
const fence = ({ source, org_id, to }: Move, database: string) =>
  source.withTransaction(
    Effect.gen(function* () {
      yield* source`SELECT 1 AS one FROM wallets WHERE org_id = ${org_id} FOR UPDATE`
      const { runs, commands } = yield* busy(source, org_id)
      if (runs > 0n || commands > 0n) return null
      yield* source`UPDATE wallets SET moving = 2, version = version + 1 WHERE org_id = ${org_id}`
      yield* keepState(source, org_id, to, "fenced", database)
      return yield* oneText(source`SELECT pg_current_xact_id()::text AS id`)
    })
  )

const drain = Effect.fnUntraced(function* (move: Move) {
  const { source, org_id, to, patience } = move
  yield* source.withTransaction(
    Effect.andThen(
      keepState(source, org_id, to, "draining"),
      source`UPDATE wallets SET moving = 1, version = version + 1 WHERE org_id = ${org_id}`
    )
  )
  yield* crashPoint("move.draining")
  const { id } = yield* databaseOf(move.target)
  const fenced = yield* Effect.repeat(Effect.delay(fence(move, id), pause), { until: (one) => one !== null }).pipe(
    Effect.timeoutOption(patience)
  )
  if (fenced._tag === "None" || fenced.value === null) {
    const { runs, commands } = yield* busy(source, org_id)
    return yield* refuse(
      `${org_id} still has ${runs} open runs and ${commands} commands, so it stays here. Move it later, or wait longer: --wait`
    )
  }
  yield* crashPoint("move.fenced")
  // What a transaction writes that began before the fence is not in the copy unless it has ended.
  const older = oneFlag(source`SELECT pg_snapshot_xmin(pg_current_snapshot()) > ${fenced.value}::text::xid8 AS done`)
  const ended = yield* Effect.repeat(Effect.delay(older, pause), { until: (done) => done }).pipe(
    Effect.timeoutOption(patience)
  )
  if (ended._tag === "None")
    return yield* refuse("Transactions that began earlier have not ended. See pg_stat_activity.")
  // One of those may have stored a command, which a turn applies only after the move is undone.
  if ((yield* busy(source, org_id)).commands > 0n)
    return yield* refuse(`A command for ${org_id} arrived at the last moment, so it stays here. Run this again.`)
})

/** What the copy needs beside the organization's own rows: of the cell that it comes from. */
const bringAlong = Effect.fnUntraced(function* ({ source, target, org_id }: Move) {
  const [fence] = yield* fenceRows(
    source`SELECT m.changed_at AS fenced_at FROM cell_moves m JOIN wallets w USING (org_id)
           WHERE org_id = ${org_id} AND m.state = 'fenced' AND w.moving = 2`
  )
  if (fence === undefined) return yield* refuse(`Another process has ended this move of ${org_id}.`)
  const fencedAt = fence.fenced_at
  const secret = (sql: SqlClient.SqlClient) =>
    secretRow(sql`
      SELECT coalesce(o.secret, s.secret) AS secret, coalesce(o.created_at, s.created_at) AS created_at
      FROM contact_secret s LEFT JOIN contact_secrets o ON o.org_id = ${org_id}`)
  const [here, there] = yield* Effect.all([secret(source), secret(target)])
  if (here.secret !== there.secret)
    yield* target`INSERT INTO contact_secrets (org_id, secret, created_at) VALUES (${org_id}, ${here.secret}, ${here.created_at})`
  // Old receipts and heads of the ledger are verified with the keys that signed them.
  const keys = yield* keyRows(source`SELECT key_id, public_key::text AS public_key, created_at FROM receipt_keys`)
  for (const { key_id, public_key, created_at } of keys)
    yield* target`
      INSERT INTO receipt_keys (key_id, public_key, created_at, retired_at) VALUES (${key_id}, ${public_key}::text::json, ${created_at}, now())
      ON CONFLICT DO NOTHING`
  // What the processor reported since the fence was refused here, and ignored there as another cell's.
  yield* target`
    UPDATE processor_cursors SET read_to = least(read_to, ${fencedAt}), begun_at = least(begun_at, ${fencedAt})`
  // Its usage of dropped months is more than what its ledger has, which the audit has to know.
  const [dropped] = yield* droppedRows(source`
    SELECT from_id, to_id, settled_until::text AS settled_until FROM dropped_months
    WHERE EXISTS (SELECT FROM ledger_checkpoints WHERE org_id = ${org_id}) ORDER BY to_id DESC LIMIT 1`)
  if (dropped !== undefined)
    yield* target`
      INSERT INTO dropped_months (from_id, to_id, runs, entries, provider_cost, cost_unknown, settled_until)
      VALUES (${`${dropped.from_id}+`}, ${dropped.to_id}, 0, 0, 0, 0, ${dropped.settled_until}::text::date) ON CONFLICT DO NOTHING`
})

/** The copy, with the switch at its end. One snapshot of this cell, one transaction of the other. */
const copy = (move: Move, catalog: Catalog) => {
  const { source, target, org_id, from } = move
  const copied = Effect.gen(function* () {
    yield* withoutTriggers(target)
    yield* forCopies(target)
    const people = yield* peopleOf(catalog, source, org_id)
    const wanted = listOf(people.filter((one) => one.wanted).map(({ user_id }) => user_id))
    const fresh = yield* textValues(target`
      SELECT u.name FROM unnest(${target.literal(wanted)}) AS u (name) WHERE NOT EXISTS (SELECT FROM users WHERE user_id = u.name)`)
    // The row's lock makes a growing number of lanes wait.
    const lanes = yield* oneNumber(target`SELECT lanes::int AS lanes FROM lane_count FOR SHARE`)
    const tables = tablesOf(catalog, org_id, fresh)
    const instead = {
      wallets: { lane: `'${walletLane(org_id, lanes)}'`, moving: "'0'" },
      users: { org_id: `'${org_id}'` }
    }
    const done = yield* copyRows({ source, target, tables, references: catalog.references, instead })
    yield* bringAlong(move)
    const broken = yield* violations(target, org_id)
    if (broken[0] !== undefined)
      return yield* refuse(
        `The books differ after the copy: ${broken[0].equation}: ${broken[0].subject}, ${broken[0].detail}.`
      )
    yield* keepState(target, org_id, from, "arrived")
    yield* target`DELETE FROM moved_tokens WHERE org_id = ${org_id}`
    yield* crashPoint("move.copied")
    return done
  })
  const snapshot = Effect.gen(function* () {
    yield* source`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`
    yield* forCopies(source)
    return yield* copied
  })
  // The lock comes first: whoever had it before has undone or committed what this snapshot then sees.
  return target.withTransaction(Effect.andThen(lockThere(target, org_id), source.withTransaction(snapshot)))
}

/** The organization is there. Deletes what it has here, and leaves where its tokens are. */
const finish = Effect.fnUntraced(function* (move: Move, catalog: Catalog) {
  const { source, org_id, to } = move
  const leavers = (yield* peopleOf(catalog, source, org_id)).filter(({ home }) => home === null)
  const ids = source.literal(listOf(leavers.map(({ user_id }) => user_id)))
  const mails = yield* textValues(source`SELECT email AS name FROM users WHERE NOT pending AND user_id = ANY(${ids})`)
  yield* move.announce(mails)
  yield* source.withTransaction(
    Effect.gen(function* () {
      yield* withoutTriggers(source)
      yield* forCopies(source)
      const fenced = yield* source`
        UPDATE cell_moves SET state = 'moved', database = NULL, changed_at = now() WHERE org_id = ${org_id} AND state = 'fenced' RETURNING 1 AS one`
      if (fenced.length === 0) return yield* refuse(`Another process has ended this move of ${org_id}.`)
      yield* source`
        INSERT INTO moved_tokens (token_hash, org_id)
        SELECT key_hash, org_id FROM api_keys WHERE org_id = ${org_id} AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())
        UNION SELECT token_hash, org_id FROM sessions WHERE org_id = ${org_id} AND ended_at IS NULL AND expires_at > now()
        UNION SELECT family_hash, org_id FROM oauth_grants WHERE org_id = ${org_id} AND ended_at IS NULL AND expires_at > now() ON CONFLICT DO NOTHING`
      const people = yield* peopleOf(catalog, source, org_id)
      for (const { user_id, home } of people)
        if (home !== null)
          yield* source`UPDATE users SET org_id = ${home} WHERE user_id = ${user_id} AND org_id = ${org_id}`
      const leaving = people.filter(({ home }) => home === null).map(({ user_id }) => user_id)
      for (const { name, where } of tablesOf(catalog, org_id, leaving).toReversed())
        yield* source.unsafe(`DELETE FROM ${name} WHERE ${where}`)
      // The organization's own entries are in its log, which is there.
      yield* source`
        SELECT audit_write(audit_actor(), NULL, 'cell_move.finished', ${org_id}, NULL, jsonb_build_object('cell', ${to}::text)) AS written`
    })
  )
})

/** The organization stays. */
const undo = ({ source, org_id }: Move) =>
  source.withTransaction(
    Effect.andThen(
      source`UPDATE wallets SET moving = 0, version = version + 1 WHERE org_id = ${org_id}`,
      source`DELETE FROM cell_moves WHERE org_id = ${org_id}`
    )
  )

/** Ends a move that stopped somewhere: finished if the other cell has the organization, and otherwise undone. */
const settle = Effect.fnUntraced(function* (move: Move, catalog: Catalog) {
  const { source, target, org_id, to } = move
  const here = yield* stateOf(source, org_id)
  if (here === null || here.state === "arrived") return "none"
  if (here.state === "moved")
    return here.cell === to ? "finished" : yield* refuse(`${org_id} is in the cell ${here.cell}.`)
  if (here.state === "fenced" && here.cell !== to)
    return yield* refuse(`A move of ${org_id} to ${here.cell} was interrupted. Finish it first: --to ${here.cell}`)
  if (here.state === "fenced" && here.database !== (yield* databaseOf(target)).id)
    return yield* refuse(`The interrupted move of ${org_id} copied to another database. Finish it with that one.`)
  const isThere = yield* target.withTransaction(
    Effect.gen(function* () {
      yield* lockThere(target, org_id)
      const arrived = here.state === "fenced" && (yield* stateOf(target, org_id))?.state === "arrived"
      // Under the lock, so that no copy commits meanwhile.
      if (!arrived) yield* undo(move)
      return arrived
    })
  )
  if (isThere) yield* finish(move, catalog)
  return isThere ? "finished" : "undone"
})

/** Null if an interrupted move of the organization only had to be finished, or was finished before. */
export const moveOrganization = (move: Move) =>
  Effect.gen(function* () {
    const { source, org_id } = move
    yield* alone(move)
    const catalog = yield* readCatalog(source)
    if ((yield* settle(move, catalog)) === "finished") return null
    if ((yield* source`SELECT 1 AS one FROM wallets WHERE org_id = ${org_id}`).length === 0)
      return yield* refuse(
        `There is no organization "${org_id}" in this cell. List organizations with: rungate admin orgs`
      )
    yield* check(move, catalog)
    const moved = yield* Effect.andThen(drain(move), copy(move, catalog)).pipe(
      Effect.onError(() => Effect.ignore(settle(move, catalog)))
    )
    yield* crashPoint("move.switched")
    yield* finish(move, catalog)
    return moved
  }).pipe(Effect.scoped)
