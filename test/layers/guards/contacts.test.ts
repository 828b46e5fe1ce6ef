/** Whom an organization has contacted, as a turn reads and writes it: the latest contact of each recipient, and what stops a turn. */
import { describe, expect, test } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../src/layers/accounts/Accounts.ts"
import {
  type Contacting,
  type ContactEffects,
  contactingRuns,
  contactKey,
  type ContactView,
  noContactEffects,
  noContacts,
  noContactConflict,
  readContacts,
  writeContacts
} from "../../../src/layers/guards/ContactTurn.ts"
import { GuardStore } from "../../../src/layers/guards/GuardStore.ts"
import { newId } from "../../../src/layers/platform/Ids.ts"
import type { Contacts } from "../../../src/schema/guards/ContactGuard.ts"
import { withStorage } from "../../kit/storage.ts"

const run = withStorage()
const organization = Effect.flatMap(Accounts, (accounts) => accounts.createOrganization("contacts", null))
const [ada, bob] = ["e:ada@example.com", "e:bob@example.com"]

const contactsOf = (identities: ReadonlyArray<string>, within_seconds: number | null = null): Contacts => ({
  within_seconds,
  recipients: identities.map((identity) => ({ shown: identity, identities: [identity] }))
})
const contacting = (org_id: string, ...identities: ReadonlyArray<string>): Contacting => ({
  ...{ org_id, run_id: newId("run"), contacts: contactsOf(identities) }
})
const within = (one: Contacting, within_seconds: number | null): Contacting => ({
  ...one,
  contacts: { ...one.contacts, within_seconds }
})
const write = (effects: Partial<ContactEffects>) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`WITH one AS (SELECT 1)${writeContacts(sql, { ...noContactEffects, ...effects })} SELECT 1 AS done`
  )
/** A contact at a time in microseconds since 1970. */
const claimedAt = Effect.fnUntraced(function* (one: Contacting, micros: bigint) {
  const sql = yield* SqlClient.SqlClient
  yield* write({ claimed: [one] })
  yield* sql`
    UPDATE contact_claims SET contacted_at = 'epoch'::timestamptz + ${micros}::bigint * interval '1 microsecond'
    WHERE org_id = ${one.org_id} AND run_id = ${one.run_id}`
})
const read = (...runs: ReadonlyArray<Contacting>) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => readContacts(sql, runs))
const claims = Effect.fnUntraced(function* (org_id: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ run_id: string; identity: string | null }>`
    SELECT c.run_id, n.identity FROM contact_claims c
    LEFT JOIN unnest(${[ada, bob]}::text[]) AS n(identity) ON c.identity = contact_identity(${org_id}, n.identity)
    WHERE c.org_id = ${org_id} ORDER BY 1, 2`
  return rows.map(({ run_id, identity }) => [run_id, identity])
})

describe("the runs that a turn looks up contacts for", () => {
  const asked = (changed: object = {}) => ({
    ...{ org_id: "org_1", run_id: "run_1", status: "created", capability: "email.send", method: null },
    plan: () => ({ contacts: contactsOf([ada]) }),
    ...changed
  })
  const unread = () => expect.unreachable("the plan of a run that contacts nobody was read")

  test("are those that may be admitted and contact people", () => {
    expect(contactingRuns([asked()])).toEqual([{ org_id: "org_1", run_id: "run_1", contacts: contactsOf([ada]) }])
    expect(contactingRuns([asked({ status: "queued" }), asked({ plan: () => ({}) })])).toEqual([])
    const others = [
      asked({ capability: "email.find", plan: unread }),
      asked({ capability: null, method: "GET", plan: unread })
    ]
    expect(contactingRuns(others)).toEqual([])
  })

  test("without any, nothing is read", () => run(Effect.map(read(), (view) => expect(view).toEqual(noContacts))))
})

describe("the latest contact", () => {
  test("of each recipient is the newest of the organization's own", () =>
    run(
      Effect.gen(function* () {
        const [org_id, other] = [yield* organization, yield* organization]
        const [old, young] = [contacting(org_id, ada), contacting(org_id, ada, bob)]
        yield* claimedAt(young, 1_700_000_000_123_456n)
        yield* claimedAt(old, 1_600_000_000_000_000n)
        yield* claimedAt(contacting(other, ada), 1_800_000_000_000_000n)
        const { latest } = yield* read(contacting(org_id, ada), contacting(org_id, bob, "e:eve@example.com"))
        const contact = { run_id: young.run_id, at: 1_700_000_000_123_456n }
        expect(latest).toEqual(
          new Map([
            [contactKey(org_id, ada), contact],
            [contactKey(org_id, bob), contact]
          ])
        )
      })
    ))

  test("is read for every organization of the turn, with its own days", () =>
    run(
      Effect.gen(function* () {
        const [store, first, second, third] = [
          yield* GuardStore,
          yield* organization,
          yield* organization,
          yield* organization
        ]
        yield* store.setContactDays(first, 30)
        yield* store.setContactDays(third, 7)
        const before = contacting(second, ada)
        yield* claimedAt(before, 5n)
        const view: ContactView = yield* read(contacting(first, ada), contacting(second, ada))
        expect(view).toEqual({
          days: new Map([[first, 30]]),
          latest: new Map([[contactKey(second, ada), { run_id: before.run_id, at: 5n }]])
        })
        yield* store.setContactDays(first, null)
        expect((yield* read(contacting(first, ada))).days).toEqual(new Map())
      })
    ))
})

