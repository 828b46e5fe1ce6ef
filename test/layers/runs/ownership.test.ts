/** Who owns which resource in the shared provider accounts: the first claim wins, and nobody sees, takes or loses what is another's. */
import { describe, expect, test } from "bun:test"
import { Effect, Logger } from "effect"
import { SqlClient } from "effect/sql"
import { Accounts } from "../../../src/layers/accounts/Accounts.ts"
import { newId } from "../../../src/layers/platform/Ids.ts"
import { type Assignment, Ownership } from "../../../src/layers/runs/Ownership.ts"
import type { ResourceKind } from "../../../src/schema/catalog/Endpoint.ts"
import { withStorage } from "../../kit/storage.ts"
import { storeRun } from "../../kit/stored-runs.ts"

const run = withStorage()
const organization = Effect.flatMap(Accounts, (accounts) => accounts.createOrganization("ownership", null))
const made = (kind: ResourceKind, id: string) => ({ kind, id })
const named = (id: string, ...kinds: ReadonlyArray<ResourceKind>) => ({ kinds, id, path: "id" })
const assigned = (org_id: string, kind: ResourceKind, id: string, provider: string | null = null): Assignment => ({
  ...{ org_id, kind, id, provider }
})
/** A sending domain of the organization, proven or not yet. */
const sender = Effect.fnUntraced(function* (org_id: string, domain: string, isProven = true) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    INSERT INTO senders (sender_id, org_id, domain, token, verified_at)
    VALUES (${newId("snd")}, ${org_id}, ${domain}, 'token', ${isProven ? new Date() : null})`
})
const listed = Effect.fnUntraced(function* (org_id: string, kind: ResourceKind | null = null, limit = 50) {
  const rows = yield* (yield* Ownership).list(org_id, kind, limit)
  return rows.map(({ kind, resource_id, provider, source }) => [kind, resource_id, provider, source])
})

describe("a resource that a run made", () => {
  test("is owned by its organization alone, as the kind that it is", () =>
    run(
      Effect.gen(function* () {
        const [ownership, org_id, other] = [yield* Ownership, yield* organization, yield* organization]
        yield* ownership.claim(org_id, newId("run"), "agentmail", [
          made("inbox", "Ada@agentmail.to"),
          made("job", "Job-1")
        ])
        const asked = [
          named("ada@agentmail.to", "inbox"),
          named("ADA@agentmail.to", "inbox"),
          named("Job-1", "inbox", "job")
        ]
        expect(yield* ownership.owned(org_id, asked)).toEqual([
          [{ kind: "inbox", provider: null }],
          [{ kind: "inbox", provider: null }],
          [{ kind: "job", provider: "agentmail" }]
        ])
        expect(yield* ownership.owned(other, asked)).toEqual([[], [], []])
        // Ids of jobs are compared exactly, and an inbox is no domain.
        expect(yield* ownership.owned(org_id, [named("job-1", "job"), named("ada@agentmail.to", "domain")])).toEqual([
          [],
          []
        ])
        expect(yield* ownership.owned(org_id, [named("no id at all", "inbox")])).toEqual([[]])
      })
    ))

  test("keeps its owner when a run of another organization gets the same id", () =>
    run(
      Effect.gen(function* () {
        const [ownership, first, second] = [yield* Ownership, yield* organization, yield* organization]
        const [of_first, of_second] = [newId("run"), newId("run")]
        yield* ownership.claim(first, of_first, "unipile", [made("account", "a1")])
        yield* ownership.claim(second, of_second, "unipile", [made("account", "a1"), made("account", "a2")])
        // An id of one provider says nothing of the same id at another one.
        yield* ownership.claim(second, of_second, "edges", [made("account", "a1")])
        expect(yield* listed(first)).toEqual([["account", "a1", "unipile", of_first]])
        expect((yield* listed(second)).toSorted()).toEqual([
          ["account", "a1", "edges", of_second],
          ["account", "a2", "unipile", of_second]
        ])
      })
    ))

  test("is recorded once, with the others that can be stored, however often it is reported", () =>
    run(
      Effect.gen(function* () {
        const [ownership, org_id, run_id] = [yield* Ownership, yield* organization, newId("run")]
        const all = [made("job", "j1"), made("job", "j1"), made("job", "has a space"), made("domain", "Example.com")]
        for (const _ of [1, 2]) yield* ownership.claim(org_id, run_id, "fal", all)
        yield* ownership.claim(org_id, run_id, "fal", [made("job", "")])
        expect((yield* listed(org_id)).toSorted()).toEqual([
          ["domain", "example.com", null, run_id],
          ["job", "j1", "fal", run_id]
        ])
      })
    ))

  test("that can't be recorded is logged, with the run and the number of ids", () =>
    run(
      Effect.gen(function* () {
        const [ownership, first, second] = [yield* Ownership, yield* organization, yield* organization]
        const logs: Array<string> = []
        const logger = Logger.layer([Logger.make(({ message }) => void logs.push(String(message)))])
        const claim = (org_id: string, ...ids: ReadonlyArray<string>) =>
          ownership
            .claim(
              org_id,
              "run_1",
              "fal",
              ids.map((id) => made("job", id))
            )
            .pipe(Effect.provide(logger))
        yield* claim(first, "logged-1", "logged-2")
        yield* claim(first, "logged-1")
        expect(logs).toEqual([])
        yield* claim(first, "logged-1", "no id", "")
        yield* claim(second, "logged-1", "logged-2", "logged-3")
        expect(logs).toEqual([
          "run_1: 2 of the resource ids that it made can't be stored",
          expect.stringMatching(
            /^run_1: fal returned 2 ids that belong to other organizations, such as job logged-[12]\. The owners keep them\.$/
          )
        ])
        // Several organizations may send from one domain.
        const senders = [made("sender", "logged.example")]
        for (const org_id of [first, second])
          yield* ownership.claim(org_id, "run_1", "resend", senders).pipe(Effect.provide(logger))
        expect(logs).toHaveLength(2)
      })
    ))
})

describe("a sender", () => {
  const asked = (id: string) => [named(id, "sender")]

  test("belongs to the organization that owns its address, its domain or a domain above it", () =>
    run(
      Effect.gen(function* () {
        const [ownership, org_id, other] = [yield* Ownership, yield* organization, yield* organization]
        yield* ownership.assign(assigned(org_id, "sender", "ada@shared.example"))
        yield* ownership.claim(org_id, newId("run"), "porkbun", [made("domain", "bought.example")])
        yield* sender(org_id, "proven.example")
        yield* sender(org_id, "claimed.example", false)
        const mine = { kind: "sender", provider: null } as const
        for (const from of [
          "ada@shared.example",
          "Ada <ADA@Mail.Bought.example>",
          "x@bought.example",
          "y@mail.proven.example"
        ])
          expect([from, yield* ownership.owned(org_id, asked(from))]).toEqual([from, [[mine]]])
        const strangers = ["bob@shared.example", "x@claimed.example", "x@ught.example", "no address", "x@example"]
        for (const from of strangers) expect([from, yield* ownership.owned(org_id, asked(from))]).toEqual([from, [[]]])
        for (const from of ["ada@shared.example", "x@bought.example", "y@proven.example"])
          expect([from, yield* ownership.owned(other, asked(from))]).toEqual([from, [[]]])
      })
    ))

  test("that is proven is no domain of the organization", () =>
    run(
      Effect.gen(function* () {
        const [ownership, org_id] = [yield* Ownership, yield* organization]
        yield* sender(org_id, "proven.example")
        const asked = [named("proven.example", "domain"), named("ada@proven.example", "inbox", "sender")]
        expect(yield* ownership.owned(org_id, asked)).toEqual([[], [{ kind: "sender", provider: null }]])
      })
    ))
})

describe("an operator", () => {
  test("assigns a resource that nobody owns, and is told the owner of another one", () =>
    run(
      Effect.gen(function* () {
        const [ownership, first, second] = [yield* Ownership, yield* organization, yield* organization]
        const ids = [
          assigned(first, "account", "a9", "unipile"),
          assigned(first, "job", "a9", "unipile"),
          assigned(first, "account", "a9", "edges"),
          assigned(first, "domain", "assigned.example")
        ]
        // Again is no change.
        for (const one of [...ids, ...ids]) expect(yield* ownership.assign(one)).toBeNull()
        for (const one of ids) expect(yield* ownership.assign({ ...one, org_id: second })).toBe(first)
        expect(yield* ownership.assign(assigned(second, "account", "a10", "unipile"))).toBeNull()
        expect(yield* listed(second)).toEqual([["account", "a10", "unipile", "assigned"]])
        expect((yield* listed(first)).map(([kind]) => kind).toSorted()).toEqual(["account", "account", "domain", "job"])
      })
    ))

  test("lets several organizations send from one domain", () =>
    run(
      Effect.gen(function* () {
        const [ownership, first, second] = [yield* Ownership, yield* organization, yield* organization]
        yield* ownership.claim(first, newId("run"), "resend", [made("sender", "team.example")])
        expect(yield* ownership.assign(assigned(second, "sender", "team.example"))).toBeNull()
        expect(yield* ownership.assign(assigned(first, "sender", "team.example"))).toBeNull()
        for (const org of [first, second])
          expect((yield* listed(org)).map(([, resource_id]) => resource_id)).toEqual(["team.example"])
      })
    ))

  test("revokes exactly the resource that is named, of exactly this organization", () =>
    run(
      Effect.gen(function* () {
        const [ownership, org_id, other] = [yield* Ownership, yield* organization, yield* organization]
        const one = assigned(org_id, "account", "r1", "unipile")
        const kept = [
          { ...one, id: "r2" },
          { ...one, kind: "job" as const },
          { ...one, provider: "edges" }
        ]
        for (const each of [one, ...kept]) yield* ownership.assign(each)
        yield* ownership.assign(assigned(other, "account", "r3", "unipile"))
        expect(yield* ownership.revoke({ ...one, org_id: other })).toBe(false)
        expect(yield* ownership.revoke(one)).toBe(true)
        expect(yield* ownership.revoke(one)).toBe(false)
        expect((yield* listed(org_id)).toSorted()).toEqual([
          ["account", "r1", "edges", "assigned"],
          ["account", "r2", "unipile", "assigned"],
          ["job", "r1", "unipile", "assigned"]
        ])
        expect(yield* listed(other)).toEqual([["account", "r3", "unipile", "assigned"]])
        const domain = assigned(org_id, "domain", "revoked.example")
        yield* ownership.assign(domain)
        expect(yield* ownership.revoke(domain)).toBe(true)
      })
    ))

  test("revokes a proven sender of this organization and of no other, and none for another kind", () =>
    run(
      Effect.gen(function* () {
        const [ownership, org_id, other] = [yield* Ownership, yield* organization, yield* organization]
        for (const org of [org_id, other])
          for (const domain of ["one.example", "two.example"]) yield* sender(org, domain)
        expect(yield* ownership.revoke(assigned(org_id, "domain", "one.example"))).toBe(false)
        expect(yield* ownership.revoke(assigned(org_id, "sender", "one.example"))).toBe(true)
        expect(yield* listed(org_id)).toEqual([["sender", "two.example", null, "proven"]])
        expect((yield* listed(other)).map(([, id]) => id).toSorted()).toEqual(["one.example", "two.example"])
        expect(yield* ownership.revoke(assigned(org_id, "sender", "one.example"))).toBe(false)
      })
    ))
})

describe("the list for operators", () => {
  test("has what one organization owns from any source, the newest first, of one kind or of all", () =>
    run(
      Effect.gen(function* () {
        const [ownership, sql] = [yield* Ownership, yield* SqlClient.SqlClient]
        const [org_id, other, run_id] = [yield* organization, yield* organization, newId("run")]
        yield* ownership.claim(org_id, run_id, "agentmail", [made("inbox", "l1@agentmail.to")])
        yield* ownership.assign(assigned(org_id, "sender", "l2.example"))
        yield* sender(org_id, "l3.example")
        yield* sender(org_id, "l4.example", false)
        yield* sender(other, "l5.example")
        yield* ownership.assign(assigned(other, "domain", "l6.example"))
        const ages = { "l1@agentmail.to": 3, "l2.example": 1 }
        for (const [id, hours] of Object.entries(ages))
          yield* sql`UPDATE owned_resources SET created_at = now() - make_interval(hours => ${hours}) WHERE resource_id = ${id}`
        yield* sql`UPDATE senders SET verified_at = now() - interval '2 hours' WHERE domain = 'l3.example'`
        const all = [
          ["sender", "l2.example", null, "assigned"],
          ["sender", "l3.example", null, "proven"],
          ["inbox", "l1@agentmail.to", null, run_id]
        ]
        expect(yield* listed(org_id)).toEqual(all)
        expect(yield* listed(org_id, null, 2)).toEqual(all.slice(0, 2))
        expect(yield* listed(org_id, "sender")).toEqual(all.slice(0, 2))
        expect(yield* listed(org_id, "inbox")).toEqual(all.slice(2))
        expect(yield* listed(org_id, "job")).toEqual([])
      })
    ))
})

describe("a page of what an organization owns", () => {
  test("has the objects of a kind in the order of their ids, with what made them", () =>
    run(
      Effect.gen(function* () {
        const [ownership, org_id, other] = [yield* Ownership, yield* organization, yield* organization]
        const [run_id, erased] = [yield* storeRun(org_id, { result: '{"address":"p-b@x.example"}' }), newId("run")]
        yield* ownership.claim(org_id, run_id, "agentmail", [
          made("inbox", "p-b@x.example"),
          made("domain", "p.example")
        ])
        yield* ownership.claim(org_id, erased, "agentmail", [made("inbox", "p_c@x.example")])
        yield* ownership.assign(assigned(org_id, "inbox", "p-d@x.example"))
        yield* ownership.claim(other, newId("run"), "agentmail", [made("inbox", "p-a@x.example")])
        const page = (limit: number, after: string | null) => ownership.page(org_id, "inbox", { limit, after })
        const all = yield* page(10, null)
        // Byte by byte, as who compares two ids does.
        expect(all.items.map(({ id, made_as }) => [id, made_as])).toEqual([
          ["p-b@x.example", { address: "p-b@x.example" }],
          ["p-d@x.example", null],
          ["p_c@x.example", null]
        ])
        expect(all).toMatchObject({ total: 3, next: null })
        for (const { owned_since } of all.items) expect(owned_since).toBeInstanceOf(Date)
        const ids = Effect.fnUntraced(function* (limit: number, after: string | null) {
          const { items, total, next } = yield* page(limit, after)
          return [items.map(({ id }) => id), total, next]
        })
        expect(yield* ids(2, null)).toEqual([["p-b@x.example", "p-d@x.example"], 3, "p-d@x.example"])
        expect(yield* ids(2, "p-d@x.example")).toEqual([["p_c@x.example"], 3, null])
        expect(yield* ids(1, "p-b@x.example")).toEqual([["p-d@x.example"], 3, "p-d@x.example"])
        // A page that ends with the last object is the last one.
        expect(yield* ids(3, null)).toEqual([["p-b@x.example", "p-d@x.example", "p_c@x.example"], 3, null])
        expect(yield* ids(2, "p_c@x.example")).toEqual([[], 3, null])
        expect(yield* ownership.page(yield* organization, "inbox", { limit: 2, after: null })).toEqual({
          ...{ items: [], total: 0, next: null }
        })
      })
    ))
})
