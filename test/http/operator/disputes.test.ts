/** Disputes as the operator console decides them, over real HTTP: a note is needed, a refund is final, and only an operator may. */
import { beforeAll, expect, test } from "bun:test"
import { type Tenant, until, withApp } from "../../kit/app.ts"
import { indexedAndCounted } from "../../kit/finished-work.ts"
import { operatorOf } from "./operator.ts"

let org: Tenant
const app = withApp({ settings: { RUNGATE_WARRANTY_SHARE: "0.25" } })
beforeAll(async () => {
  org = await app.tenant("5.00")
})

const disputed = async (): Promise<string> => {
  const { body } = await org.run({ capability: "email.verify", input: { email: "bounce@sandbox.test" } })
  const evidence = { reason: "bounced", evidence: "my mail server says so" }
  expect((await org.post(`/v1/runs/${body.run_id}/dispute`, evidence)).body.state).toBe("pending")
  return body.run_id
}

test("disputes are listed a page at a time, refused, and refunded once within the share", async () => {
  const operator = await operatorOf(app)
  const [first, second] = [await disputed(), await disputed()]
  const page = await operator.get("/disputes?limit=1")
  expect([page.body.items.map(({ run_id }: { run_id: string }) => run_id), page.body.next_cursor]).toEqual([
    [first],
    first
  ])
  const rest = await operator.get(`/disputes?cursor=${page.body.next_cursor}`)
  expect([rest.body.items, rest.body.next_cursor]).toMatchObject([[{ run_id: second, org_id: org.org_id }], null])
  expect((await operator.get("/disputes?cursor=x")).body.error.details[0].path).toBe("query.cursor")

  const decide = (run_id: string, decision: string, note: string) =>
    operator.post(`/disputes/${run_id}/${decision}`, { note })
  for (const note of ["", "  ", "\u0000", "x".repeat(501)])
    expect([note.length, (await decide(first, "refuse", note)).body.error.details[0].path]).toEqual([
      note.length,
      "note"
    ])
  expect((await decide(`run_${"0".repeat(26)}`, "accept", "x")).status).toBe(404)
  expect((await decide(first, "refuse", "no proof")).body).toMatchObject({ state: "refused", note: "no proof" })
  expect((await operator.get("/disputes")).body.items).toHaveLength(1)
  expect((await operator.get("/disputes?decided=true")).body.items).toHaveLength(2)

  // A quarter of what both runs cost is less than one refund, whether they are counted as revenue yet or not.
  const limited = await decide(second, "accept", "seen")
  expect([limited.status, limited.body.error.message]).toEqual([400, expect.stringContaining("RUNGATE_WARRANTY_SHARE")])
  await org.run({ capability: "people.search", input: { titles: ["x"], limit: 25 } })
  await indexedAndCounted(app)
  const accepted = await decide(second, "accept", "seen")
  expect([accepted.status, accepted.body]).toMatchObject([200, { state: "refunded", note: "seen" }])
  expect((await decide(second, "accept", "again")).body).toEqual(accepted.body)
  expect((await decide(second, "refuse", "no")).body.error.message).toContain("already refunded")
  await until(
    "the refund is booked",
    () => org.ledger(),
    (entries) => entries.some(({ reference }) => reference === `warranty:${second}`)
  )
  await app.books()
})

test("no customer lists or decides them", async () => {
  const run_id = await disputed()
  const session = await org.session()
  for (const token of [org.key, session, null]) {
    expect((await app.call(token, "GET", "/v1/operator/disputes")).status).toBe(403)
    const body = { note: "mine" }
    expect((await app.call(token, "POST", `/v1/operator/disputes/${run_id}/accept`, { body })).status).toBe(403)
  }
})
