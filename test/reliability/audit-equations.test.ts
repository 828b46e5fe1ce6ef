/** What the auditor says of payments and referrals that are not as they should be: each equation can fail, and names the place. */
import { beforeAll, describe, expect, test } from "bun:test"
import { Context, Effect } from "effect"
import { CommandClient } from "../../src/actors/mailbox/CommandClient.ts"
import { encodePay } from "../../src/actors/mailbox/Commands.ts"
import { makeAccrueShares } from "../../src/actors/payments/ReferralActor.ts"
import { Audit } from "../../src/layers/audit/Audit.ts"
import { dollars } from "../../src/schema/money/Money.ts"
import { figures, type Tenant, until, withApp } from "../kit/app.ts"

describe("equations of payments and referrals", () => {
  let referrer: Tenant
  let referred: string
  let referral: string
  /** The deposit that stands, and one of which half was taken back. */
  let deposit: string
  let reversed: string

  const violations = async () =>
    (await Effect.runPromise(Context.get(app.context, Audit).run)).violations.map(
      ({ equation, subject }) => `${equation}: ${subject}`
    )
  const checkout = async (token: string) => {
    const { body } = await app.call(token, "POST", "/v1/wallet/topups/checkout", { body: { amount: "25.00" } })
    const [row] = await app.sql("SELECT payment_id FROM payments WHERE session_id = $1", [body.session_id])
    return String(row?.["payment_id"])
  }

  const app = withApp({ settings: { RUNGATE_REFERRAL_SHARE_PERCENT: "99.99", RUNGATE_REFERRAL_SECONDS: "86400" } })
  beforeAll(async () => {
    referrer = await app.tenant("1.00")
    const { code } = (await referrer.get("/v1/referrals")).body
    const person = { email: "new@example.com", password: "correct horse battery", organization: "New" }
    const { body } = await app.call(null, "POST", "/v1/auth/sign-up", { body: { ...person, referral_code: code } })
    const token: string = body.session_token
    deposit = await checkout(token)
    reversed = await checkout(token)
    const [row] = await app.sql("SELECT referral_id, referred_org FROM referrals")
    referral = String(row?.["referral_id"])
    referred = String(row?.["referred_org"])
    const payload = encodePay({
      payment_id: reversed,
      event_id: "evt_1",
      fact: {
        _tag: "Reversed",
        reversal_id: "re_1",
        payment_intent: null,
        kind: "refund",
        amount: dollars("12.50"),
        standing: "taken"
      }
    })
    const asked = { org_id: referred, run_id: null, tag: "Pay", payload, command_id: "evt_1" } as const
    await Effect.runPromise(Effect.ignore(Context.get(app.context, CommandClient).ask(asked)))
    await until(
      "the refund",
      () => app.sql("SELECT 1 FROM ledger WHERE reference = 're_1'"),
      (found) => found.length === 1
    )
    const search = { capability: "people.search", input: { titles: ["x"], limit: 25 } }
    for (let n = 0; n < 3; n++) await app.call(token, "POST", "/v1/run", { body: search })
    await Effect.runPromise(Effect.provideContext(Effect.flatten(makeAccrueShares), app.context))
    await until(
      "the share",
      () => app.sql("SELECT 1 FROM ledger WHERE reference LIKE '%:share:1'"),
      (found) => found.length === 1
    )
  })

  test("all is well after a deposit with its bonus, a refund and a referrer's share", async () => {
    await app.books()
    const { sheet } = await app.books()
    expect(sheet).toMatchObject({ topups: 50_000_000n, clawed_back: -12_500_000n, refunds: 0n, cost_unknown: 0n })
    expect(sheet.bonuses).toBeGreaterThan(1_010_000n)
    expect(sheet.provider_cost).toBeGreaterThan(0n)
    expect(sheet.balances).toBe(sheet.topups + sheet.clawed_back + sheet.bonuses + sheet.charged)
  })

  test("whatever is changed is named", async () => {
    const paid = "E6 each top-up is one paid payment of that amount, and each paid payment one top-up"
    const taken = "E6 the clawed back amount of each payment equals its refunds and disputes"
    const stray = "E6 money is taken back only by a payment's reversal or with a referral"
    const bonus = "E12 a referred organization has its bonus unless its deposit was reversed"
    const recorded = "E12 the recorded credits of a referral add up to its credited amount"
    const entered = "E12 each credit of a referral is one entry of its referrer, or a queued command"
    const share =
      "E12 a referrer has at most its share of the platform's net revenue from the referred organization's runs"
    const solvent = "E3 available >= 0, or short by no more than was clawed back"
    const [row] = await app.sql("SELECT session_id FROM payments WHERE payment_id = $1", [deposit])
    const session = String(row?.["session_id"])
    const one = `WHERE payment_id = '${deposit}'`
    const two = `WHERE payment_id = '${reversed}'`
    const [entry] = await app.sql("SELECT seq FROM ledger WHERE reference = 're_1'")
    const added = "(org_id, payment_id, kind, amount, state, session_id)"
    const cases: ReadonlyArray<readonly [tamper: string, undo: string, named: ReadonlyArray<string>]> = [
      [
        `UPDATE payments SET state = 'open' ${one}`,
        `UPDATE payments SET state = 'paid' ${one}`,
        [`${paid}: ${referred} ${session}`]
      ],
      [
        `UPDATE payments SET amount = amount + 10000 ${one}`,
        `UPDATE payments SET amount = amount - 10000 ${one}`,
        [`${paid}: ${referred} ${session}`, `${paid}: ${deposit}`]
      ],
      [
        `INSERT INTO payments ${added} VALUES ('${referred}', 'pay_x', 'checkout', 10000, 'paid', 'cs_x')`,
        "DELETE FROM payments WHERE payment_id = 'pay_x'",
        [`${paid}: pay_x`]
      ],
      [
        `UPDATE payments SET clawed_back = clawed_back + 1 ${two}`,
        `UPDATE payments SET clawed_back = clawed_back - 1 ${two}`,
        [`${taken}: ${reversed}`]
      ],
      [
        "UPDATE payment_reversals SET reversal_id = 're_2'",
        "UPDATE payment_reversals SET reversal_id = 're_1'",
        [`${taken}: ${reversed}`, `${stray}: ${referred} entry ${entry?.["seq"]}`]
      ],
      [
        "UPDATE referrals SET bonus_state = 'revoked'",
        "UPDATE referrals SET bonus_state = 'granted'",
        [`${bonus}: ${referral}`]
      ],
      [
        "UPDATE referrals SET credited = credited - 1",
        "UPDATE referrals SET credited = credited + 1",
        [`${recorded}: ${referral}`]
      ],
      [
        "UPDATE referral_credits SET amount = amount - 1",
        "UPDATE referral_credits SET amount = amount + 1",
        [`${recorded}: ${referral}`, `${entered}: ${referral}:share:1`, `${entered}: ${referral}:share:1`]
      ],
      [
        "UPDATE referrals SET net_revenue = net_revenue + 1",
        "UPDATE referrals SET net_revenue = net_revenue - 1",
        [`${share}: ${referral}`]
      ],
      [
        `UPDATE wallets SET reserved = balance + 12500001 WHERE org_id = '${referred}'`,
        `UPDATE wallets SET reserved = 0 WHERE org_id = '${referred}'`,
        [
          `E2 reserved = holds on the ledger = holds of open runs and allowances: ${referred}`,
          `${solvent}: ${referred}`
        ]
      ],
      [
        `UPDATE wallets SET reserved = balance + 12500000 WHERE org_id = '${referred}'`,
        `UPDATE wallets SET reserved = 0 WHERE org_id = '${referred}'`,
        [`E2 reserved = holds on the ledger = holds of open runs and allowances: ${referred}`]
      ]
    ]
    const tables = ["payments", "payment_reversals", "referrals", "wallets"]
    for (const table of tables) await app.sql(`ALTER TABLE ${table} DISABLE TRIGGER USER`)
    const wrong: Array<unknown> = []
    for (const [tamper, undo, named] of cases) {
      await app.sql(tamper)
      const found = await violations()
      if (JSON.stringify([...found].sort()) !== JSON.stringify([...named].sort())) wrong.push({ tamper, found, named })
      await app.sql(undo)
    }
    for (const table of tables) await app.sql(`ALTER TABLE ${table} ENABLE TRIGGER USER`)
    expect(wrong).toEqual([])
    await app.books()
    figures("E3, E6, E12 are checked", { cases: cases.length, violations: wrong.length })
  })

  test("a credit that still lies in the mailbox is no violation; one that does not is", async () => {
    await app.sql("INSERT INTO referral_credits SELECT referral_id, 2, 1, net_revenue, to_seq FROM referral_credits")
    await app.sql("UPDATE referrals SET credited = credited + 1, credits = credits + 1, net_revenue = net_revenue + 2")
    const entered = `E12 each credit of a referral is one entry of its referrer, or a queued command: ${referral}:share:2`
    expect(await violations()).toContain(entered)
    // No worker takes this lane.
    await app.sql("INSERT INTO mailbox (lane, org_id, tag, command_id) VALUES (99, $1, 'Credit', $2)", [
      referrer.org_id,
      `${referral}:share:2`
    ])
    expect(await violations()).not.toContain(entered)
  })
})
