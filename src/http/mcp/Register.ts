/**
 * Registers tools and resources at an MCP server, for any transport.
 *
 * An answer contains the same JSON twice: as structured content, and as text for older hosts. Errors of the service are
 * answers with `isError`, so that the model sees them. Only malformed calls are protocol errors.
 */
import { Clock, Context, Effect, Option, Schema } from "effect"
import { McpSchema, McpServer } from "effect/ai"
import type { Here, Service } from "./Service.ts"
import { type Answered, type Tool, valueOf } from "./Tool.ts"

/** Reports progress to the host, if the call asked for it. */
export const Progress = Context.Reference<(message: string) => Effect.Effect<void>>("rungate/http/mcp/Progress", {
  defaultValue: () => () => Effect.void
})

const CallMeta = Schema.Struct({ progressToken: Schema.Union([Schema.String, Schema.Number]) })
const decodeCallMeta = Schema.decodeUnknownOption(CallMeta)

/** Progress as seconds since the call began, so it always increases. */
const telling = Effect.fnUntraced(function* ({ notifications }: McpServer.McpServer["Service"]) {
  const { requestMetadata } = yield* McpSchema.McpRequestContext
  const meta = Option.getOrNull(decodeCallMeta(requestMetadata))
  const began = yield* Clock.currentTimeMillis
  return (message: string) =>
    meta === null
      ? Effect.void
      : Effect.flatMap(Clock.currentTimeMillis, (now) =>
          notifications["notifications/progress"]({ ...meta, progress: (now - began) / 1000, message })
        )
})

const resultOf = (answered: Answered) =>
  new McpSchema.CallToolResult({
    content: [{ type: "text", text: answered.text }],
    structuredContent: valueOf(answered),
    isError: answered.failed
  })

export const registerTools = Effect.fnUntraced(function* (tools: ReadonlyArray<Tool>, here: Here) {
  const server = yield* McpServer.McpServer
  for (const { name, title, description, annotations, inputSchema, outputSchema, call } of tools) {
    const input = yield* Effect.orDie(Schema.decodeUnknownEffect(McpSchema.ToolJson)(inputSchema))
    yield* server.addTool({
      tool: new McpSchema.Tool({
        name,
        title,
        description,
        inputSchema: input,
        outputSchema,
        annotations
      }),
      annotations: Context.empty(),
      handle: (given: unknown) =>
        Effect.flatMap(telling(server), (tell) =>
          Effect.map(Effect.provideService(here(call(given)), Progress, tell), resultOf)
        )
    })
  }
})

/** A resource template: `prefix` and an id without a slash. */
export interface Readable {
  readonly prefix: string
  readonly parameter: string
  readonly name: string
  readonly title: string
  readonly description: string
  readonly read: (id: string) => Effect.Effect<Answered, never, Service>
  /** Ids with this prefix, for completion. */
  readonly complete: (begun: string) => Effect.Effect<ReadonlyArray<string>, never, Service>
}

/** The limit of the protocol. */
const completionsMax = 100
const mimeType = "application/json"
const decodeRefusal = Schema.decodeUnknownOption(
  Schema.fromJsonString(Schema.Struct({ error: Schema.Struct({ message: Schema.String }) }))
)

export const registerResources = Effect.fnUntraced(function* (readables: ReadonlyArray<Readable>, here: Here) {
  const server = yield* McpServer.McpServer
  for (const { prefix, parameter, name, title, description, read, complete } of readables) {
    yield* server.addResourceTemplate({
      template: new McpSchema.ResourceTemplate({
        uriTemplate: `${prefix}{${parameter}}`,
        name,
        title,
        description,
        mimeType
      }),
      annotations: Context.empty(),
      // In a router path a colon begins a parameter; two colons are a literal one.
      routerPath: `${prefix.replace(":", "::")}:0`,
      completions: {
        [parameter]: (begun) =>
          Effect.map(here(complete(begun)), (names) => ({
            completion: {
              values: names.slice(0, completionsMax),
              total: names.length,
              hasMore: names.length > completionsMax
            }
          }))
      },
      handle: Effect.fnUntraced(function* (uri: string, params: ReadonlyArray<string>) {
        const answered = yield* here(read(params[0] ?? ""))
        if (answered.failed) {
          const refused = Option.getOrNull(decodeRefusal(answered.text))
          return yield* new McpSchema.InvalidParams({ message: refused?.error.message ?? `There is no ${uri}.` })
        }
        return { contents: [{ uri, mimeType, text: answered.text }] }
      })
    })
  }
})
