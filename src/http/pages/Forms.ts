/** Shared forms of pages: the form of a link, the answer to an invalid form, and the page of an error. */
import { Effect, Option, Schema, SchemaIssue } from "effect"
import { type HttpServerError, HttpServerRequest, type HttpServerResponse } from "effect/http"
import { type Problem, statusOf } from "../../schema/Errors.ts"
import { LinkToken } from "../api/shapes/AccountFields.ts"
import { escaped, page } from "./Page.ts"

export const form = (fields: string, button: string) =>
  `<form method="post">${fields}<p><button>${button}</button></p></form>`
export const hidden = (token: string) => `<input type="hidden" name="token" value="${escaped(token)}">`

export const badLink = (more: string) =>
  page(400, "This link is not valid", `<p>It was used already, has expired, or is not complete.</p>${more}`)

export const wrong = (message: string) =>
  page(400, "That didn't work", `<p>${escaped(message)}</p><p>Go back, and try again.</p>`)
const refused = ({ error }: Problem) =>
  page(statusOf[error.code], "That didn't work", `<p>${escaped(error.message)}</p>`)

const decodeToken = Schema.decodeUnknownOption(LinkToken)
export const tokenInAddress = Effect.map(HttpServerRequest.HttpServerRequest, ({ url }) =>
  decodeToken(new URLSearchParams(url.split("?")[1] ?? "").get("token"))
)

const format = SchemaIssue.makeFormatterStandardSchemaV1()
const names: Readonly<Record<string, string>> = {
  password: "The password",
  email: "The e-mail address",
  organization: "The name"
}

/** A form that does not fit, as the page that says which field is wrong. */
const misfit = (error: HttpServerError.HttpServerError | Schema.SchemaError) => {
  if (error._tag !== "SchemaError") return wrong("The form could not be read.")
  const [first] = format(error.issue).issues
  const field = String(first?.path?.[0] ?? "")
  if (field === "token") return badLink("")
  return wrong(`${names[field] ?? "A field"}: ${first?.message ?? "is missing"}.`)
}

/** What the handlers of forms fail with is a page too. */
type Page = HttpServerResponse.HttpServerResponse
export const answered = (
  handler: Effect.Effect<
    Page,
    Page | Problem | HttpServerError.HttpServerError | Schema.SchemaError,
    HttpServerRequest.HttpServerRequest
  >
) =>
  handler.pipe(
    Effect.catch((failure) => {
      if ("error" in failure) return Effect.succeed(refused(failure))
      return Effect.succeed("_tag" in failure ? misfit(failure) : failure)
    })
  )

/** The page that a link opens: its form holds the link's token, and nothing happens before it is sent. */
export const opened = (title: string, text: string, fields: string, button: string) =>
  Effect.map(tokenInAddress, (token) =>
    Option.isNone(token)
      ? badLink("")
      : page(200, title, `<p>${text}</p>${form(hidden(token.value) + fields, button)}`, true)
  )
