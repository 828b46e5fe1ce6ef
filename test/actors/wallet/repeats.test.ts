/** The repeat guard during a turn: which runs count as tries of their input, and which are refused after them. */
import { describe, expect, test } from "bun:test"
import { repeatKey } from "../../../src/layers/guards/RepeatTurn.ts"
import { dollars } from "../../../src/schema/money/Money.ts"
import {
  cancel,
  newRun,
  now_micros,
  org_id,
  queuedRun,
  reserve,
  runningRun,
  settle,
  turnOf
} from "../../kit/turn-view.ts"

const input_hash = "hash_a"
const input = { org_id, key_id: "key_a", input_hash }
const same = { key_id: "key_a", input_hash }
const minuteMicros = 60_000_000n

/** Tries of the input, a minute apart, the last one a minute ago. */
const tries = (...run_ids: ReadonlyArray<string>) =>
  new Map([
    [
      repeatKey(input),
      run_ids.map((run_id, at) => ({ run_id, at: now_micros - minuteMicros * BigInt(run_ids.length - at) }))
    ]
  ])
const failure = { status: "failed", error: { code: "provider_error", message: "no" } } as const
const none = { tried: [], cleared: [], removed: [] }
const refused = ({ effects }: ReturnType<typeof turnOf>) =>
  effects.ended.filter(({ error_code }) => error_code === "repeat_guard").map(({ run_id }) => run_id)

describe("a run with the input of runs that failed", () => {
  test("is refused after as many tries as the guard allows", () => {
    const turn = turnOf([reserve("run_a")], {
      runs: [newRun("run_a", same)],
      repeats: tries("run_1", "run_2", "run_3")
    })
    expect(turn.effects.ended).toMatchObject([{ run_id: "run_a", status: "blocked", error_code: "repeat_guard" }])
    expect(turn.effects.ended[0]?.error_message).toContain("(run_1, run_2, run_3)")
    expect(turn.effects.repeats).toEqual(none)
    expect(turn.claimants).toEqual([])
  })

  test("counts as a try from its admission, also for the next one of the turn", () => {
    const runs = [newRun("run_a", same), newRun("run_b", same)]
    const turn = turnOf([reserve("run_a"), reserve("run_b")], { runs, repeats: tries("run_1", "run_2") })
    expect(refused(turn)).toEqual(["run_b"])
    expect(turn.effects.repeats).toEqual({ ...none, tried: [{ ...input, run_id: "run_a" }] })
  })

  test("counts as a try after a single one that failed", () => {
    const turn = turnOf([reserve("run_a")], { runs: [newRun("run_a", same)], repeats: tries("run_1") })
    expect(turn.effects.repeats.tried).toEqual([{ ...input, run_id: "run_a" }])
  })

  test("counts once: its failure takes the place of its admission", () => {
    const mail = [settle("run_2", failure), reserve("run_a"), reserve("run_b")]
    const runs = [runningRun("run_2", same), newRun("run_a", same), newRun("run_b", same)]
    const turn = turnOf(mail, { runs, repeats: tries("run_1", "run_2") })
    expect(refused(turn)).toEqual(["run_b"])
    expect(turn.effects.repeats.tried.map(({ run_id }) => run_id)).toEqual(["run_2", "run_a"])
  })

  test("of another API key or another organization runs", () => {
    const runs = [newRun("run_a", { input_hash, key_id: "key_b" }), newRun("run_b", { input_hash, key_id: null })]
    const turn = turnOf([reserve("run_a"), reserve("run_b")], { runs, repeats: tries("run_1", "run_2", "run_3") })
    expect([refused(turn), turn.effects.repeats]).toEqual([[], none])
  })
})

