/**
 * The documents in which clients describe themselves, at the https URL that is their id.
 *
 * A document is read from public addresses only, without redirects, within limits of time and size. One that could be read is kept for some
 * minutes, and a failure is not. Only a person with a session has a document read, and is limited as for sign-ins (Authorization.ts).
 */
import { Cache, Context, Duration, Effect, Exit, Layer } from "effect"
import { type Client, clientIn, clientOf, documentUrl } from "../../schema/oauth/Client.ts"
import { textUpTo } from "../platform/textUpTo.ts"
import { publicRequest } from "../executor/PublicRequest.ts"
import { HostAddresses, lookupOf } from "../webhooks/Sender.ts"

/** The draft recommends 5 kB. Some clients list many redirect URIs. */
const documentBytesMax = 16_384
const documentMillisMax = 5_000
const keptMax = 500
const keptMinutes = 10

/** Reads a public address. Tests answer in its place. */
export const DocumentFetch = Context.Reference<((url: URL, signal: AbortSignal) => Promise<Response>) | null>(
  "rungate/layers/oauth/DocumentFetch",
  { defaultValue: () => null }
)

/** The text of an answer, if it is JSON and not too long. */
const textOf = async (answer: Response): Promise<string | null> => {
  const isJson = /^application\/([\w.-]+\+)?json\b/i.test(answer.headers.get("content-type") ?? "")
  if (answer.status === 200 && isJson) return await textUpTo(answer.body, documentBytesMax)
  await answer.body?.cancel()
  return null
}

export class ClientDocuments extends Context.Service<
  ClientDocuments,
  {
    /** The client of an id. Null if nothing says what it is. */
    readonly client: (client_id: string) => Effect.Effect<Client | null>
  }
>()("rungate/layers/oauth/ClientDocuments") {
  static readonly layer = Layer.effect(
    ClientDocuments,
    Effect.gen(function* () {
      const open = publicRequest(lookupOf(yield* HostAddresses, false), false)
      const ownFetch = yield* DocumentFetch
      const headers = { accept: "application/json" }
      const fetched =
        ownFetch ?? ((url: URL, signal: AbortSignal) => open({ url, method: "GET", headers, body: undefined, signal }))
      const read = (client_id: string) =>
        Effect.tryPromise(async (signal) => {
          const url = documentUrl(client_id)
          const text = url === null ? null : await textOf(await fetched(url, signal))
          const client = text === null ? null : clientIn(client_id, text)
          if (client === null) throw new Error("no document of this client")
          return client
        }).pipe(Effect.timeout(documentMillisMax))
      const kept = yield* Cache.makeWith(read, {
        capacity: keptMax,
        timeToLive: (exit) => Duration.minutes(Exit.isSuccess(exit) ? keptMinutes : 0)
      })
      return ClientDocuments.of({
        client: (client_id) =>
          documentUrl(client_id) === null
            ? Effect.succeed(clientOf(client_id))
            : Cache.get(kept, client_id).pipe(Effect.catch(() => Effect.succeed(null)))
      })
    })
  )
}
