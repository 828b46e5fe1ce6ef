/**
 * The service behind the tools of `rungate mcp`: HTTP with the user's settings, like every other command.
 *
 * Finished and cancelled runs are removed from the journal. Hints on errors name commands of the CLI.
 */
import { Effect } from "effect"
import { Client } from "../answers/Client.ts"
import { person } from "../../mcp/Answers.ts"
import { NoAnswer, Service } from "../../mcp/Service.ts"
import { Credentials } from "../state/Credentials.ts"
import { waitFor } from "../runs/execution.ts"
import { type CommandFailed, exits } from "../terminal/exits.ts"
import { Journal } from "../state/Journal.ts"
import type { Screen } from "../terminal/Screen.ts"

export type CliLayer = Client | Credentials | Journal | Screen

const guard = `${person} Show or change the limits with rungate spend-guard. Until a limit changes, the same run is refused.`

const hints: Readonly<Record<string, string>> = {
  unauthorized: `${person} Set RUNGATE_API_KEY where this server is configured, or run rungate login, then restart the server. discover and list_providers work without a key.`,
  insufficient_balance: `${person} Add funds with rungate wallet topup 25.00. The tool wallet shows the balance. A lower max_cost holds less.`,
  budget_exceeded: guard,
  cost_limit_exceeded: guard,
  wallet_suspended: `${person} The operator of the service resumes the wallet when its books add up.`,
  unreachable: `${person} Start the service (npm start) and set RUNGATE_URL to its address.`,
  connection_lost: "The outcome is unknown. Call it again: a started run is joined and not paid twice.",
  unexpected_answer: `${person} Check RUNGATE_URL: it may be the address of another service.`,
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
