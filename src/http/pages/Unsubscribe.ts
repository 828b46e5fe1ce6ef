/**
 * The page behind the `List-Unsubscribe` of a message. Opening it changes nothing, because mail scanners open links too. The POST of its
 * button, or of a mail program (RFC 8058), opts the recipient out. It needs neither cookie nor sign-in, and a token adds one row at most.
 */
import { Effect } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { OptOuts } from "../../layers/guards/OptOuts.ts"
import { organizationIn, readUnsubscribe, unsubscribePath } from "../../schema/guards/Unsubscribe.ts"
import { rateLimitedPage } from "../middleware/RequestChecks.ts"
import { form } from "./Forms.ts"
import { escaped, page } from "./Page.ts"

const path = `${unsubscribePath}/:run/:signature`

const unknown = page(
  404,
  "This link is not valid",
  "<p>It is incomplete, or not from this service. Open the link of the message again.</p>"
)

export const UnsubscribePage = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const optOuts = yield* OptOuts

    const answer = rateLimitedPage(
      Effect.gen(function* () {
        const { method } = yield* HttpServerRequest.HttpServerRequest
        const { run, signature } = yield* HttpRouter.params
        const token = `${run}/${signature}`
        const link = readUnsubscribe(yield* optOuts.secret(organizationIn(token)), token)
        if (link === null) return unknown
        const { org_id, run_id, digest } = link
        const hint = yield* optOuts.recipient(link)
        const will = `${hint === null ? "This address" : escaped(hint)} will get no more messages from`
        if (method !== "POST")
          return page(200, "Opt out of messages", `<p>${will} the sender of this one.</p>${form("", "Opt out")}`)
        yield* optOuts.add(org_id, [{ kind: "email", digest, hint, reason: null }], "one_click", run_id)
        return page(200, "You have opted out", `<p>${will} this sender.</p>`)
      })
    )
    yield* router.add("GET", path, answer)
    yield* router.add("POST", path, answer)
  })
)
