/**
 * Puts tools and resources into an MCP server, whatever its transport.
 *
 * An answer is the same JSON twice: as structured content, and as text for hosts that show only that. What went wrong in the service
 * is an answer with `isError`, so that a model sees it; only a call that is no call is an error of the protocol.
 */
import { Clock, Context, Effect, Option, Schema } from "effect"
import { McpSchema, McpServer } from "effect/ai"
import { type Answered, type Tool, valueOf } from "./Tool.ts"

/** Tells the host how far a call is, if it asked; nobody else listens. */
export const Progress = Context.Reference<(message: string) => Effect.Effect<void>>("rungate/http/mcp/Progress", {
  defaultValue: () => () => Effect.void
})

const Asked = Schema.Struct({ progressToken: Schema.Union([Schema.String, Schema.Number]) })
const decodeAsked = Schema.decodeUnknownOption(Asked)

/** Seconds since the call began, which only ever grow. */
const telling = Effect.fnUntraced(function* ({ notifications }: McpServer.McpServer["Service"]) {
  const { requestMetadata } = yield* McpSchema.McpRequestContext
  const asked = Option.getOrNull(decodeAsked(requestMetadata))
  const began = yield* Clock.currentTimeMillis
  return (message: string) =>
    asked === null
      ? Effect.void
      : Effect.flatMap(Clock.currentTimeMillis, (now) =>
          notifications["notifications/progress"]({ ...asked, progress: (now - began) / 1000, message })
        )
})

const resultOf = (answered: Answered) =>
  new McpSchema.CallToolResult({
    content: [{ type: "text", text: answered.text }],
    structuredContent: valueOf(answered),
    isError: answered.failed
  })

export const registerTools = Effect.fnUntraced(function* (tools: ReadonlyArray<Tool>) {
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
        annotations: { title, ...annotations }
      }),
      annotations: Context.empty(),
      handle: (given: unknown) =>
        Effect.flatMap(telling(server), (tell) =>
          Effect.map(Effect.provideService(call(given), Progress, tell), resultOf)
        )
    })
  }
})

/** Something to read by its address: `prefix` and an id that has no slash. */
export interface Readable {
  readonly prefix: string
  readonly parameter: string
  readonly name: string
  readonly title: string
  readonly description: string
  readonly read: (id: string) => Effect.Effect<Answered>
  /** Ids that begin so, for a person who types one. */
  readonly complete: (begun: string) => Effect.Effect<ReadonlyArray<string>>
}

/** The protocol takes no more at once. */
const completionsMax = 100
const mimeType = "application/json"
const decodeRefusal = Schema.decodeUnknownOption(
  Schema.fromJsonString(Schema.Struct({ error: Schema.Struct({ message: Schema.String }) }))
)

export const registerResources = Effect.fnUntraced(function* (readables: ReadonlyArray<Readable>) {
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
      // A colon begins a parameter there, two are one.
      routerPath: `${prefix.replace(":", "::")}:0`,
      completions: {
        [parameter]: (begun) =>
          Effect.map(complete(begun), (found) => ({
            completion: {
              values: found.slice(0, completionsMax),
              total: found.length,
              hasMore: found.length > completionsMax
            }
          }))
      },
      handle: Effect.fnUntraced(function* (uri: string, params: ReadonlyArray<string>) {
        const answered = yield* read(params[0] ?? "")
        if (answered.failed) {
          const told = Option.getOrNull(decodeRefusal(answered.text))
          return yield* new McpSchema.InvalidParams({ message: told?.error.message ?? `There is no ${uri}.` })
        }
        return { contents: [{ uri, mimeType, text: answered.text }] }
      })
    })
  }
})
