/**
 * Handler of `rungate admin console`: prints a link that signs in to the operator console once. Loaded on demand.
 *
 * The token is in the link's fragment, which browsers send to no server, so no log of a proxy has it. The link goes to stdout, messages to
 * stderr.
 */
import { Console, Effect, Redacted } from "effect"
import { linkMinutes, OperatorSessions } from "../../layers/operator/OperatorSessions.ts"
import { addressOf, Settings } from "../../layers/platform/Settings.ts"
import { asOperator, onDatabase, operator, print } from "./output.ts"

const signInPath = "/operator/sign-in"

export const consoleLink = (json: boolean) =>
  Effect.gen(function* () {
    const settings = yield* Settings
    const sessions = yield* OperatorSessions
    const { name } = yield* operator
    const { token, expires_at } = yield* asOperator(sessions.makeLink(name))
    const link = `${addressOf(settings)}${signInPath}#${Redacted.value(token)}`
    yield* json ? print({ link, operator: name, expires_at: expires_at.toISOString() }) : Console.log(link)
    yield* Console.error(
      `Open this link in a browser within ${linkMinutes} minutes. It works once, and whoever opens it can change every organization.`
    )
    if (settings.publicUrl === null)
      yield* Console.error("RUNGATE_PUBLIC_URL is not set, so the link contains the local address of this machine.")
  }).pipe(onDatabase)
