/** Shared parts of HTML pages: the form behind a mailed link, the answer to an invalid form, and error pages. */
import { Effect, Layer, Option, Schema } from "effect"
import { HttpRouter, type HttpServerError, HttpServerRequest, type HttpServerResponse } from "effect/http"
import { type Problem, statusOf } from "../../schema/Errors.ts"
import { fieldProblems, fieldSentence } from "../../schema/json/FieldProblems.ts"
import { LinkToken } from "../api/shapes/AccountFields.ts"
import { Limits } from "../middleware/Limits.ts"
import { checkFormByAddress, rateLimitedPage } from "../middleware/RequestChecks.ts"
import { escaped, page } from "./Page.ts"

export const form = (fields: string, button: string) =>
  `<form method="post">${fields}<p><button>${button}</button></p></form>`
export const hidden = (token: string) => `<input type="hidden" name="token" value="${escaped(token)}">`

export const badLink = (more: string) =>
  page(400, "This link is not valid", `<p>The link was used already, has expired, or is incomplete.</p>${more}`)

export const wrong = (message: string) =>
  page(400, "That didn't work", `<p>${escaped(message)}</p><p>Go back, and try again.</p>`)
const refused = ({ error }: Problem) =>
  page(statusOf[error.code], "That didn't work", `<p>${escaped(error.message)}</p>`)

const decodeToken = Schema.decodeUnknownOption(LinkToken)
/** What stands behind the question mark of the page's address. */
export const query = Effect.map(
  HttpServerRequest.HttpServerRequest,
  ({ url }) => new URLSearchParams(url.split("?")[1] ?? "")
)
const tokenInAddress = Effect.map(query, (query) => decodeToken(query.get("token")))

const names: Readonly<Record<string, string>> = {
  password: "The password",
  email: "The e-mail address",
  organization: "The name"
}

/** The error page for an invalid form. It names the field that is wrong. */
const invalidForm = (error: HttpServerError.HttpServerError | Schema.SchemaError) => {
  if (error._tag !== "SchemaError") return wrong("The form could not be read.")
  const [first] = fieldProblems(error.issue)
  const field = first?.path[0] ?? ""
  if (field === "token") return badLink("")
  return wrong(`${fieldSentence(names[field] ?? "A field", first?.message ?? "is missing")}.`)
}

type Page = HttpServerResponse.HttpServerResponse
export type Handler<R> = Effect.Effect<Page, Page | Problem | HttpServerError.HttpServerError | Schema.SchemaError, R>
/** Turns every failure of a form's handler into an error page. */
export const answered = <R>(handler: Handler<R>) =>
  handler.pipe(
    Effect.catch((failure) => {
      if ("error" in failure) return Effect.succeed(refused(failure))
      return Effect.succeed("_tag" in failure ? invalidForm(failure) : failure)
    })
  )

/** The answer to a form. */
const answeredForm = <R>(handler: Handler<R>) =>
  Effect.flatMap(Limits, ({ anonymous }) => answered(Effect.andThen(checkFormByAddress(anonymous), handler)))

/** The page that a mailed link opens. Its form holds the link's token, and nothing happens before the form is sent. */
export const opened = (title: string, text: string, fields: string, button: string) =>
  Effect.map(tokenInAddress, (token) =>
    Option.isNone(token) ? badLink("") : page(200, title, `<p>${text}</p>${form(hidden(token.value) + fields, button)}`)
  )

/** The same for a page that says what the link is about. `shown` gives null for a token that is not valid, or not any more. */
export const openedLink = <R>(ended: Page, shown: (token: string) => Effect.Effect<Page | null, never, R>) =>
  rateLimitedPage(
    Effect.flatMap(tokenInAddress, (token) =>
      Option.isNone(token) ? Effect.succeed(ended) : Effect.map(shown(token.value), (page) => page ?? ended)
    )
  )

/** A page with a form. Opening it changes nothing, because mail scanners open links too. Only the form acts. */
export const formPage = <R, R2>(path: `/${string}`, shown: Effect.Effect<Page, never, R>, sent: Handler<R2>) =>
  Layer.mergeAll(HttpRouter.add("GET", path, shown), HttpRouter.add("POST", path, answeredForm(sent)))
