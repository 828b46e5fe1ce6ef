/** Handler of `rungate admin reindex-history`. Loaded on demand. */
import { Clock, Console, Effect } from "effect"
import { onDatabase } from "../operator/database.ts"
import { makeReindex } from "../../layers/history/index/Reindex.ts"

const progressMillis = 1_000

/** Continues an interrupted reindex; `restart` starts from the beginning. */
export const reindexHistory = (restart: boolean) =>
  Effect.gen(function* () {
    const reindex = yield* makeReindex
    if (restart) yield* reindex.restart
    const all = yield* reindex.runs
    const sum = { checked: 0, missing: 0, segments: 0 }
    let shownAt = yield* Clock.currentTimeMillis
    for (;;) {
      const step = yield* reindex.step
      if (step === null) break
      if (step._tag === "Renewed") sum.segments += 1
      else if (step._tag === "Repaired") continue
      else {
        sum.checked += step.runs
        sum.missing += step.missing
      }
      const now = yield* Clock.currentTimeMillis
      if (now - shownAt < progressMillis) continue
      shownAt = now
      const done =
        step._tag === "Checked"
          ? `${sum.checked} of about ${Math.max(all, sum.checked)} runs checked`
          : `${sum.segments} segments rebuilt, ${step.left} left`
      yield* Console.error(`${done}. Safe to interrupt: the next call continues here.`)
    }
    yield* Console.log(
      `${sum.checked} runs checked: ${sum.missing} were missing in the index. ${sum.segments} segments rebuilt.`
    )
  }).pipe(onDatabase)
