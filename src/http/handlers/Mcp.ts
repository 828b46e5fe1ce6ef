/**
 * `POST /mcp`: the Model Context Protocol over HTTP, with the same tools as `rungate mcp`.
 *
 * It is stateless: every request stands alone, so any process can answer it, and there is no session that another caller could use. The session
 * id that a host gets only names its calls (OpenCalls.ts). Requests from browsers with a foreign `Origin` are refused, which prevents DNS rebinding.
 */
import { Context, Effect, Layer, Option, Schema, type Scope, Stream } from "effect"
import { McpServer } from "effect/ai"
import { HttpEffect, HttpRouter, HttpServer, type HttpServerRequest, HttpServerResponse } from "effect/http"
import { addressOf, Settings } from "../../layers/platform/Settings.ts"
import { Signals } from "../../layers/queues/Signals.ts"
import { type ErrorCode, problem } from "../../schema/Errors.ts"
import { BoundaryLayer } from "../middleware/Boundary.ts"
import { Peers, type PeersShape } from "../middleware/ClientAddress.ts"
import { isRecord } from "../../schema/json/Json.ts"
import { isLoopback } from "../../schema/oauth/Client.ts"
import { Limits } from "../middleware/Limits.ts"
import { checkBodyByAddress, limitByAddress } from "../middleware/RequestChecks.ts"
import { resources, toolsWith } from "../mcp/toolHandlers.ts"
import { statelessRunTool } from "../mcp/statelessRun.ts"
import { callName, CurrentCall, nobodysCall, type OpenCall, openCalls } from "../mcp/OpenCalls.ts"
import { about, protocols } from "../mcp/Protocols.ts"
import { registerResources, registerTools } from "../mcp/Register.ts"
import * as Tools from "../mcp/Tools.ts"
import { mcpPath as path } from "../middleware/Paths.ts"
import { makeChallenged } from "../oauth/Challenge.ts"
import { callerFor, type Handler, Sender } from "./McpCaller.ts"
import { RequestContext } from "../middleware/RequestContext.ts"
import { problemAnswer } from "../standards/ProblemType.ts"

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
      yield* registerTools(toolsWith(Tools.statelessRun.withHandler(statelessRunTool)), here)
      yield* registerResources(resources, here)
    })
  )

const refused = (code: ErrorCode, message: string, headers: Record<string, string> = {}) =>
  problemAnswer(problem(code, message), headers)

const RequestId = Schema.Union([Schema.String, Schema.Number])
const isRequestId = Schema.is(RequestId)
const Cancelled = Schema.fromJsonString(
  Schema.Struct({
    method: Schema.Literal("notifications/cancelled"),
    params: Schema.Struct({ requestId: RequestId })
  })
)
const decodeCancelled = Schema.decodeUnknownOption(Cancelled)
const Message = Schema.Struct({
  id: Schema.optionalKey(Schema.Unknown),
  method: Schema.optionalKey(Schema.String),
  result: Schema.optionalKey(Schema.Unknown),
  error: Schema.optionalKey(Schema.Unknown)
})
const Body = Schema.fromJsonString(Schema.Union([Schema.Array(Schema.Unknown), Message]))
const decodeBody = Schema.decodeUnknownOption(Body)

interface Content {
  readonly kind: "initialize" | "calls" | "notification" | "batch_too_large" | "repeated_id" | "invalid"
  /** Of a single call. */
  readonly id: string | number | null
}
const without = (kind: Content["kind"]): Content => ({ kind, id: null })

/** What a body holds. Only "calls" need a session. The MCP server answers "invalid" bodies with a protocol error. */
const contentOf = (body: string): Content => {
  const message = Option.getOrNull(decodeBody(body))
  if (message === null) return without("invalid")
  if ("length" in message) {
    if (message.length > batchMax) return without("batch_too_large")
    const ids = message.flatMap((one) => (isRecord(one) && isRequestId(one["id"]) ? [one["id"]] : []))
    return without(new Set(ids).size < ids.length ? "repeated_id" : "calls")
  }
  const { id, method, result, error } = message
  if (method === "initialize") return without("initialize")
  if (method !== undefined && id !== undefined) return { kind: "calls", id: isRequestId(id) ? id : null }
  // A notification, or a response that no request asked for.
  return without(method !== undefined || result !== undefined || error !== undefined ? "notification" : "invalid")
}

const noSender: Sender = { authorization: null, address: "" }

const initializeMessage = (protocolVersion: string) =>
  JSON.stringify({
    jsonrpc: "2.0",
    id: 0,
    method: "initialize",
    params: { protocolVersion, capabilities: {}, clientInfo: { name: "rungate", version: about.version } }
  })

