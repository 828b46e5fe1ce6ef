/** Whose batch it is: a key with a scope retries and cancels only batches that it started. */
import { afterEach, beforeAll, expect, test } from "bun:test"
import { type Reply, type Tenant, until, verify, withApp } from "../../kit/app.ts"
import { heldProvider, rehearseHeld } from "../../kit/held-provider.ts"

const held = heldProvider()
const app = withApp({ held })
let org: Tenant
let session: string
beforeAll(async () => {
  org = await app.tenant("5.00")
  session = await org.session()
})
afterEach(async () => {
  await app.books()
})

const mint = async (rules: object = {}) =>
  (await app.call(session, "POST", "/v1/api-keys", { body: { name: "k", environment: "test", ...rules } })).body
/** A batch whose only row is blocked by its limit. */
const blocked = async (by: string): Promise<string> => {
  const body = { runs: [verify()], max_total: "0.00" }
  const { id } = (await app.call(by, "POST", "/v1/batches", { body })).body
  await until(
    "the batch to finish",
    () => app.call(by, "GET", `/v1/batches/${id}`),
    (reply: Reply) => reply.body.done
  )
  return id
}
const retry = (by: string, id: string) =>
  app.call(by, "POST", `/v1/batches/${id}/retry`, { body: { max_total: "1.00" } })

test("a key with a scope retries its own batches, and raises the limit of no other", async () => {
  const [maker, other] = [await mint({ allow: { raw: true } }), await mint({ allow: { raw: true } })]
  const [theirs, ofPerson] = [await blocked(maker.api_key), await blocked(session)]
  for (const id of [theirs, ofPerson]) {
    const refused = await retry(other.api_key, id)
    expect([refused.status, refused.body.error.message]).toEqual([403, expect.stringContaining("(allow)")])
    const { body } = await app.call(session, "GET", `/v1/batches/${id}`)
    expect([body.max_total, body.rows.blocked]).toEqual(["0.00", 1])
    const moved = app.sql("UPDATE batches SET key_id = $1, max_total = 1000000 WHERE batch_id = $2", [other.id, id])
    await expect(moved).rejects.toThrow("did not start it")
  }
  expect((await retry(maker.api_key, theirs)).status).toBe(202)
  // A person and a key without a scope may retry every batch. It stays that of the key which started it.
  const again = await blocked(maker.api_key)
  expect((await app.call(session, "POST", `/v1/batches/${again}/retry`, { body: {} })).status).toBe(202)
  await until(
    "the batch to finish",
    () => app.call(session, "GET", `/v1/batches/${again}`),
    (reply: Reply) => reply.body.done
  )
  expect((await retry(maker.api_key, again)).status).toBe(202)
  expect((await retry(org.key, ofPerson)).status).toBe(202)
})

test("the key that replaces another one retries its batches", async () => {
  const maker = await mint({ allow: { raw: true } })
  const id = await blocked(maker.api_key)
  const { body } = await app.call(session, "POST", `/v1/api-keys/${maker.id}/rotate`, { body: {} })
  expect((await retry(body.api_key, id)).status).toBe(202)
})

test("a key with a scope cancels its own batches only, and those of a key that it replaced", async () => {
  const [maker, other] = [await mint({ allow: { raw: true } }), await mint({ allow: { raw: true } })]
  const cancel = (by: string, id: string) => app.call(by, "POST", `/v1/batches/${id}/cancel`)
  const start = async (by: string) =>
    (await app.call(by, "POST", "/v1/batches", { body: { runs: [rehearseHeld()] } })).body.id
  const [theirs, ofPerson] = [await start(maker.api_key), await start(session)]
  // A row that has not begun would be refused after its key was rotated.
  await held.holds(2)
  for (const id of [theirs, ofPerson]) {
    const refused = await cancel(other.api_key, id)
    expect([refused.status, refused.body.error.message]).toEqual([403, expect.stringContaining("(allow)")])
    expect((await app.call(session, "GET", `/v1/batches/${id}`)).body.status).toBe("running")
  }
  const { body } = await app.call(session, "POST", `/v1/api-keys/${maker.id}/rotate`, { body: {} })
  for (const [by, id] of [
    [body.api_key, theirs],
    [org.key, ofPerson]
  ])
    expect((await cancel(by, id)).body.status).toMatch(/^cancel/)
  held.release()
  for (const id of [theirs, ofPerson]) {
    await until(
      "the batch to end",
      () => app.call(session, "GET", `/v1/batches/${id}`),
      (reply: Reply) => reply.body.done
    )
    // It has ended, so nothing can be changed.
    expect((await cancel(other.api_key, id)).status).toBe(200)
  }
})
