/**
 * Who calls the tools of `rungate mcp`: the user, over HTTP by their own settings, like every other command.
 *
 * A run that is read to its end, or cancelled, leaves the journal. What to do about an error is said in the words of the command.
 */
import { Effect } from "effect"
import { Client } from "../answers/Client.ts"
import type { CommandFailed } from "../terminal/CommandFailed.ts"
import { person } from "../../mcp/Answers.ts"
import { NoAnswer, Service } from "../../mcp/Service.ts"
import { Credentials } from "../state/Credentials.ts"
import { waitFor } from "../runs/execution.ts"
import { exits } from "../terminal/exits.ts"
import { Journal } from "../state/Journal.ts"
import type { Screen } from "../terminal/Screen.ts"

export type CliLayer = Client | Credentials | Journal | Screen

const guard = `${person} rungate spend-guard shows the limits and sets them; the same run is refused until one changes.`

const hints: Readonly<Record<string, string>> = {
  unauthorized: `${person} They set RUNGATE_API_KEY where this server is configured, or run rungate login, and restart the server. discover and list_providers work without a key.`,
  insufficient_balance: `${person} rungate wallet topup 25.00 pays in; the tool wallet shows what is left. A lower max_cost holds less.`,
  budget_exceeded: guard,
  cost_limit_exceeded: guard,
  unreachable: `${person} The service must run (npm start) and RUNGATE_URL must be its address.`,
  connection_lost: "Nobody knows how it ended. Call it again: what was done is not done twice.",
  unexpected_answer: `${person} RUNGATE_URL may be the address of something else.`,
  journal_unwritable: person
}

export const noAnswer = ({ message, exit_code }: CommandFailed): NoAnswer =>
  new NoAnswer({ code: exit_code === exits.pending ? "connection_lost" : "unreachable", message })

export const serviceHere = Effect.gen(function* () {
  const surroundings = yield* Effect.context<CliLayer>()
  const { send } = yield* Client
  const journal = yield* Journal
  const { url, key, missing } = yield* Credentials
  return Service.of({
    url,
    send: (method, path, ask) => Effect.mapError(send(method, path, ask), noAnswer),
    waitFor: (run_id, seconds) =>
      waitFor(run_id, seconds).pipe(Effect.mapError(noAnswer), Effect.provideContext(surroundings)),
    onCancelled: journal.closeRun,
    hints,
    missing: key === null ? missing : null
  })
})
