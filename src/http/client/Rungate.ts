/**
 * The typed client of the service, derived from the API contract; the package's `client` export (docs/client.md).
 *
 * `Rungate.make` is for programs written with Effect: every endpoint by group and name, its input checked and its answer decoded by
 * the contract, its errors in the type.
 */
import { Context, Effect, Layer } from "effect"
import { FetchHttpClient, HttpClient } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import { Api } from "../api/Api.ts"
import { type Target, transport } from "./Transport.ts"

export { Manner, type MannerShape, type Target } from "./Transport.ts"

export type RungateClient = HttpApiClient.ForApi<typeof Api>

export class Rungate extends Context.Service<Rungate, RungateClient>()("rungate/http/client/Rungate") {
  static readonly make = (target: Target): Effect.Effect<RungateClient, never, HttpClient.HttpClient> =>
    Effect.flatMap(HttpClient.HttpClient, (http) =>
      HttpApiClient.makeWith(Api, { httpClient: transport(target)(http) })
    )

  static readonly layer = (target: Target) =>
    Layer.effect(Rungate, Rungate.make(target)).pipe(Layer.provide(FetchHttpClient.layer))
}
