/** The handlers of a group of operations of the API. The compiler names an operation without one. */
import type { Layer, Scope } from "effect"
import { type HttpApiGroup, HttpApiBuilder } from "effect/http-api"
import { Api } from "../api/Api.ts"

type Groups = (typeof Api)["groups"]
type Handlers<Name extends keyof Groups> = HttpApiBuilder.Handlers.FromGroup<Groups[Name]>

export const group = <const Name extends keyof Groups & string, Return>(
  name: Name,
  build: (handlers: Handlers<Name>) => HttpApiBuilder.Handlers.ValidateReturn<Return>
): Layer.Layer<
  HttpApiGroup.Service<"rungate", Name>,
  HttpApiBuilder.Handlers.Error<Return>,
  Exclude<HttpApiBuilder.Handlers.Context<Return>, Scope.Scope>
> => HttpApiBuilder.group(Api, name, build)
