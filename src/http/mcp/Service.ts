/**
 * The service as the tools ask it: by the routes of the API, whoever calls and however the request gets there.
 *
 * `rungate mcp` has the user's settings and a network between (http/cli/mcp/service.ts), the service itself the header of the request
 * that it answers (http/handlers/McpCaller.ts).
 */
import { Context, type Effect, Schema } from "effect"

/** No answer came, and nobody knows more than `message` says. */
export class NoAnswer extends Schema.TaggedError<NoAnswer>()("NoAnswer", {
  code: Schema.String,
  message: Schema.String
}) {}

export interface Answer {
  readonly status: number
  /** The body exactly as it came. */
  readonly text: string
}

export interface Ask {
  /** A value is sent as JSON; `text` is sent as it is. */
  readonly body?: unknown
  readonly text?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface ServiceShape {
  /** Where it is, for a person. */
  readonly url: string
  readonly send: (method: "GET" | "POST", path: string, ask?: Ask) => Effect.Effect<Answer, NoAnswer>
  /** Reads a run that has a name until it is final, or so many seconds have passed. */
  readonly waitFor: (run_id: string, seconds: number) => Effect.Effect<Answer, NoAnswer>
  /** Told of a run that was cancelled. */
  readonly onCancelled: (run_id: string) => Effect.Effect<void>
  /** What to do about an error, by its code, where that depends on who calls. */
  readonly hints: Readonly<Record<string, string>>
  /** Why the call has no key, as a sentence that says what to do; null where it has one. */
  readonly missing: string | null
}

export class Service extends Context.Service<Service, ServiceShape>()("rungate/http/mcp/Service") {}
