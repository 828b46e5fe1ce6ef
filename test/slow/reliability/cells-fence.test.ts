/**
 * What an organization that moves to another cell refuses, and what refuses the move: nothing changes between the copy and the switch, and the
 * operator reads what to do. The move itself: cells-move.test.ts.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { Effect, Exit } from "effect"
import { encodeCredit } from "../../../src/actors/mailbox/Commands.ts"
import { digest } from "../../../src/layers/accounts/Secrets.ts"
import { MailStore } from "../../../src/layers/ledger/MailStore.ts"
import { dollars } from "../../../src/schema/money/Money.ts"
import { heldProvider, rehearseHeld } from "../../kit/held-provider.ts"
import { type App, startApp, until } from "../../kit/app.ts"
import { move } from "../../kit/cell-move.ts"

const verify = (name: string) => ({ capability: "email.verify", input: { email: `${name}@acme.com` } })

describe("an organization that moves to another cell", () => {
  const held = heldProvider()
  let here: App
  let there: App
  beforeAll(async () => {
    ;[here, there] = await Promise.all([startApp({ held }), startApp()])
  })
  afterAll(() => Promise.all([here.stop(), there.stop()]))

  const moving = (org_id: string, moving: number) =>
    here.sql("UPDATE wallets SET moving = $2, version = version + 1 WHERE org_id = $1", [org_id, moving])
  const fence = async (org_id: string) => {
    await here.sql("INSERT INTO cell_moves (org_id, cell, state) VALUES ($1, 'two', 'fenced')", [org_id])
    await moving(org_id, 2)
  }
  const unfence = async (org_id: string) => {
    await here.sql("DELETE FROM cell_moves WHERE org_id = $1", [org_id])
    await moving(org_id, 0)
  }
  const credit = (org_id: string, id: string) => ({
    org_id,
    command_id: id,
    tag: "Credit" as const,
    run_id: null,
    result: null,
    payload: encodeCredit({ type: "bonus", amount: dollars("1.00"), reference: id, note: "late" })
  })

  test("what can't move is refused, and stays as it was", async () => {
    const [org, other] = [await here.tenant("5.00"), await here.tenant("5.00")]
    expect(await move(org.org_id, here, here)).toContain("same cell")
    expect(await move(`org_${"7".repeat(26)}`, here, there)).toContain("There is no organization")
    await here.sql(
      `INSERT INTO referrals (referral_id, referred_org, referrer_org, deposit_min, deposit_bonus, share_bps, ends_at)
       VALUES ('ref_${"7".repeat(26)}', $1, $2, 100000000, 0, 1000, now())`,
      [org.org_id, other.org_id]
    )
    expect(await move(org.org_id, here, there)).toContain(other.org_id)
    expect((await org.run(verify("ada"))).body.status).toBe("succeeded")
    expect(await there.sql("SELECT FROM orgs WHERE org_id = $1", [org.org_id])).toEqual([])
  })

  test("a dead-lettered command refuses the move at once, also while it waits, and says what to do", async () => {
    const org = await here.tenant("5.00")
    const { command_id, payload } = credit(org.org_id, "dead")
    const deadLetter = () =>
      here.sql(
        `INSERT INTO mailbox (lane, command_id, org_id, tag, payload, attempts, parked)
         SELECT lane, $2, org_id, 'Credit', $3, 5, 'a bug' FROM wallets WHERE org_id = $1`,
        [org.org_id, command_id, payload]
      )
    const retry = () =>
      here.sql("UPDATE mailbox SET parked = NULL, attempts = 0 WHERE org_id = $1 AND parked IS NOT NULL", [org.org_id])
    const balanceIs = (dollars: string) =>
      until(
        "the credit",
        async () => (await org.wallet()).balance,
        (balance) => balance === dollars,
        20
      )
    const says = /Credit of org_\w+ is dead-lettered.*Retry it on the page Queues of the operator console/

    await deadLetter()
    expect(await move(org.org_id, here, there, { seconds: 600 })).toMatch(says)
    await retry()
    await balanceIs("6.00")

    const open = org.run(rehearseHeld())
    await held.holds(1)
    const drains = move(org.org_id, here, there, { seconds: 600 })
    await until(
      "it drains",
      () => here.sql("SELECT FROM wallets WHERE org_id = $1 AND moving = 1", [org.org_id]),
      (rows) => rows.length === 1
    )
    await deadLetter()
    expect(await drains).toMatch(says)
    await retry()
    held.release()
    expect((await open).body.status).toBe("succeeded")
    expect(await move(org.org_id, here, there)).toMatchObject({ rows: expect.any(BigInt) })
  })

  test("a member whose home is another organization can't change how they sign in, and can afterwards", async () => {
    const [org, home] = [await here.tenant("5.00"), await here.tenant("5.00")]
    await org.session()
    await home.session()
    const [user] = await here.sql("UPDATE users SET email_verified_at = now() WHERE org_id = $1 RETURNING user_id", [
      home.org_id
    ])
    await here.sql("INSERT INTO members (org_id, user_id, role) VALUES ($1, $2, 'member')", [
      org.org_id,
      user?.["user_id"]
    ])
    const token = `rg_reset_${"7".repeat(43)}`
    await here.sql("INSERT INTO mail_tokens VALUES ($1, 'reset_password', $2, now() + interval '1 hour')", [
      Buffer.from(digest(token)),
      user?.["user_id"]
    ])
    const reset = () =>
      here.call(null, "POST", "/v1/auth/password-reset/confirm", {
        body: { token, new_password: "correct horse battery" }
      })
    await fence(org.org_id)
    const refused = await reset()
    expect([refused.status, refused.body.error.code]).toEqual([503, "service_unavailable"])
    for (const change of [
      "UPDATE users SET password_hash = 'another' WHERE user_id = $1",
      "INSERT INTO passkeys (passkey_id, user_id, credential_id, public_key, name, counter) VALUES ('psk', $1, 'x', 'x', 'x', 0)",
      "INSERT INTO second_factors (user_id, secret) VALUES ($1, 'x')",
      "INSERT INTO identities (issuer, subject, user_id) VALUES ('x', 'x', $1)"
    ])
      await expect(here.sql(change, [user?.["user_id"]])).rejects.toThrow("is moving to another cell")
    await unfence(org.org_id)
    expect((await reset()).status).toBe(200)
  })

  test("nothing of a fenced organization changes", async () => {
    const org = await here.tenant("5.00")
    const session = await org.session()
    await fence(org.org_id)
    expect((await org.run(verify("ada"))).status).toBe(503)
    expect((await here.call(session, "GET", "/v1/wallet")).status).toBe(503)
    expect((await org.get("/v1/wallet")).status).toBe(200)
    for (const change of [
      "UPDATE wallets SET balance = balance WHERE org_id = $1",
      "UPDATE api_keys SET revoked_at = now() WHERE org_id = $1",
      "DELETE FROM members WHERE org_id = $1",
      "UPDATE users SET password_hash = 'another' WHERE org_id = $1",
      "UPDATE sessions SET ended_at = now() WHERE org_id = $1",
      "INSERT INTO opt_outs (id, org_id, kind, digest, source) VALUES ('out', $1, 'email', sha256('x'), 'api')"
    ])
      await expect(here.sql(change, [org.org_id])).rejects.toThrow("is moving to another cell")
    // Maintenance of all organizations goes on.
    await here.sql("UPDATE wallets SET lane = lane + 1 WHERE org_id = $1", [org.org_id])
    await here.sql("UPDATE wallets SET lane = lane - 1 WHERE org_id = $1", [org.org_id])
    // A refund that the processor reports now is refused, so that it is reported again. One that was stored before the fence stays.
    const enqueued = Effect.runPromise(
      Effect.provideContext(
        Effect.exit(Effect.flatMap(MailStore, (mail) => mail.enqueue(credit(org.org_id, "refused")))),
        here.context as never
      )
    )
    expect(Exit.isFailure(await enqueued)).toBe(true)
    const stored = credit(org.org_id, "stored")
    await here.sql(
      "INSERT INTO mailbox (lane, command_id, org_id, tag, payload) SELECT lane, $2, org_id, 'Credit', $3 FROM wallets WHERE org_id = $1",
      [org.org_id, stored.command_id, stored.payload]
    )
    // Runs of others take turns of its lane, and leave the command.
    await Promise.all(Array.from({ length: 8 }, async () => (await here.tenant("1.00")).run(verify("grace"))))
    expect(await here.sql("SELECT count(*)::int AS kept FROM mailbox WHERE command_id = 'stored'")).toEqual([
      { kept: 1 }
    ])
    await unfence(org.org_id)
    await until(
      "the credit",
      async () => (await org.wallet()).balance,
      (balance) => balance === "6.00",
      20
    )
    expect((await org.run(verify("ada"))).body.status).toBe("succeeded")
  })

  test("a fenced organization whose approval is over keeps nobody else's from ending", async () => {
    const waiting = async () => {
      const org = await here.tenant("5.00")
      await here.call(await org.session(), "POST", "/v1/approval-rules", { body: { name: "all" } })
      const { body } = await org.run(verify("ada"))
      expect(body.approval).toMatchObject({ code: "approval_required" })
      return { org, run_id: String(body.run_id) }
    }
    const [fenced, other] = [await waiting(), await waiting()]
    await fence(fenced.org.org_id)
    for (const [n, { run_id }] of [fenced, other].entries())
      await here.sql(
        "UPDATE approvals SET requested_at = now() - interval '2 days', expires_at = now() - interval '1 minute' + $2 * interval '1 second' WHERE run_id = $1",
        [run_id, n]
      )
    expect((await other.org.get(`/v1/runs/${other.run_id}?wait=30`)).body.error.code).toBe("approval_expired")
    await unfence(fenced.org.org_id)
    expect((await fenced.org.get(`/v1/runs/${fenced.run_id}?wait=30`)).body.error.code).toBe("approval_expired")
  })
})
