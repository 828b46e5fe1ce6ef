/**
 * What the service signs, verified by code that it does not use itself: webhooks by HMAC as their specification has it, receipts and ledger
 * heads by Debian's python3-jwcrypto, which only the long form asks for.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { spawnSync } from "node:child_process"
import { createHmac } from "node:crypto"
import { Layer } from "effect"
import { Client } from "pg"
import { HeadSeconds } from "../../src/actors/receipts/HeadWorker.ts"
import { type App, startApp, type Tenant, until, verify } from "../kit/app.ts"
import { exhaustive } from "../kit/input-samples.ts"
import { type Got, receiver } from "../kit/webhook-receiver.ts"

let app: App
let org: Tenant
let hooks: ReturnType<typeof receiver>
beforeAll(async () => {
  app = await startApp({
    settings: { RUNGATE_WEBHOOK_ALLOW_PRIVATE: "1" },
    limits: Layer.succeed(HeadSeconds, 0.2)
  })
  org = await app.tenant("5.00")
  hooks = receiver()
})
afterAll(async () => {
  await hooks.stop()
  await app.stop()
})

/** The signature of https://www.standardwebhooks.com, by its text alone. */
const isSigned = ({ headers, text }: Got, secret: string): boolean => {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64")
  const signed = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.${text}`
  const expected = `v1,${createHmac("sha256", key).update(signed).digest("base64")}`
  return (headers["webhook-signature"] ?? "").split(" ").includes(expected)
}

test("a webhook is signed as its specification says, also while a secret is replaced", async () => {
  const session = await org.session()
  const call = (path: string, body: unknown) => app.call(session, "POST", `/v1/webhook-endpoints${path}`, { body })
  const { body: endpoint } = await call("", { url: hooks.url, events: ["run.finished"] })
  const arrived = (count: number) =>
    until(
      "webhooks",
      () => hooks.got.length,
      (length) => length === count
    )
  await org.run(verify())
  await arrived(1)
  const { body: next } = await call(`/${endpoint.id}/rotate`, {})
  await org.run(verify())
  await arrived(2)
  const [first, second] = hooks.got
  if (first === undefined || second === undefined) throw new Error("no webhooks")
  expect([isSigned(first, endpoint.secret), isSigned(first, next.secret)]).toEqual([true, false])
  expect([isSigned(second, endpoint.secret), isSigned(second, next.secret)]).toEqual([true, true])
  const seconds = Math.abs(Date.now() / 1_000 - Number(first.headers["webhook-timestamp"]))
  expect(seconds).toBeLessThan(300)
  for (const changed of [
    { ...first, text: `${first.text} ` },
    { ...first, headers: { ...first.headers, "webhook-id": "evt_x" } }
  ])
    expect(isSigned(changed, endpoint.secret)).toBe(false)
})

const python = "/usr/bin/python3"
const hasJwcrypto = spawnSync(python, ["-c", "import jwcrypto"]).status === 0
if (exhaustive && !hasJwcrypto) console.log("SKIPPED: receipts and heads by python3-jwcrypto, which is not installed")

/** Prints the contents of each signed text, or null where the signature is wrong. */
const script = `
import json, sys
from jwcrypto import jwk, jws
asked = json.load(sys.stdin)
keys = jwk.JWKSet.from_json(json.dumps(asked["jwks"]))
def opened(text):
    token = jws.JWS()
    token.deserialize(text)
    try:
        token.verify(keys.get_key(token.jose_header["kid"]))
        return json.loads(token.payload)
    except jws.InvalidJWSSignature:
        return None
print(json.dumps([opened(text) for text in asked["texts"]]))
`

describe.skipIf(!exhaustive || !hasJwcrypto)("python3-jwcrypto", () => {
  const opened = async (texts: ReadonlyArray<string>) => {
    const { body: jwks } = await app.call(null, "GET", "/.well-known/jwks.json")
    const { stdout, stderr } = spawnSync(python, ["-c", script], { input: JSON.stringify({ jwks, texts }) })
    expect(String(stderr)).toBe("")
    return JSON.parse(String(stdout))
  }
  /** The same text with the signature of another one. */
  const swapped = (text: string, other: string) => [...text.split(".").slice(0, 2), other.split(".")[2]].join(".")

  test("takes receipts, and none with another's signature", async () => {
    const ids = [(await org.run(verify("one"))).body.run_id, (await org.run(verify("two"))).body.run_id]
    const texts = await Promise.all(ids.map(async (id) => (await org.get(`/v1/runs/${id}/receipt`)).text))
    const [one, two] = [texts[0] ?? "", texts[1] ?? ""]
    const found = await opened([one, two, swapped(one, two)])
    expect(found.slice(0, 2).map(({ run_id }: { run_id: string }) => run_id)).toEqual(ids)
    expect(found[2]).toBeNull()
  })

  test("takes heads of the ledger", async () => {
    const owner = new Client(app.databaseUrl)
    await owner.connect()
    // All that happened moves to yesterday, chained anew as the owner of the database could.
    await owner.query("SET session_replication_role = replica")
    await owner.query("UPDATE ledger SET created_at = created_at - interval '1 day'")
    await owner.query(`DO $$
      DECLARE e ledger; previous bytea;
      BEGIN
        FOR e IN SELECT * FROM ledger WHERE org_id = '${org.org_id}' ORDER BY seq LOOP
          previous := ledger_hash(previous, e);
          UPDATE ledger SET hash = previous WHERE org_id = e.org_id AND seq = e.seq;
        END LOOP;
        UPDATE wallets SET head = previous, version = version + 1 WHERE org_id = '${org.org_id}';
      END $$`)
    await owner.end()
    await app.sql("UPDATE wallet_head_days SET day = (now() AT TIME ZONE 'UTC')::date - 2")
    const [head] = await until(
      "a head",
      async () => (await org.get("/v1/wallet/heads")).body.items,
      (items) => items.length === 1
    )
    const { day, seq, hash } = head
    expect(await opened([head.head])).toMatchObject([{ org_id: org.org_id, day, seq, hash }])
  })
})
