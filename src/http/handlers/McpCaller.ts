/**
 * Calls the API's own routes in this process for a tool of `POST /mcp`, with the Authorization header of that request.
 *
 * A tool has no other rights than that header. Only `run` and `run_batch` spend money, and `allowances` holds some.
 * Keys, limits, the spend guard, admission and errors are those of the API. No state is kept between calls.
 */
import { Context, Effect } from "effect"
import { segmentOf } from "../../schema/Ids.ts"
import { waitSecondsMax } from "../api/shapes/Limits.ts"
import { person } from "../mcp/Answers.ts"
import { NoAnswer, Service, type ServiceShape } from "../mcp/Service.ts"

/** Answers a request to the API in this process, on behalf of the client at `address`. */
export type Handler = (request: Request, address: string) => Promise<Response>

/** The sender of the `/mcp` request that is being answered. */
export interface Sender {
  /** The Authorization header; null without one. */
  readonly authorization: string | null
  readonly address: string
}

export const Sender = Context.Reference<Sender>("rungate/http/handlers/Sender", {
  defaultValue: () => ({ authorization: null, address: "" })
})

const guard = `${person} They raise the limits with POST /v1/spend-guard and a session token (or with rungate spend-guard); the same run is refused until one changes.`

const hintsAt = (url: string): Readonly<Record<string, string>> => ({
  unauthorized: `${person} Requests to ${url}/mcp must carry the header "Authorization: Bearer <API key>"; it is set where this server is configured in the host, or by connecting again with OAuth.`,
  insufficient_balance: `${person} They pay in with POST /v1/wallet/topups/checkout or rungate wallet topup 25.00; the tool wallet shows what is left. A lower max_cost holds less.`,
  budget_exceeded: `${guard} If controls names key_budget, they raise it with PATCH /v1/api-keys/{id} and a session token.`,
  cost_limit_exceeded: guard,
  wallet_suspended: `${person} The operator of the service resumes the wallet when its books add up.`,
  connection_lost: "The outcome is unknown. list_runs and get_run show the runs that exist.",
  unexpected_answer: "Report it to the operator of the service."
})

export const callerFor = (api: Handler, url: string) => {
  const hints = hintsAt(url)
  // The routes have no path prefix inside the process, even if a proxy adds one outside.
  const { origin } = new URL(url)
  const as = ({ authorization, address }: Sender): ServiceShape => {
    const send: ServiceShape["send"] = (method, path, { body, text, headers = {} } = {}) => {
      const sent = text ?? (body === undefined ? undefined : JSON.stringify(body))
      return Effect.tryPromise({
        try: async (signal) => {
          const response = await api(
            new Request(`${origin}${path}`, {
              method,
              signal,
              headers: {
                accept: "application/json",
                ...(sent === undefined ? {} : { "content-type": "application/json" }),
                ...(authorization === null ? {} : { authorization }),
                ...headers
              },
              ...(sent === undefined ? {} : { body: sent })
            }),
            address
          )
          return { status: response.status, text: await response.text() }
        },
        catch: () => new NoAnswer({ code: "connection_lost", message: "The service gave no answer." })
      })
    }
    return {
      url,
      send,
      // No proxy is in between, so one request may wait for the maximum time.
      waitFor: (run_id, seconds) =>
        send("GET", `/v1/runs/${segmentOf(run_id)}?wait=${Math.min(seconds, waitSecondsMax)}`),
      onCancelled: () => Effect.void,
      hints,
      // /mcp refuses requests without a key.
      missing: null
    }
  }
  return <A>(effect: Effect.Effect<A, never, Service>): Effect.Effect<A> =>
    Effect.flatMap(Sender, (sender) => Effect.provideService(effect, Service, as(sender)))
}