describe("a run that ends", () => {
  const ends = [
    ["failed", failure],
    ["timed_out", { status: "timed_out" }],
    ["no_match", { status: "no_match" }]
  ] as const
  test.each(ends)("as %s is a try of its input", (_, report) => {
    const mail = [settle("run_1", report), settle("run_2", report), settle("run_3", report), reserve("run_a")]
    const runs = [...["run_1", "run_2", "run_3"].map((run_id) => runningRun(run_id, same)), newRun("run_a", same)]
    const turn = turnOf(mail, { runs })
    expect(turn.effects.repeats).toEqual({
      ...none,
      tried: ["run_1", "run_2", "run_3"].map((run_id) => ({ ...input, run_id }))
    })
    expect(refused(turn)).toEqual(["run_a"])
  })

  test("with success clears the tries of its input, and the same input runs again", () => {
    const runs = [runningRun("run_4", same), newRun("run_a", same)]
    const turn = turnOf([settle("run_4"), reserve("run_a")], { runs, repeats: tries("run_1", "run_2", "run_3") })
    expect(refused(turn)).toEqual([])
    expect(turn.effects.repeats).toEqual({ ...none, cleared: [input] })
  })

  test("with success clears those of its turn too", () => {
    const runs = [runningRun("run_1", same), runningRun("run_2", same)]
    const turn = turnOf([settle("run_1", failure), settle("run_2")], { runs })
    expect(turn.effects.repeats).toEqual({ ...none, cleared: [input] })
  })

  test("with success clears its own input only", () => {
    const other = { key_id: "key_a", input_hash: "hash_b" }
    const runs = [runningRun("run_1", same), runningRun("run_2", other)]
    const turn = turnOf([settle("run_1", failure), settle("run_2")], { runs })
    expect(turn.effects.repeats).toEqual({
      ...{ tried: [{ ...input, run_id: "run_1" }], cleared: [{ ...input, input_hash: "hash_b" }], removed: [] }
    })
  })

  test("as cancelled was no try", () => {
    const runs = [queuedRun("run_3", same), newRun("run_a", same), newRun("run_b", same)]
    const turn = turnOf([cancel("run_3"), reserve("run_a"), reserve("run_b")], {
      ...{ runs, repeats: tries("run_1", "run_2", "run_3") }
    })
    expect(refused(turn)).toEqual(["run_b"])
    expect(turn.effects.repeats).toEqual({
      ...{ tried: [{ ...input, run_id: "run_a" }], cleared: [], removed: [{ ...input, run_id: "run_3" }] }
    })
  })

  test("as cancelled in the turn that admitted it leaves nothing", () => {
    const turn = turnOf([reserve("run_a"), cancel("run_a")], {
      ...{ runs: [newRun("run_a", same)], slots: 0, repeats: tries("run_1") }
    })
    expect(turn.effects.repeats).toEqual(none)
  })

  test("before it was admitted was no try, whoever ended it", () => {
    const turn = turnOf([cancel("run_a"), reserve("run_b")], {
      ...{
        runs: [newRun("run_a", same), newRun("run_b", { ...same, hold_max: dollars("0.10") })],
        repeats: tries("run_1")
      }
    })
    expect(turn.effects.ended.map(({ status }) => status)).toEqual(["cancelled", "blocked"])
    expect(turn.effects.repeats).toEqual(none)
  })
})

describe("nothing counts as a try", () => {
  test("without a guard", () => {
    const mail = [settle("run_1", failure), settle("run_2"), reserve("run_a")]
    const runs = [runningRun("run_1", same), runningRun("run_2", same), newRun("run_a", same)]
    const turn = turnOf(mail, { runs, repeat_guard: 0, repeats: tries("run_8", "run_9") })
    expect([refused(turn), turn.effects.repeats]).toEqual([[], none])
  })

  test("of a run whose input is not known", () => {
    const unknown = { key_id: "key_a", input_hash: null }
    const runs = ["run_1", "run_2", "run_3"].map((run_id) => runningRun(run_id, unknown))
    const mail = [...runs.map(({ run_id }) => settle(run_id, failure)), reserve("run_a")]
    const turn = turnOf(mail, { runs: [...runs, newRun("run_a", unknown)] })
    expect([refused(turn), turn.effects.repeats]).toEqual([[], none])
  })

  test("of a run without a failure before it", () => {
    expect(turnOf([reserve("run_a")], { runs: [newRun("run_a", same)] }).effects.repeats).toEqual(none)
  })
})

test("a guard of one try refuses the second run", () => {
  const runs = [runningRun("run_1", same), newRun("run_a", same)]
  const turn = turnOf([settle("run_1", failure), reserve("run_a")], { runs, repeat_guard: 1 })
  expect(refused(turn)).toEqual(["run_a"])
})
