/**
 * The pages of problem types: `/problems` lists the error codes, and `/problems/{code}` explains one.
 *
 * The `type` of an `application/problem+json` leads here. A program that accepts that type gets the description of the problem in it. The
 * pages are the same for everybody, so they may be cached.
 */
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { errorGuide } from "../../schema/ErrorGuide.ts"
import { type ErrorCode, isErrorCode, problem, statusOf } from "../../schema/Errors.ts"
import { rateLimitedPage } from "../middleware/RequestChecks.ts"
import { problemAnswer, problemTitle, problemType, problemsPath } from "../standards/ProblemType.ts"
import { escaped, page, table } from "./Page.ts"

const cacheSeconds = 3_600
const cached = HttpServerResponse.setHeaders({
  "cache-control": `public, max-age=${cacheSeconds}`,
  vary: "accept, accept-encoding"
})

/** Markdown's backticks as HTML. */
const html = (text: string) => escaped(text).replace(/`([^`]+)`/g, "<code>$1</code>")

const codes = Object.keys(statusOf).filter(isErrorCode)

const described = (code: ErrorCode) => {
  const { meaning, advice } = errorGuide[code]
  return {
    type: problemType(code),
    title: problemTitle(code),
    status: statusOf[code],
    detail: `${meaning}. ${advice}.`,
    code
  }
}

const explained = (code: ErrorCode) =>
  page(
    200,
    problemTitle(code),
    `<p><code>${code}</code>, HTTP status ${statusOf[code]}</p>
<h2>What it means</h2>
<p>${html(errorGuide[code].meaning)}.</p>
<h2>What to do</h2>
<p>${html(errorGuide[code].advice)}.</p>
<p>The error's <code>message</code> and <code>details</code> say more about your request. Quote its <code>request_id</code> when you ask the operator.</p>
<p><a href="${problemsPath}">All error codes</a></p>`
  )

const listed = () =>
  page(
    200,
    "Error codes",
    `<p>Every error of the API has one of these codes. Each has a page that says what to do.</p>
${table(
  "By HTTP status",
  ["Code", "Status", "What it means"],
  codes.map((code) => [
    `<a href="${problemType(code)}"><code>${code}</code></a>`,
    String(statusOf[code]),
    `${html(errorGuide[code].meaning)}.`
  ])
)}`
  )

const asProblem = (body: unknown) =>
  HttpServerResponse.text(JSON.stringify(body), { contentType: "application/problem+json" })

const unknown = problemAnswer(problem("not_found", `There is no such error code. GET ${problemsPath} lists them.`))

const wantsProblem = Effect.map(HttpServerRequest.HttpServerRequest, ({ headers }) =>
  (headers["accept"] ?? "").includes("application/problem+json")
)

const list = Effect.map(wantsProblem, (wanted) =>
  cached(wanted ? asProblem({ items: codes.map(described) }) : listed())
)

const one = Effect.gen(function* () {
  const code = (yield* HttpRouter.params)["code"] ?? ""
  if (!isErrorCode(code)) return unknown
  return cached((yield* wantsProblem) ? asProblem(described(code)) : explained(code))
})

export const ProblemPages = Layer.mergeAll(
  HttpRouter.add("GET", problemsPath, rateLimitedPage(list)),
  HttpRouter.add("GET", `${problemsPath}/:code`, rateLimitedPage(one))
)
