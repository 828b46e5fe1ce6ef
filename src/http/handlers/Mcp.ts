/**
 * `POST /mcp`: the Model Context Protocol over HTTP, with the same tools as `rungate mcp`.
 *
 * It is stateless: every request stands alone, so any process can answer it, and there is no session that another caller could use. Requests
 * from browsers with a foreign `Origin` are refused, which prevents DNS rebinding.
 */
import { Context, Effect, Layer, Option, Schema, type Scope, Stream } from "effect"
import { McpServer } from "effect/ai"
import { HttpEffect, HttpRouter, HttpServer, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { addressOf, Settings } from "../../layers/platform/Settings.ts"
import { type ErrorCode, problem, type Problem, statusOf } from "../../schema/Errors.ts"
import { BoundaryLayer } from "../middleware/Boundary.ts"
import { Peers, type PeersShape } from "../middleware/ClientAddress.ts"
import { Limits } from "../middleware/Limits.ts"
import { checkBodyByAddress, limitByAddress } from "../middleware/RequestChecks.ts"
import { resourcesFor, toolsFor } from "../mcp/toolHandlers.ts"
import { statelessRunTool } from "../mcp/statelessRun.ts"
import { about, protocols } from "../mcp/Protocols.ts"
import { registerResources, registerTools } from "../mcp/Register.ts"
import * as Tools from "../mcp/Tools.ts"
import { mcpPath as path } from "./LazyMcp.ts"
import { callerFor, type Handler, Sender } from "./McpCaller.ts"
import { RequestContext } from "../middleware/RequestContext.ts"

/** The version of the API that the tools call. */
const version = "1"
const sessionHeader = "mcp-session-id"
const versionHeader = "mcp-protocol-version"
/** Request headers that the MCP server gets. This handler reads the others. */
const forwardedHeaders = ["content-type", versionHeader, "mcp-method", "mcp-name"]
/** The protocol's default for requests without the version header. */
const versionDefault = "2025-03-26"
/** Revisions that have sessions. */
const sessionVersions: ReadonlyArray<string> = protocols
  .filter(({ runtime }) => runtime._tag === "Stateful")
  .map(({ protocolVersion }) => protocolVersion)
/** Messages per request, in revisions that allow several. Each may be a call that waits. */
const batchMax = 16

const instructions = `${Tools.instructions}
Give run an idempotency_key of your own: if its answer is lost, the same call with the same key joins the run instead of paying twice.`

const registrations = (api: Handler, url: string) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const here = callerFor(api, url)
      const run = Tools.forgetfulRun.carriedOut((given) => here(statelessRunTool(given)))
      yield* registerTools(toolsFor(here, run))
      yield* registerResources(resourcesFor(here))
    })
  )

const refused = (code: ErrorCode, message: string, headers: Record<string, string> = {}) =>
  problemAnswer(problem(code, message), headers)

const problemAnswer = (body: Problem, headers: Record<string, string> = {}) =>
  HttpServerResponse.jsonUnsafe(body, { status: statusOf[body.error.code], headers })

const Message = Schema.Struct({
  id: Schema.optionalKey(Schema.Unknown),
  method: Schema.optionalKey(Schema.String),
  result: Schema.optionalKey(Schema.Unknown),
  error: Schema.optionalKey(Schema.Unknown)
})
const Body = Schema.fromJsonString(Schema.Union([Schema.Array(Schema.Unknown), Message]))
const decodeBody = Schema.decodeUnknownOption(Body)

/** What a body holds. Only "calls" need a session. The MCP server answers "invalid" bodies with a protocol error. */
const contentOf = (body: string): "initialize" | "calls" | "notification" | "batch_too_large" | "invalid" => {
  const message = Option.getOrNull(decodeBody(body))
  if (message === null) return "invalid"
  if ("length" in message) return message.length > batchMax ? "batch_too_large" : "calls"
  const { id, method, result, error } = message
  if (method === "initialize") return "initialize"
  if (method !== undefined && id !== undefined) return "calls"
  // A notification, or a response that no request asked for. A cancellation is one too: it has no effect, and the run continues.
  return method !== undefined || result !== undefined || error !== undefined ? "notification" : "invalid"
}

const noSender: Sender = { authorization: null, address: "" }

const initializeMessage = (protocolVersion: string) =>
  JSON.stringify({
    jsonrpc: "2.0",
    id: 0,
    method: "initialize",
    params: { protocolVersion, capabilities: {}, clientInfo: { name: "rungate", version } }
  })

