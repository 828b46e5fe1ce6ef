/** The repeat guard during a turn: each command sees the tries that the commands before it left. */
import { noRepeatEffects, repeatKey, type RepeatEffects } from "../../layers/guards/RepeatTurn.ts"
import type { TurnRun, TurnView } from "../../layers/ledger/Turn.ts"
import { effectOnTries, repeatRefusal, type Try } from "../../schema/guards/RepeatGuard.ts"
import type { RunStatus } from "../../schema/runs/Run.ts"

export const turnRepeats = ({
  repeats,
  repeat_guard: limit,
  now_micros
}: Pick<TurnView, "repeats" | "repeat_guard" | "now_micros">) => {
  const changed = new Map<string, ReadonlyArray<Try>>()
  const tried = new Map<string, RepeatEffects["tried"][number]>()
  const cleared = new Map<string, RepeatEffects["cleared"][number]>()
  const removed: Array<RepeatEffects["removed"][number]> = []
  const isGuarded = ({ input_hash }: TurnRun) => limit > 0 && input_hash !== null
  const triesOf = (run: TurnRun): ReadonlyArray<Try> => {
    const key = repeatKey(run)
    return changed.get(key) ?? repeats.get(key) ?? []
  }
  const add = (run: TurnRun) => {
    const others = triesOf(run).filter((one) => one.run_id !== run.run_id)
    changed.set(repeatKey(run), [...others, { run_id: run.run_id, at: now_micros }])
    const { org_id, key_id, input_hash, run_id } = run
    tried.set(run_id, { org_id, key_id, input_hash, run_id })
  }
  const clear = (run: TurnRun) => {
    const key = repeatKey(run)
    for (const { run_id } of changed.get(key) ?? []) tried.delete(run_id)
    changed.set(key, [])
    const { org_id, key_id, input_hash } = run
    cleared.set(key, { org_id, key_id, input_hash })
  }

  return {
    refusal: (run: TurnRun) => (isGuarded(run) ? repeatRefusal(triesOf(run), limit) : null),
    /** A run whose input has failed counts as a try until it ends. */
    admitted: (run: TurnRun) => {
      if (isGuarded(run) && triesOf(run).length > 0) add(run)
    },
    ended: (run: TurnRun, status: RunStatus) => {
      if (!isGuarded(run)) return
      const effect = effectOnTries(status)
      if (effect === "adds") add(run)
      else if (effect === "clears") clear(run)
      else {
        const { org_id, key_id, input_hash, run_id } = run
        changed.set(
          repeatKey(run),
          triesOf(run).filter((one) => one.run_id !== run_id)
        )
        if (!tried.delete(run_id)) removed.push({ org_id, key_id, input_hash, run_id })
      }
    },
    effects: (): RepeatEffects =>
      tried.size + cleared.size + removed.length === 0
        ? noRepeatEffects
        : { tried: [...tried.values()], cleared: [...cleared.values()], removed }
  }
}
