/**
 * Makes the endpoints of the contract, so that an operation states no more than it must: its path names its parameters, which are texts, and
 * its answer is a noun, in the form that JSON carries. Handlers answer that form, and clients read it.
 */
import { type Context, Schema } from "effect"
import type { HttpRouter } from "effect/http"
import { HttpApiEndpoint, type HttpApiMiddleware, type HttpApiSchema } from "effect/http-api"

type NamesIn<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | NamesIn<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never
type ParamsIn<Path extends string> = [NamesIn<Path>] extends [never]
  ? never
  : { readonly [name in NamesIn<Path>]: Schema.String }

type Part = Schema.Top | Schema.Struct.Fields
type Body = Schema.Top | ReadonlyArray<Schema.Top>
type InText<S> = [S] extends [never]
  ? never
  : S extends Schema.Top
    ? Schema.toCodecStringTree<S>
    : S extends Schema.Struct.Fields
      ? Schema.toCodecStringTree<Schema.Struct<S>>
      : never
type OneOf<S> = S extends ReadonlyArray<infer One> ? One : S
type InJson<S> = [S] extends [never] ? never : S extends Schema.Top ? Schema.toCodecJson<S> : never
type Answer<S> = S extends HttpApiSchema.StreamSchema
  ? S
  : S extends Schema.Top
    ? Schema.toCodecJson<Schema.toEncoded<S>>
    : never

type Verb = "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
type Make<Method extends Verb, Door extends HttpApiMiddleware.AnyId> = <
  const Name extends string,
  const Path extends HttpRouter.PathInput,
  const Success extends Body,
  Params extends Schema.Struct.Fields = ParamsIn<Path>,
  Query extends Part = never,
  Payload extends Body = never,
  Headers extends Schema.Struct.Fields = never,
  const Error extends ReadonlyArray<Schema.Top> = never
>(
  name: Name,
  path: Path,
  options: {
    /** Left out, each name in the path is a text. */
    readonly params?: Params
    readonly query?: Query
    readonly headers?: Headers
    readonly payload?: Payload
    readonly success: Success
    readonly error?: Error
  }
) => HttpApiEndpoint.HttpApiEndpoint<
  Name,
  Method,
  Path,
  InText<Params>,
  InText<Query>,
  InJson<OneOf<Payload>>,
  InText<Headers>,
  Answer<OneOf<Success>>,
  InJson<OneOf<Error>>,
  Door,
  HttpApiMiddleware.ApplyServices<Door, never>
>
/** What makes an endpoint of an operation, by the method of its request. */
export interface Verbs<Door extends HttpApiMiddleware.AnyId> {
  readonly get: Make<"GET", Door>
  readonly post: Make<"POST", Door>
  readonly put: Make<"PUT", Door>
  readonly patch: Make<"PATCH", Door>
  readonly delete: Make<"DELETE", Door>
}

const paramsIn = (path: string) => {
  const names = Array.from(path.matchAll(/:(\w+)/g), ([, name = ""]) => name)
  return names.length === 0 ? {} : { params: Object.fromEntries(names.map((name) => [name, Schema.String])) }
}

const encoded = (schema: Schema.Top) => ("sseMode" in schema ? schema : Schema.toEncoded(schema))

/** Makes endpoints with what is said of the operation. `door` is the middleware that says who may call it. */
export const endpointsWith = <Door extends HttpApiMiddleware.AnyId = never, S = never>(
  annotations: Context.Context<never>,
  door?: Context.Key<Door, S>
): Verbs<Door> => {
  const by =
    <Method extends Verb>(method: Method): Make<Method, Door> =>
    (name, path, { success, ...more }) => {
      const answers = [success].flat().map(encoded)
      const endpoint = Reflect.apply(HttpApiEndpoint.make(method), null, [
        name,
        path,
        { ...paramsIn(path), ...more, success: answers }
      ]).annotateMerge(annotations)
      return door === undefined ? endpoint : endpoint.middleware(door)
    }
  return { get: by("GET"), post: by("POST"), put: by("PUT"), patch: by("PATCH"), delete: by("DELETE") }
}
