/**
 * The page behind the `List-Unsubscribe` of a message. Opening it changes nothing, because mail scanners open links too. The POST of its
 * button, or of a mail program (RFC 8058), opts the recipient out. It needs neither cookie nor sign-in, and a token adds one row at most.
 */
import { Effect } from "effect"
import { HttpRouter, type HttpServerResponse } from "effect/http"
import { OptOuts } from "../../layers/guards/OptOuts.ts"
import { organizationIn, readUnsubscribe, type Unsubscribe, unsubscribePath } from "../../schema/guards/Unsubscribe.ts"
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

    const answer = (
      method: "GET" | "POST",
      of: (link: Unsubscribe, who: string, hint: string | null) => Effect.Effect<HttpServerResponse.HttpServerResponse>
    ) =>
      router.add(
        method,
        path,
        rateLimitedPage(
          Effect.gen(function* () {
            const { run, signature } = yield* HttpRouter.params
            const token = `${run}/${signature}`
            const link = readUnsubscribe(yield* optOuts.secret(organizationIn(token)), token)
            if (link === null) return unknown
            const hint = yield* optOuts.recipient(link, link.digest)
            return yield* of(link, hint === null ? "This address" : escaped(hint), hint)
          })
        )
      )

    yield* answer("GET", (_, who) => {
      const text = `<p>${who} will get no more messages from the sender of this one.</p>`
      return Effect.succeed(page(200, "Opt out of messages", `${text}${form("", "Opt out")}`))
    })
    yield* answer("POST", ({ org_id, run_id, digest }, who, hint) =>
      Effect.as(
        optOuts.add(org_id, [{ kind: "email", digest, hint, reason: null }], { source: "one_click", run_id }),
        page(200, "You have opted out", `<p>${who} will get no more messages from this sender.</p>`)
      )
    )
  })
)
