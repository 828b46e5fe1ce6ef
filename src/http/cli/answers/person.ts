/**
 * Sends a request with the user's key, and again with their session when the service requires a session (HTTP 403).
 *
 * A key from the environment is never replaced, because it may belong to another organization than the session.
 */
import { Effect, type Redacted } from "effect"
import type { Answer, Client } from "./Client.ts"
import type { CommandFailed } from "../terminal/CommandFailed.ts"
import { Credentials } from "../state/Credentials.ts"

export const asPerson = Effect.fnUntraced(function* (
  ask: (as: { readonly token?: Redacted.Redacted }) => Effect.Effect<Answer, CommandFailed, Client>
) {
  const { session, source } = yield* Credentials
  const answer = yield* ask({})
  if (answer.status !== 403 || source !== "profile") return answer
  const token = yield* Effect.option(session)
  return token._tag === "None" ? answer : yield* ask({ token: token.value })
})