const cancelledMessage = (requestId: string | number) =>
  JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } })

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
  const challenged = yield* makeChallenged
  const signals = yield* Signals
  const address = addressOf(settings)
  const ownOrigin = new URL(address).origin
  /**
   * Whether a request comes from no page, or from a page of this service. Without a public address, it has one per name of this machine; a
   * name that somebody else can point here is none of them.
   */
  const isOwn = (origin: string | undefined, host: string | undefined): boolean =>
    origin === undefined ||
    origin === ownOrigin ||
    (settings.publicUrl === null && origin === `http://${host}` && URL.canParse(origin) && isLoopback(origin))
  const server = yield* HttpRouter.toHttpEffect(
    McpServer.layerHttp({
      ...about,
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
  const calls = openCalls()
  const callServer = (
    method: "POST" | "DELETE",
    headers: Record<string, string>,
    body: string | null,
    sender: Sender,
    call: OpenCall = nobodysCall
  ) =>
    Effect.promise((signal) =>
      protocol(
        new Request(`${ownOrigin}${path}`, {
          method,
          signal,
          headers: { ...headers, accept: "application/json, text/event-stream" },
          body
        }),
        Context.make(Sender, sender).pipe(Context.add(CurrentCall, call))
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

  /**
   * Answers `initialize` and closes the session that it opened. A client that disconnects meanwhile leaves no session either. The id that the
   * host gets is another one.
   */
  const initialize = (headers: Record<string, string>, body: string) =>
    Effect.uninterruptible(
      Effect.gen(function* () {
        const response = yield* callServer("POST", headers, body, noSender)
        const session = response.headers.get(sessionHeader)
        const answer = yield* toServerResponse(response)
        if (session === null) return answer
        yield* closeSession(session)
        return HttpServerResponse.setHeader(answer, sessionHeader, crypto.randomUUID())
      })
    )

  /** Ends a call that its host has called off. The MCP server then ends the response without an answer, as the protocol asks. */
  const end = (call: OpenCall) => {
    call.calledOff = true
    const headers = {
      "content-type": "application/json",
      [versionHeader]: call.revision,
      [sessionHeader]: call.session
    }
    return Effect.asVoid(callServer("POST", headers, cancelledMessage(call.id), noSender))
  }
  // A host's notification may reach another process than its call.
  const run = Effect.runForkWith(context)
  yield* Effect.acquireRelease(
    Effect.sync(() =>
      signals.listen((names) => {
        for (const name of names) {
          const call = calls.find(name)
          if (call !== null) run(end(call))
        }
      })
    ),
    (unlisten) => Effect.sync(unlisten)
  )
  const callOff = (body: string, { authorization }: Sender, host: string) =>
    Option.match(decodeCancelled(body), {
      onNone: () => Effect.void,
      onSome: ({ params }) => signals.publish([callName(host, authorization, params.requestId)])
    })

  /** Opens a session for calls and keeps their name until the answer has been sent. */
  const openCall = Effect.fnUntraced(function* (
    revision: string,
    { authorization }: Sender,
    host: string | undefined,
    id: string | number | null
  ) {
    const call: OpenCall = { session: yield* openSession(revision), revision, id: id ?? "", calledOff: false }
    if (id === null || host === undefined) return call
    const name = callName(host, authorization, id)
    return yield* Effect.acquireRelease(
      Effect.sync(() => {
        calls.add(name, call)
        return call
      }),
      () => Effect.sync(() => calls.remove(name, call))
    )
  })

  const answer = Effect.fnUntraced(
    function* (request: HttpServerRequest.HttpServerRequest) {
      const { headers, method } = request
      if (!isOwn(headers["origin"], headers["host"])) {
        return refused("forbidden", "Web pages of other origins can't call this service.")
      }
      if (method !== "POST") {
        return refused("method_not_allowed", `This path does not accept ${method}. It accepts POST.`, { allow: "POST" })
      }
      yield* limitByAddress(limits.mcp)
      const unauthorized = yield* challenged(request)
      if (unauthorized !== null) return unauthorized
      yield* checkBodyByAddress(limits.mcp)
      const body = yield* Effect.orDie(request.text)
      const revision = headers[versionHeader] ?? versionDefault
      const hasSessions = sessionVersions.includes(revision)
      const { kind: content, id } = contentOf(body)
      const forwarded = Object.fromEntries(
        forwardedHeaders.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]] as const]))
      )
      const { address } = yield* RequestContext
      const sender = { authorization: headers["authorization"] ?? null, address }
      const host = headers[sessionHeader]
      if (content === "initialize") return yield* initialize(forwarded, body)
      if (hasSessions && content === "batch_too_large") {
        return refused("invalid_request", `Send at most ${batchMax} messages in one request.`)
      }
      // The MCP server names its calls by their ids, and fails.
      if (hasSessions && content === "repeated_id") {
        return refused("invalid_request", "Give each message of a request an id of its own.")
      }
      if (hasSessions && content === "notification") {
        if (host !== undefined) yield* callOff(body, sender, host)
        return HttpServerResponse.empty({ status: 202 })
      }
      const call = hasSessions && content === "calls" ? yield* openCall(revision, sender, host, id) : nobodysCall
      const session = call.session === "" ? {} : { [sessionHeader]: call.session }
      const response = yield* callServer("POST", { ...forwarded, ...session }, body, sender, call)
      return yield* toServerResponse(response)
    },
    Effect.catch((wrong) => Effect.succeed(problemAnswer(wrong)))
  )

  const handler = yield* HttpRouter.toHttpEffect(
    HttpRouter.add("*", path, answer).pipe(Layer.provide(BoundaryLayer), Layer.provide(HttpServer.layerServices))
  )
  return HttpEffect.toWebHandlerWith<never, Scope.Scope | HttpServerRequest.HttpServerRequest>(context)(handler)
})