/** Converts an answer of the MCP server. An event stream stays a stream. */
const toServerResponse = Effect.fnUntraced(function* (response: Response) {
  const { status, body } = response
  const contentType = response.headers.get("content-type") ?? undefined
  const headers = ["allow", versionHeader].flatMap((name) => {
    const value = response.headers.get(name)
    return value === null ? [] : [[name, value] as const]
  })
  const options = { status, headers: Object.fromEntries(headers), contentType }
  if (body !== null && contentType?.startsWith("text/event-stream") === true) {
    const stream = Stream.fromReadableStream({ evaluate: () => body, onError: (error) => error })
    return HttpServerResponse.stream(stream, options)
  }
  const text = yield* Effect.promise(() => response.text())
  return text === "" ? HttpServerResponse.empty(options) : HttpServerResponse.text(text, options)
})

/** Answers requests to /mcp. `api` answers the requests that the tools make. */
export const mcpHandler = Effect.fnUntraced(function* (api: Handler, peers: PeersShape) {
  const settings = yield* Settings
  // Loggers and other services of the process.
  const context = Context.add(yield* Effect.context<never>(), Peers, peers)
  const limits = yield* Limits
  const address = addressOf(settings)
  const ownOrigin = new URL(address).origin
  const server = yield* HttpRouter.toHttpEffect(
    McpServer.layerHttp({
      ...about,
      version,
      instructions,
      path,
      allowSessionTermination: true,
      allowSubscriptions: false,
      registrations: registrations(api, address)
    })
  )
  const protocol = HttpEffect.toWebHandlerWith<never, Scope.Scope | HttpServerRequest.HttpServerRequest>(context)(
    server
  )
  const callServer = (
    method: "POST" | "DELETE",
    headers: Record<string, string>,
    body: string | null,
    sender: Sender
  ) =>
    Effect.promise((signal) =>
      protocol(
        new Request(`${ownOrigin}${path}`, {
          method,
          signal,
          headers: { ...headers, accept: "application/json, text/event-stream" },
          body
        }),
        Context.make(Sender, sender)
      )
    )
  const closeSession = (session: string) =>
    Effect.asVoid(callServer("DELETE", { [sessionHeader]: session }, null, noSender))
  /** Opens a session for one request and closes it after the request. */
  const openSession = (revision: string) =>
    Effect.acquireRelease(
      Effect.map(
        callServer("POST", { "content-type": "application/json" }, initializeMessage(revision), noSender),
        (response) => response.headers.get(sessionHeader) ?? ""
      ),
      closeSession
    )

  /** Answers `initialize` and closes the session that it opened. A client that disconnects meanwhile leaves no session either. */
  const initialize = (headers: Record<string, string>, body: string) =>
    Effect.uninterruptible(
      Effect.tap(callServer("POST", headers, body, noSender), (response) => {
        const session = response.headers.get(sessionHeader)
        return session === null ? Effect.void : closeSession(session)
      })
    )

  const answer = Effect.fnUntraced(
    function* (request: HttpServerRequest.HttpServerRequest) {
      const { headers, method } = request
      if (headers["origin"] !== undefined && headers["origin"] !== ownOrigin) {
        return refused("forbidden", "Web pages of other origins can't call this service.")
      }
      if (method !== "POST") {
        return refused("method_not_allowed", `This path does not accept ${method}. It accepts POST.`, { allow: "POST" })
      }
      yield* limitByAddress(limits.mcp)
      yield* checkBodyByAddress(limits.mcp)
      const body = yield* Effect.orDie(request.text)
      const revision = headers[versionHeader] ?? versionDefault
      const hasSessions = sessionVersions.includes(revision)
      const content = contentOf(body)
      const forwarded = Object.fromEntries(
        forwardedHeaders.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]] as const]))
      )
      const { address } = yield* RequestContext
      const sender = { authorization: headers["authorization"] ?? null, address }
      if (content === "initialize") return yield* Effect.flatMap(initialize(forwarded, body), toServerResponse)
      if (hasSessions && content === "batch_too_large") {
        return refused("invalid_request", `Send at most ${batchMax} messages in one request.`)
      }
      if (hasSessions && content === "notification") return HttpServerResponse.empty({ status: 202 })
      const session = hasSessions && content === "calls" ? { [sessionHeader]: yield* openSession(revision) } : {}
      const response = yield* callServer("POST", { ...forwarded, ...session }, body, sender)
      return yield* toServerResponse(response)
    },
    Effect.catch((wrong) => Effect.succeed(problemAnswer(wrong)))
  )

  const handler = yield* HttpRouter.toHttpEffect(
    HttpRouter.add("*", path, answer).pipe(Layer.provide(BoundaryLayer), Layer.provide(HttpServer.layerServices))
  )
  return HttpEffect.toWebHandlerWith<never, Scope.Scope | HttpServerRequest.HttpServerRequest>(context)(handler)
})
