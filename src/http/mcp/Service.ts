/**
 * The API as the tools call it, independent of caller and transport.
 *
 * `rungate mcp` implements it over HTTP with the user's settings (http/cli/mcp/service.ts). The service implements it with the
 * credential of the MCP request (http/handlers/McpCaller.ts).
 */
import { Context, type Effect, Schema } from "effect"

/** There was no response. */
export class NoAnswer extends Schema.TaggedError<NoAnswer>()("NoAnswer", {
  code: Schema.String,
  message: Schema.String
}) {}

export interface Answer {
  readonly status: number
  /** The unchanged body. */
  readonly text: string
}

export interface Ask {
  /** Sent as JSON; `text` is sent unchanged. */
  readonly body?: unknown
  readonly text?: string
  readonly headers?: Readonly<Record<string, string>>
}

export interface ServiceShape {
  /** The address, for display. */
  readonly url: string
  readonly send: (method: "GET" | "POST" | "DELETE", path: string, ask?: Ask) => Effect.Effect<Answer, NoAnswer>
  /** Reads a run until it is final or `seconds` have passed. */
  readonly waitFor: (run_id: string, seconds: number) => Effect.Effect<Answer, NoAnswer>
  /** Called after a run was cancelled. */
  readonly onCancelled: (run_id: string) => Effect.Effect<void>
  /** Hints by error code that depend on the caller. */
  readonly hints: Readonly<Record<string, string>>
  /** Why there is no key, and what to do; null when there is one. */
  readonly missing: string | null
}

export class Service extends Context.Service<Service, ServiceShape>()("rungate/http/mcp/Service") {}

export const send = (...request: Parameters<ServiceShape["send"]>) => Service.use((service) => service.send(...request))

/** Provides the caller's Service to the handler of a call. */
export type Here = <A>(effect: Effect.Effect<A, never, Service>) => Effect.Effect<A>