describe("what a turn writes", () => {
  test("claims each recipient of an admitted run once, for its organization", () =>
    run(
      Effect.gen(function* () {
        const [org_id, other] = [yield* organization, yield* organization]
        const [one, two] = [contacting(org_id, ada, bob, ada), contacting(org_id, ada)]
        yield* write({ claimed: [one, two] })
        expect(yield* claims(org_id)).toEqual(
          [
            [one.run_id, ada],
            [one.run_id, bob],
            [two.run_id, ada]
          ].toSorted()
        )
        expect(yield* claims(other)).toEqual([])
        // A run that names nobody claims nobody.
        yield* write({ claimed: [contacting(other)] })
        expect(yield* claims(other)).toEqual([])
      })
    ))

  test("releases all recipients of the runs that contacted nobody, and no others", () =>
    run(
      Effect.gen(function* () {
        const [org_id, other] = [yield* organization, yield* organization]
        const [gone, kept] = [contacting(org_id, ada, bob), contacting(org_id, ada)]
        const theirs = { ...gone, org_id: other }
        yield* write({ claimed: [gone, kept, theirs] })
        yield* write({ released: [gone] })
        expect(yield* claims(org_id)).toEqual([[kept.run_id, ada]])
        expect(yield* claims(other)).toHaveLength(2)
        yield* write({})
        expect(yield* claims(org_id)).toEqual([[kept.run_id, ada]])
      })
    ))

  test("claims and releases in one statement", () =>
    run(
      Effect.gen(function* () {
        const org_id = yield* organization
        const [old, young] = [contacting(org_id, ada), contacting(org_id, bob)]
        yield* write({ claimed: [old] })
        yield* write({ claimed: [young], released: [old] })
        expect(yield* claims(org_id)).toEqual([[young.run_id, bob]])
      })
    ))
})

describe("a turn", () => {
  const [now, second] = [1_700_000_000_000_000n, 1_000_000n]
  /** Whether the turn's statement may commit what it claims. */
  const commits = Effect.fnUntraced(function* (
    claimed: ReadonlyArray<Contacting>,
    days: ReadonlyMap<string, number> = new Map()
  ) {
    const sql = yield* SqlClient.SqlClient
    const view = { ...noContacts, days }
    const condition = noContactConflict(sql, { ...noContactEffects, claimed }, view, now)
    return (yield* sql`SELECT 1 AS one WHERE true ${condition}`).length === 1
  })
  const contactedAgo = Effect.fnUntraced(function* (org_id: string, micros: bigint) {
    yield* claimedAt(contacting(org_id, ada), now - micros)
  })

  test("is undone if a recipient was contacted within the run's time", () =>
    run(
      Effect.gen(function* () {
        const [org_id, other] = [yield* organization, yield* organization]
        yield* contactedAgo(org_id, 60n * second)
        const asks = (org: string, seconds: number | null, ...who: ReadonlyArray<string>) => [
          within(contacting(org, ...who), seconds)
        ]
        expect(yield* commits(asks(org_id, 61, ada))).toBe(false)
        expect(yield* commits(asks(org_id, 61, bob, ada))).toBe(false)
        // Exactly as long ago is long enough.
        expect(yield* commits(asks(org_id, 60, ada))).toBe(true)
        expect(yield* commits(asks(org_id, 61, bob))).toBe(true)
        expect(yield* commits(asks(other, 61, ada))).toBe(true)
        expect(yield* commits(asks(org_id, null, ada))).toBe(true)
        expect(yield* commits([])).toBe(true)
        // One such run among others is enough.
        expect(yield* commits([...asks(other, 61, ada), ...asks(org_id, null, ada), ...asks(org_id, 61, ada)])).toBe(
          false
        )
      })
    ))

  test("is undone if a recipient was contacted within the organization's days", () =>
    run(
      Effect.gen(function* () {
        const [org_id, other] = [yield* organization, yield* organization]
        const day = 86_400n * second
        yield* contactedAgo(org_id, 2n * day)
        const asks = (seconds: number | null) => [within(contacting(org_id, ada), seconds)]
        expect(yield* commits(asks(null), new Map([[org_id, 3]]))).toBe(false)
        expect(yield* commits(asks(null), new Map([[org_id, 2]]))).toBe(true)
        expect(yield* commits(asks(null), new Map([[other, 3]]))).toBe(true)
        // The longer time counts.
        expect(yield* commits(asks(3 * 86_400), new Map([[org_id, 1]]))).toBe(false)
        expect(yield* commits(asks(60), new Map([[org_id, 3]]))).toBe(false)
      })
    ))
})
