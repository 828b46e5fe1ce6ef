/** Which commands a turn takes from the memory of its process, and which have to be stored first. */
import { describe, expect, test } from "bun:test"
import {
  type DirectCommand,
  newRunsOf,
  sortDirect,
  turnRunOf,
  withDirect
} from "../../../src/layers/ledger/DirectCommands.ts"
import type { TurnCommand, TurnRead, TurnRun, TurnWallet } from "../../../src/layers/ledger/Turn.ts"
import type { NewRun } from "../../../src/layers/runs/NewRuns.ts"
import { dollars, MicroUsd as micros } from "../../../src/schema/money/Money.ts"
import type { SettleReport } from "../../../src/schema/runs/SettleReport.ts"
import { newRun, planOfOne } from "../../kit/new-runs.ts"
import { credit, readWallet, reserve as storedReserve, turnView, walletWith } from "../../kit/turn-view.ts"

const lane = 3
/** The most open runs of an organization. A quarter of it is for direct commands. */
const orgQueue = 400

const reserve = (changed: Partial<NewRun> = {}): DirectCommand => ({
  _tag: "Reserve",
  run: newRun("org_a", { ...changed })
})
const report: SettleReport = {
  lease_token: "lease",
  status: "succeeded",
  charge: dollars("0.01"),
  billed: true,
  provider: "hunter",
  attempts: [],
  hints: [],
  error: null
}
const settle = (org_id = "org_a"): DirectCommand => ({
  _tag: "Settle",
  run: { ...turnRunOf(reserve({ org_id })), status: "running", lease_token: "lease" } satisfies TurnRun,
  report,
  result: '{"email":"ada@example.com"}'
})
const walletOf = (changed: Partial<TurnWallet> = {}): TurnWallet =>
  readWallet(walletWith("10.00"), { lane, ...changed })
const theirs = walletOf({ wallet: walletWith("10.00", { org_id: "org_b" }) })

interface Given extends Partial<Pick<TurnRead, "heldKeys" | "liveKeys">> {
  readonly stored?: ReadonlyArray<TurnCommand>
}
const readOf = (
  wallets: ReadonlyArray<TurnWallet>,
  { stored = [], heldKeys = new Set(), liveKeys = new Set() }: Given = {}
): TurnRead => ({
  ...turnView(stored),
  wallets: new Map(wallets.map((one) => [one.wallet.org_id, one])),
  heldKeys,
  liveKeys
})

/** `+` for each command that the turn takes, `-` for each that must be stored. */
const sorted = (
  commands: ReadonlyArray<DirectCommand>,
  wallets: ReadonlyArray<TurnWallet>,
  given: Given = {},
  limit = orgQueue,
  freeLimit = 0n
) => {
  const { taken, rejected } = sortDirect(lane, commands, readOf(wallets, given), limit, freeLimit)
  expect(taken.length + rejected.length).toBe(commands.length)
  return commands.map((command) => (taken.includes(command) ? "+" : "-")).join("")
}

