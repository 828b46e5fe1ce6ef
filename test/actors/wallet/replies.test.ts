/** What a turn answers to those who wait for it, and which commands change which wallet. */
import { describe, expect, test } from "bun:test"
import { dollars, usd } from "../../../src/schema/money/Money.ts"
import {
  booked,
  cancel,
  credit,
  newRun,
  org_id,
  queuedRun,
  reserve,
  runningRun,
  settle,
  turnOf,
  walletWith
} from "../../kit/turn-view.ts"

describe("the sender of a command", () => {
  test("hears its verdict, and the transaction that it made", () => {
    const mail = [
      reserve("run_a", { command_id: "cmd_a" }),
      settle("run_b", {}, { command_id: "cmd_b" }),
      cancel("run_c", { command_id: "cmd_c" }),
      credit("2.00", { command_id: "cmd_d" })
    ]
    const { effects, replyTo, answer } = turnOf(mail, {
      runs: [newRun("run_a"), runningRun("run_b"), queuedRun("run_c")]
    })
    expect(mail.map(({ command_id }) => replyTo(command_id ?? ""))).toEqual([
      { verdict: "Admitted", transaction_id: "txn_1" },
      { verdict: "Settled", transaction_id: "txn_2" },
      { verdict: "Cancelled", transaction_id: "txn_4" },
      { verdict: "Credited", transaction_id: "txn_5" }
    ])
    expect(effects.entries.map(({ txn_id, seq }) => [txn_id, seq])).toEqual(
      [1n, 2n, 3n, 4n, 5n].map((seq) => [`txn_${seq}`, seq])
    )
    expect(answer.signals).toEqual(["cmd_a", "run_b", "cmd_b", "run_c", "cmd_c", "cmd_d"])
  })

  test("gets no transaction if there was none", () => {
    const mail = [reserve("run_a", { command_id: "cmd_a" })]
    expect(turnOf(mail, { runs: [newRun("run_a")], wallets: [walletWith("0.10")] }).replyTo("cmd_a")).toEqual({
      ...{ verdict: "Refused", transaction_id: null }
    })
  })

  test("gets no reply if it does not wait for one", () => {
    const { effects, answer } = turnOf([credit("2.00")])
    expect([effects.replies, answer.signals]).toEqual([[], []])
  })
})

describe("a credit", () => {
  test("that is stored again is not booked again, and answers with the first transaction", () => {
    const credited = new Map([["cmd_a", "txn_of_old"]])
    const { effects, replyTo } = turnOf([credit("2.00", { command_id: "cmd_a" })], { credited })
    expect(replyTo("cmd_a")).toEqual({ verdict: "Credited", transaction_id: "txn_of_old" })
    expect(effects.entries).toEqual([])
    expect(effects.wallets).toEqual([walletWith("10.00")])
  })

  test("without a waiting sender is booked", () => {
    expect(booked(turnOf([credit("2.00")], { credited: new Map([["cmd_a", "txn_of_old"]]) }).effects)).toEqual([
      "bonus 2.00"
    ])
  })

  test("is the only command that counts as booked by its id", () => {
    const { effects } = turnOf([cancel("run_a", { command_id: "cmd_a" })], {
      ...{ runs: [queuedRun("run_a")], credited: new Map([["cmd_a", "txn_of_old"]]) }
    })
    expect(booked(effects)).toEqual(["release 1.00"])
  })

  test("pays for the runs that are asked for after it", () => {
    const { effects } = turnOf([credit("1.00"), reserve("run_a")], {
      ...{ runs: [newRun("run_a")], wallets: [walletWith("0.00")] }
    })
    expect(booked(effects)).toEqual(["bonus 1.00", "reserve -1.00"])
    expect(effects.wallets.map(({ balance, reserved }) => [usd(balance), usd(reserved)])).toEqual([["1.00", "1.00"]])
  })
})

test("each organization's commands change its own wallet only", () => {
  const other = "org_b"
  const wallets = [walletWith("1.00"), walletWith("5.00", { org_id: other }), walletWith("7.00", { org_id: "org_c" })]
  const { effects } = turnOf([credit("2.00"), credit("3.00", { org_id: other })], { wallets })
  expect(effects.wallets.map((one) => [one.org_id, usd(one.balance)])).toEqual([
    [org_id, "3.00"],
    [other, "8.00"]
  ])
  expect(effects.entries.map((one) => [one.org_id, one.amount])).toEqual([
    [org_id, dollars("2.00")],
    [other, dollars("3.00")]
  ])
})

test("stored commands count as taken, and direct ones do not", () => {
  expect(turnOf([credit("1.00", { id: 8n }), credit("1.00", { id: null }), credit("1.00")]).answer.taken).toBe(2)
})

test("a command of an organization without a wallet fails the turn", () => {
  expect(() => turnOf([credit("1.00", { org_id: "org_x" })])).toThrow("A command names org_x, which has no wallet.")
})

test("an ordinary turn has no charges, no mismatches, no losses, and no run that asks again", () => {
  const { answer } = turnOf([reserve("run_a")], { runs: [newRun("run_a")] })
  expect(answer).toMatchObject({ charges: false, mismatches: [], losses: [], requeued: false, ended: [] })
})
