/** What migration 0038 makes of the users of the release before it, and that this release goes on beside it. */
import { beforeAll, expect, test } from "bun:test"
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { Client } from "pg"
import { migrateWith, type Migrations } from "../../../src/layers/postgres/Migrate.ts"
import { migrations } from "../../../src/layers/postgres/migrations/index.ts"
import { freshDatabase } from "../../kit/postgres.ts"

let client: Client
const user = (id: string, org: string) =>
  client.query(
    "INSERT INTO users (user_id, org_id, email, password_hash) VALUES ($1, $2, $1 || '@example.com', 'none')",
    [id, org]
  )
const organization = (id: string) => client.query("INSERT INTO orgs (org_id, name) VALUES ($1, $1)", [id])
/** As the release before opens one. */
const session = (id: string) =>
  client.query(
    "INSERT INTO sessions (token_hash, user_id, org_id, expires_at) SELECT sha256($1::bytea), user_id, org_id, now() + interval '1 day' FROM users WHERE user_id = $2",
    [Buffer.from(`${id} ${Math.random()}`), id]
  )
const rows = async (text: string) => (await client.query(text)).rows

beforeAll(async () => {
  const url = await freshDatabase()
  client = new Client({ connectionString: url })
  await client.connect()
  const layer = PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })
  const old: Migrations = Object.fromEntries(
    Object.entries(migrations).filter(([name]) => Number.parseInt(name, 10) < 38)
  )
  await Effect.runPromise(Effect.provide(migrateWith(old, {}, true), layer))
  await organization("org_a")
  await organization("org_b")
  for (const id of ["usr_1", "usr_2", "usr_3"]) await user(id, id === "usr_3" ? "org_b" : "org_a")
  await session("usr_2")
  await client.query(
    "INSERT INTO api_keys (key_id, org_id, name, environment, key_hash, display) VALUES ('key_1', 'org_a', 'x', 'test', sha256('x'), 'x')"
  )
  await Effect.runPromise(Effect.provide(migrateWith(migrations, {}, true), layer))
  return () => client.end()
})

test("the first user of an organization is its owner, further ones are admins, and sessions and keys stay", async () => {
  expect(await rows("SELECT org_id, user_id, role FROM members ORDER BY user_id")).toEqual([
    { org_id: "org_a", user_id: "usr_1", role: "owner" },
    { org_id: "org_a", user_id: "usr_2", role: "admin" },
    { org_id: "org_b", user_id: "usr_3", role: "owner" }
  ])
  expect(await rows("SELECT user_id, ended_at FROM sessions")).toEqual([{ user_id: "usr_2", ended_at: null }])
  expect(await rows("SELECT created_by, revoked_at FROM api_keys")).toEqual([{ created_by: null, revoked_at: null }])
})

test("a sign-up by the release before makes an owner", async () => {
  await organization("org_c")
  await user("usr_4", "org_c")
  expect(await rows("SELECT role FROM members WHERE user_id = 'usr_4'")).toEqual([{ role: "owner" }])
})

test("the release before opens no session for a removed member, and its change of a password is logged", async () => {
  await client.query("DELETE FROM members WHERE user_id = 'usr_2'")
  expect(await rows("SELECT FROM sessions WHERE user_id = 'usr_2' AND ended_at IS NULL")).toEqual([])
  await session("usr_2")
  await session("usr_1")
  expect(await rows("SELECT user_id FROM sessions WHERE ended_at IS NULL")).toEqual([{ user_id: "usr_1" }])
  await client.query("UPDATE users SET password_hash = 'new' WHERE user_id = 'usr_1'")
  expect(await rows("SELECT org_id, actor, before, after FROM audit_log WHERE action = 'password.changed'")).toEqual([
    { org_id: "org_a", actor: "system", before: null, after: null }
  ])
})