describe("a direct command", () => {
  test("is stored when its wallet has moved to another lane", () => {
    expect(sorted([reserve(), settle()], [walletOf({ lane: 4 })])).toBe("--")
    expect(sorted([reserve(), settle()], [walletOf()])).toBe("++")
    expect(sorted([settle(), settle("org_b")], [walletOf({ lane: 4 }), theirs])).toBe("-+")
  })

  test("that admits a run is stored when its API key is not live in the version it was checked against", () => {
    const keyed = reserve({ key_id: "key_a", key_version: 2n })
    expect(sorted([keyed], [walletOf()], { liveKeys: new Set(["key_a 2"]) })).toBe("+")
    expect(sorted([keyed], [walletOf()], { liveKeys: new Set(["key_a 3"]) })).toBe("-")
    expect(sorted([keyed], [walletOf()], { liveKeys: new Set(["key_b 2"]) })).toBe("-")
    expect(sorted([keyed, reserve()], [walletOf()])).toBe("-+")
  })

  test("that admits a run is stored when the organization has a quarter of the open runs that it may have", () => {
    const two = [reserve(), reserve()]
    expect(sorted(two, [walletOf({ open_runs: 98n })])).toBe("++")
    expect(sorted(two, [walletOf({ open_runs: 99n })])).toBe("+-")
    expect(sorted(two, [walletOf({ open_runs: 100n })])).toBe("--")
    // A stored reservation of the same turn takes a place too, and other commands take none.
    expect(sorted(two, [walletOf({ open_runs: 98n })], { stored: [storedReserve("run_a")] })).toBe("+-")
    expect(sorted(two, [walletOf({ open_runs: 98n })], { stored: [credit("1.00")] })).toBe("++")
    const both = [storedReserve("run_a"), storedReserve("run_b")]
    expect(sorted(two, [walletOf({ open_runs: 97n })], { stored: both })).toBe("+-")
    expect(sorted([...two, settle()], [walletOf({ open_runs: 100n })])).toBe("--+")
  })

  test("that admits a run is stored where the limit of open runs is small, or where it was not read", () => {
    expect(sorted([reserve()], [walletOf()], {}, 199)).toBe("-")
    expect(sorted([reserve()], [walletOf()], {}, 200)).toBe("+")
    expect(sorted([reserve()], [theirs])).toBe("-")
  })

  test("that admits a run is stored when its Idempotency-Key is in use, also by one of the same turn", () => {
    const one = reserve({ idempotency_key: "one" })
    const again = reserve({ idempotency_key: "one" })
    const elsewhere = reserve({ org_id: "org_b", idempotency_key: "one" })
    const both = [walletOf(), theirs]
    expect(sorted([one, again, elsewhere], both)).toBe("+-+")
    expect(sorted([one, elsewhere], both, { heldKeys: new Set(["org_a one"]) })).toBe("-+")
    expect(sorted([one], both, { heldKeys: new Set(["org_a two"]) })).toBe("+")
  })

  test("that admits a run is stored when what is charged nothing has filled its day, and the wallet can't pay it", () => {
    const runs = [reserve({ hold: 0n }), reserve({ hold: 5n }), reserve({ hold: 6n }), settle()]
    const wallet = { ...walletWith("10.00"), balance: micros(7n), reserved: micros(3n), allowances_held: micros(1n) }
    const after = (free_used: bigint, commands: ReadonlyArray<DirectCommand>, limit = 100n) =>
      sorted(commands, [walletOf({ wallet, free_used })], { liveKeys: new Set(["key_a 2"]) }, orgQueue, limit)
    const tries = [0n, 99n, 100n, 299n, 300n].map((used) => after(used, runs))
    expect(tries).toEqual(["++++", "++++", "-+-+", "-+-+", "---+"])
    // Admission knows whether the key is limited.
    const keyed = reserve({ hold: 5n, key_id: "key_a", key_version: 2n })
    expect([199n, 200n].map((used) => after(used, [keyed]))).toEqual(["+", "-"])
    expect(after(1_000n, runs, 0n)).toBe("++++")
  })

  test("keeps its order among those that are taken", () => {
    const commands = [reserve(), settle(), reserve()]
    expect(sortDirect(lane, commands, readOf([walletOf()]), orgQueue)).toEqual({ taken: commands, rejected: [] })
    expect(sortDirect(lane, [], readOf([walletOf()]), orgQueue)).toEqual({ taken: [], rejected: [] })
  })
})

describe("what a turn decides on", () => {
  test("is a command without an id, with the report and the result of a run that ends", () => {
    const [ending, beginning, stored] = [settle(), reserve(), storedReserve("run_a")]
    const { commands, runs } = withDirect(readOf([walletOf()], { stored: [stored] }), [ending, beginning])
    const common = { id: null, command_id: null, org_id: "org_a", payload: null }
    const [result, run_id] = ['{"email":"ada@example.com"}', beginning.run.run_id]
    expect(commands).toEqual([
      stored,
      { ...common, run_id: ending.run.run_id, tag: "Settle", report, result },
      { ...common, run_id, tag: "Reserve", report: null, result: null }
    ])
    expect([...runs.keys()]).toEqual([ending.run.run_id, run_id])
  })

  test("is a run as it was read where a stored command names it too", () => {
    const { run } = settle()
    const read = {
      ...readOf([walletOf()]),
      runs: new Map([[run.run_id, { ...turnRunOf(settle()), status: "queued" as const }]])
    }
    expect(withDirect(read, [settle()]).runs.size).toBe(2)
    const again: DirectCommand = {
      _tag: "Settle",
      run: { ...turnRunOf(settle()), run_id: run.run_id },
      report,
      result: null
    }
    expect(withDirect(read, [again]).runs.get(run.run_id)?.status).toBe("queued")
  })

  test("is a new run in status created, with the cap of its attempts together", () => {
    const plan = { ...planOfOne, total: { amount: "0.05", holds: ["0.02"], excluded: [] } }
    const facts = {
      ...{ hold: 20_000n, budget_id: "bud_a", key_id: "key_a", input_hash: "abc", input: '{"a":1}' },
      ...{ capability: null, endpoint: "/v1/find" }
    }
    const run = turnRunOf(reserve({ ...facts, plan }))
    expect(run).toMatchObject({
      ...facts,
      ...{ org_id: "org_a", status: "created", hold: dollars("0.02"), hold_max: dollars("0.05") },
      ...{ lease_token: null, method: null }
    })
    expect(run.plan()).toBe(plan)
    expect(turnRunOf(reserve())).not.toHaveProperty("hold_max")
  })

  test("has the new runs of the commands that admit one, and of no other", () => {
    const [one, two] = [reserve(), reserve()]
    expect(newRunsOf([one, settle(), two]).map(({ run_id }) => run_id)).toEqual([one.run.run_id, two.run.run_id])
  })
})
