/**
 * Access tokens of providers whose accounts are a client id and a secret (OAuth 2.0, `client_credentials`).
 *
 * Concurrent calls of an account share one exchange. A token is kept in memory only, until shortly before it expires, or until the
 * provider refuses it with 401. It goes to the address that issued it, and to no other.
 */
import { Cache, Duration, Effect, Equal, Exit, Hash, Redacted } from "effect"
import { type Failure, failure, type Reply } from "../../schema/catalog/Provider.ts"
import { refusal } from "../providers/kit/outcome.ts"
import { number, text } from "../providers/kit/read.ts"
import type { Connection } from "./Connection.ts"
import { type ProviderRequest, requestOf } from "./ProviderRequest.ts"

/** Tokens that are kept. Above it the oldest is asked for again. */
const tokensMax = 2_000
/** A token is used for this share of its lifetime, so that it does not expire on its way. */
const usedShare = 0.9
const lifetimeSecondsMax = 86_400
/** Used if the provider does not say how long a token is valid. */
const lifetimeSecondsDefault = 300

const tokenForm = /^[\x21-\x7e]{1,4096}$/
const [badRequest, unauthorized] = [400, 401]

interface Issued {
  readonly token: Redacted.Redacted
  readonly usedFor: Duration.Duration
}

type Exchange = Effect.Effect<Reply | Failure>

/** Equal if the credentials and the address are. The credentials are kept as a hash. */
class Credentials {
  readonly hash: string
  readonly exchange: Exchange
  constructor(hash: string, exchange: Exchange) {
    this.hash = hash
    this.exchange = exchange
  }
  [Equal.symbol](that: unknown): boolean {
    return that instanceof Credentials && that.hash === this.hash
  }
  [Hash.symbol](): number {
    return Hash.string(this.hash)
  }
}

const secretOf = ({ account }: Connection): string =>
  account?.apiKey === undefined || account.apiKey === null ? "" : Redacted.value(account.apiKey)

const hashOf = (to: Connection, path: string): string => {
  const parts = [to.target.slug, path, to.account?.baseUrl ?? null, to.publicOnly, secretOf(to)]
  return new Bun.CryptoHasher("sha256").update(JSON.stringify(parts)).digest("hex")
}

/** The request for a token. It gets no credentials in its headers. */
const tokenRequest = (to: Connection, path: string): ProviderRequest => {
  const [client_id = "", ...rest] = secretOf(to).split(":")
  const body = { grant_type: "client_credentials", client_id, client_secret: rest.join(":") }
  return requestOf({ method: "POST", path, body, encoding: "form", reads: true })
}

const issued = (reply: Reply): Effect.Effect<Issued, Failure> => {
  if (reply.status === badRequest || reply.status === unauthorized)
    return Effect.fail(refusal(reply, "provider_account"))
  if (reply.status < 200 || reply.status >= 300) return Effect.fail(refusal(reply))
  const token = text(reply.body, "access_token")
  if (token === null || !tokenForm.test(token))
    return Effect.fail(failure("invalid_response", "the provider issued no access token"))
  const seconds = Math.min(lifetimeSecondsMax, number(reply.body, "expires_in") ?? lifetimeSecondsDefault)
  const usedFor = Duration.seconds(Math.max(0, seconds * usedShare))
  return Effect.succeed({ token: Redacted.make(token), usedFor })
}

export const makeAccessTokens = Effect.map(
  Cache.makeWith(
    ({ exchange }: Credentials) =>
      Effect.flatMap(exchange, (reply) => ("_tag" in reply ? Effect.fail(reply) : issued(reply))),
    { capacity: tokensMax, timeToLive: (exit) => (Exit.isSuccess(exit) ? exit.value.usedFor : Duration.zero) }
  ),
  (tokens) =>
    /** Calls `use` with a token of the account, and again with a new one if the provider answers 401. */
    (
      to: Connection,
      path: string,
      exchange: (request: ProviderRequest) => Exchange,
      use: (token: string) => Exchange
    ): Exchange => {
      const key = new Credentials(hashOf(to, path), exchange(tokenRequest(to, path)))
      const once = Effect.flatMap(Cache.get(tokens, key), ({ token }) =>
        Effect.map(use(Redacted.value(token)), (reply) => ({ token, reply }))
      )
      return Effect.flatMap(once, ({ token, reply }) =>
        "_tag" in reply || reply.status !== unauthorized
          ? Effect.succeed(reply)
          : Effect.andThen(
              Cache.invalidateWhen(tokens, key, (kept) => kept.token === token),
              Effect.map(once, (again) => again.reply)
            )
      ).pipe(Effect.catch((failed) => Effect.succeed(failed)))
    }
)
