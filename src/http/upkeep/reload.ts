/** Handler of `rungate admin reload`: every process of the service reads its settings again. Loaded on demand. */
import { Console, Effect, Layer } from "effect"
import { failedWith } from "../cli/terminal/exits.ts"
import { harmless } from "../cli/terminal/text.ts"
import { print } from "../operator/output.ts"
import { type Answer, askReload } from "../../layers/operator/Reloads.ts"
import { Redis } from "../../layers/queues/Redis.ts"
import { Signals } from "../../layers/queues/Signals.ts"
import { onDatabase } from "../operator/database.ts"

const lineOf = ({ host, pid, role, changed, restart, problem }: Answer): string => {
  const name = `${host} ${pid} (${role})`
  if (problem !== null) return `${name}: kept its settings. ${problem}`
  const took = changed.length === 0 ? "nothing changed" : `took over ${changed.join(", ")}`
  return restart.length === 0 ? `${name}: ${took}` : `${name}: ${took}; needs a restart for ${restart.join(", ")}`
}

const SignalsLayer = Signals.layer.pipe(Layer.provide(Redis.layer))

export const reload = (json: boolean) =>
  Effect.gen(function* () {
    const answers = yield* askReload
    if (json) yield* print({ processes: answers })
    else for (const answer of answers) yield* Console.log(harmless(lineOf(answer)))
    if (answers.length === 0)
      return yield* failedWith(
        "No process of the service answered. Is it running on this database? A process that starts reads its settings anyway."
      )
    const refused = answers.filter(({ problem }) => problem !== null).length
    if (refused > 0)
      return yield* failedWith(
        `${refused} of ${answers.length} processes kept their settings. Correct them where these processes run (rungate config check), then reload again.`
      )
  }).pipe(Effect.provide(SignalsLayer), onDatabase)
