/** Which commands a turn takes from the memory of its process, and which have to be stored first. */
import { describe, expect, test } from "bun:test"
import {
  type DirectCommand,
  mailOf,
  newRunsOf,
  sortDirect,
  turnRunOf
} from "../../../src/layers/ledger/DirectCommands.ts"
import { emptyRow } from "../../../src/layers/ledger/WalletMemory.ts"
import type { CommandRow, TurnRun } from "../../../src/layers/ledger/TurnView.ts"
import type { NewRun } from "../../../src/layers/runs/RunStore.ts"
import { dollars } from "../../../src/schema/money/Money.ts"
import type { SettleReport } from "../../../src/schema/runs/SettleReport.ts"
import { newRun, planOfOne } from "../../kit/new-runs.ts"

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
const walletOf = (changed: Partial<CommandRow> = {}): CommandRow => ({
  ...emptyRow,
  org_id: "org_a",
  wallet_lane: lane,
  version: 1n,
  open_runs: 0n,
  ...changed
})
const stored = (tag: string): CommandRow => ({ ...emptyRow, id: 1n, org_id: "org_a", tag })

/** `+` for each command that the turn takes, `-` for each that must be stored. */
const sorted = (
  commands: ReadonlyArray<DirectCommand>,
  rows: ReadonlyArray<CommandRow>,
  limit = orgQueue,
  freeLimit = 0n
) => {
  const { taken, rejected } = sortDirect(lane, commands, rows, limit, freeLimit)
  expect(taken.length + rejected.length).toBe(commands.length)
  return commands.map((command) => (taken.includes(command) ? "+" : "-")).join("")
}

describe("a direct command", () => {
  test("is stored when its wallet has moved to another lane", () => {
    expect(sorted([reserve(), settle()], [walletOf({ wallet_lane: 4 })])).toBe("--")
    expect(sorted([reserve(), settle()], [walletOf()])).toBe("++")
    const both = [walletOf({ wallet_lane: 4 }), walletOf({ org_id: "org_b" })]
    expect(sorted([settle(), settle("org_b")], both)).toBe("-+")
    // A stored command's row has no wallet, so it says nothing about lanes.
    expect(sorted([reserve()], [walletOf(), stored("Credit")])).toBe("+")
  })

  test("that admits a run is stored when its API key is not live in the version it was checked against", () => {
    const keyed = reserve({ key_id: "key_a", key_version: 2n })
    expect(sorted([keyed], [walletOf({ live_keys: ["key_a 2"] })])).toBe("+")
    expect(sorted([keyed], [walletOf({ live_keys: ["key_a 3"] })])).toBe("-")
    expect(sorted([keyed], [walletOf({ live_keys: ["key_b 2"] })])).toBe("-")
    expect(sorted([keyed, reserve()], [walletOf()])).toBe("-+")
  })

  test("that admits a run is stored when the organization has a quarter of the open runs that it may have", () => {
    const two = [reserve(), reserve()]
    expect(sorted(two, [walletOf({ open_runs: 98n })])).toBe("++")
    expect(sorted(two, [walletOf({ open_runs: 99n })])).toBe("+-")
    expect(sorted(two, [walletOf({ open_runs: 100n })])).toBe("--")
    // A stored reservation of the same turn takes a place too, and other commands take none.
    expect(sorted(two, [walletOf({ open_runs: 98n }), stored("Reserve")])).toBe("+-")
    expect(sorted(two, [stored("Reserve"), walletOf({ open_runs: 98n })])).toBe("+-")
    expect(sorted(two, [walletOf({ open_runs: 98n }), stored("Credit")])).toBe("++")
    expect(sorted(two, [walletOf({ open_runs: 97n }), stored("Reserve"), stored("Reserve")])).toBe("+-")
    expect(sorted([...two, settle()], [walletOf({ open_runs: 100n })])).toBe("--+")
  })

  test("that admits a run is stored where the limit of open runs is small, or where it was not read", () => {
    expect(sorted([reserve()], [walletOf()], 199)).toBe("-")
    expect(sorted([reserve()], [walletOf()], 200)).toBe("+")
    expect(sorted([reserve()], [walletOf({ open_runs: null })])).toBe("-")
    expect(sorted([reserve()], [walletOf({ org_id: "org_b" })])).toBe("-")
  })

  test("that admits a run is stored when its Idempotency-Key is in use, also by one of the same turn", () => {
    const one = reserve({ idempotency_key: "one" })
    const again = reserve({ idempotency_key: "one" })
    const elsewhere = reserve({ org_id: "org_b", idempotency_key: "one" })
    const rows = [walletOf(), walletOf({ org_id: "org_b" })]
    expect(sorted([one, again, elsewhere], rows)).toBe("+-+")
    expect(sorted([one, elsewhere], [walletOf({ held_keys: ["one"] }), walletOf({ org_id: "org_b" })])).toBe("-+")
    expect(sorted([one], [walletOf({ held_keys: ["two"] })])).toBe("+")
  })

  test("that admits a run is stored when what is charged nothing has filled its day, and the wallet can't pay it", () => {
    const runs = [reserve({ hold: 0n }), reserve({ hold: 5n }), reserve({ hold: 6n }), settle()]
    const holding = (free_used: bigint | null) => [
      walletOf({ balance: 7n, reserved: 3n, allowances_held: 1n, free_used })
    ]
    const tries = [null, 99n, 100n, 299n, 300n].map((used) => sorted(runs, holding(used), orgQueue, 100n))
    expect(tries).toEqual(["++++", "++++", "-+-+", "-+-+", "---+"])
    // Admission knows whether the key is limited.
    const keyed = reserve({ hold: 5n, key_id: "key_a", key_version: 2n })
    const live = (used: bigint) => holding(used).map((row) => ({ ...row, live_keys: ["key_a 2"] }))
    expect([199n, 200n].map((used) => sorted([keyed], live(used), orgQueue, 100n))).toEqual(["+", "-"])
    expect(sorted(runs, holding(1_000n))).toBe("++++")
  })

  test("keeps its order among those that are taken", () => {
    const commands = [reserve(), settle(), reserve()]
    expect(sortDirect(lane, commands, [walletOf()], orgQueue)).toEqual({ taken: commands, rejected: [] })
    expect(sortDirect(lane, [], [walletOf()], orgQueue)).toEqual({ taken: [], rejected: [] })
  })
})

describe("what a turn decides on", () => {
  test("is a command without an id, with the report and the result of a run that ends", () => {
    const ending = settle()
    const common = { id: null, command_id: null, org_id: "org_a", payload: null }
    expect(mailOf(ending)).toEqual({
      ...common,
      run_id: ending.run.run_id,
      tag: "Settle",
      report,
      result: '{"email":"ada@example.com"}'
    })
    const beginning = reserve()
    const { run_id } = beginning.run
    expect(mailOf(beginning)).toEqual({ ...common, run_id, tag: "Reserve", report: null, result: null })
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
