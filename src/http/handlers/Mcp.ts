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
import { byAddress, strangersBody } from "../middleware/RequestChecks.ts"
import { Limits } from "../middleware/Limits.ts"
import { resourcesFor, toolsFor } from "../mcp/toolHandlers.ts"
import { statelessRunTool } from "../mcp/statelessRun.ts"
import { about, protocols } from "../mcp/Protocols.ts"
import { registerResources, registerTools } from "../mcp/Register.ts"
import * as Tools from "../mcp/Tools.ts"
import { callerFor, type Handler, Sender } from "./McpCaller.ts"
import { RequestContext } from "../middleware/RequestContext.ts"

const path = "/mcp"
/** That of the API, which is what stands behind the tools. */
const version = "1"
const sessionHeader = "mcp-session-id"
const versionHeader = "mcp-protocol-version"
/** What a request says to the protocol; all else is said to this door. */
const passedOn = ["content-type", versionHeader, "mcp-method", "mcp-name"]
/** Who names no version means this one, says the protocol. */
const versionDefault = "2025-03-26"
/** Revisions that have sessions. */
const sessionVersions: ReadonlyArray<string> = protocols
  .filter(({ runtime }) => runtime._tag === "Stateful")
  .map(({ protocolVersion }) => protocolVersion)
/** Messages in one request, where the revision allows several; each may be a call that waits. */
const batchMax = 16

const instructions = `${Tools.instructions}
Give run an idempotency_key of your own: if its answer is lost, the same call with the same key joins the run instead of paying twice.`

/** Looks at no more of the address than it must: every request to the service passes here. */
export const isMcp = ({ url }: Request): boolean => /^[a-z]+:\/\/[^/]*\/mcp(\?|$)/.test(url)

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

/** What a body needs: a session, only to have arrived, or nothing because the protocol says what is wrong with it. */
const needOf = (body: string): "greeting" | "session" | "nothing" | "receipt" | "too much" => {
  const message = Option.getOrNull(decodeBody(body))
  if (message === null) return "nothing"
  if ("length" in message) return message.length > batchMax ? "too much" : "session"
  const { id, method, result, error } = message
  if (method === "initialize") return "greeting"
  if (method !== undefined && id !== undefined) return "session"
  // Notifications, and answers to questions that nobody asked. A wait that is called off ends by itself; the run goes on anyway.
  return method !== undefined || result !== undefined || error !== undefined ? "receipt" : "nothing"
}

const nobody: Sender = { authorization: null, address: "" }

const greeting = (protocolVersion: string) =>
  JSON.stringify({
    jsonrpc: "2.0",
    id: 0,
    method: "initialize",
    params: { protocolVersion, capabilities: {}, clientInfo: { name: "rungate", version } }
  })

/** The answer of the protocol, as a stream where it is one. */
const passed = Effect.fnUntraced(function* (response: Response) {
  const { status, body } = response
  const contentType = response.headers.get("content-type") ?? undefined
  const kept = ["allow", versionHeader].flatMap((name) => {
    const value = response.headers.get(name)
    return value === null ? [] : [[name, value] as const]
  })
  const options = { status, headers: Object.fromEntries(kept), contentType }
  if (body !== null && contentType?.startsWith("text/event-stream") === true) {
    const stream = Stream.fromReadableStream({ evaluate: () => body, onError: (error) => error })
    return HttpServerResponse.stream(stream, options)
  }
  const text = yield* Effect.promise(() => response.text())
  return text === "" ? HttpServerResponse.empty(options) : HttpServerResponse.text(text, options)
})

/** Answers requests to /mcp; `api` answers those that the tools make. */
export const mcpHandler = Effect.fnUntraced(function* (api: Handler, peers: PeersShape) {
  const settings = yield* Settings
  // Loggers and whatever else belongs to the process.
  const context = Context.add(yield* Effect.context<never>(), Peers, peers)
  const limits = yield* Limits
  const address = addressOf(settings)
  const own = new URL(address).origin
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
  const speak = (method: "POST" | "DELETE", headers: Record<string, string>, body: string | null, sender: Sender) =>
    Effect.promise((signal) =>
      protocol(
        new Request(`${own}${path}`, {
          method,
          signal,
          headers: { ...headers, accept: "application/json, text/event-stream" },
          body
        }),
        Context.make(Sender, sender)
      )
    )
  const closed = (session: string) => Effect.asVoid(speak("DELETE", { [sessionHeader]: session }, null, nobody))
  /** A session of this request alone; it ends with it. */
  const opened = (revision: string) =>
    Effect.acquireRelease(
      Effect.map(
        speak("POST", { "content-type": "application/json" }, greeting(revision), nobody),
        (response) => response.headers.get(sessionHeader) ?? ""
      ),
      closed
    )

  /** Whoever hangs up in the middle leaves no session either. */
  const greeted = (headers: Record<string, string>, body: string) =>
    Effect.uninterruptible(
      Effect.tap(speak("POST", headers, body, nobody), (response) => {
        const session = response.headers.get(sessionHeader)
        return session === null ? Effect.void : closed(session)
      })
    )

  const answer = Effect.fnUntraced(
    function* (request: HttpServerRequest.HttpServerRequest) {
      const { headers, method } = request
      if (headers["origin"] !== undefined && headers["origin"] !== own) {
        return refused("forbidden", "Pages of other origins may not ask this service.")
      }
      if (method !== "POST") {
        return refused("method_not_allowed", `This path does not take ${method}; it takes POST.`, { allow: "POST" })
      }
      yield* byAddress(limits.host)
      yield* strangersBody(limits.host)
      const body = yield* Effect.orDie(request.text)
      const revision = headers[versionHeader] ?? versionDefault
      const hasSessions = sessionVersions.includes(revision)
      const need = needOf(body)
      const said = Object.fromEntries(
        passedOn.flatMap((name) => (headers[name] === undefined ? [] : [[name, headers[name]] as const]))
      )
      const { address } = yield* RequestContext
      const sender = { authorization: headers["authorization"] ?? null, address }
      if (need === "greeting") return yield* Effect.flatMap(greeted(said, body), passed)
      if (hasSessions && need === "too much") {
        return refused("invalid_request", `Send at most ${batchMax} messages in one request.`)
      }
      if (hasSessions && need === "receipt") return HttpServerResponse.empty({ status: 202 })
      const session = hasSessions && need === "session" ? { [sessionHeader]: yield* opened(revision) } : {}
      const response = yield* speak("POST", { ...said, ...session }, body, sender)
      return yield* passed(response)
    },
    Effect.catch((wrong) => Effect.succeed(problemAnswer(wrong)))
  )

  const door = yield* HttpRouter.toHttpEffect(
    HttpRouter.add("*", path, answer).pipe(Layer.provide(BoundaryLayer), Layer.provide(HttpServer.layerServices))
  )
  return HttpEffect.toWebHandlerWith<never, Scope.Scope | HttpServerRequest.HttpServerRequest>(context)(door)
})
