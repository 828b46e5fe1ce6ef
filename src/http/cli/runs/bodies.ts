/**
 * The flags that choose how a capability or a raw endpoint is called, and the body of a run that they make.
 *
 * `run`, `call` and `quote` share them, so a quote is always about the run that the same flags start.
 */
import { Config, Effect, Option } from "effect"
import { Flag } from "effect/cli"
import { methods } from "../../../schema/catalog/Endpoint.ts"
import { bodyOf } from "../../../schema/json/JsonText.ts"
import * as Money from "../../../schema/money/Money.ts"
import { type Strategy, strategies } from "../../../schema/runs/Routing.ts"
import { boolean, choice, duration, text } from "../terminal/flags.ts"
import { TypedUsd } from "../terminal/TypedUsd.ts"
import { jsonOf } from "./input.ts"

export const routingFlags = {
  provider: Flag.String("provider").pipe(
    Flag.withDescription("use only this provider, without fallback"),
    Flag.withDefault("auto")
  ),
  strategy: choice("strategy", strategies, "how to rank providers; default: best_value"),
  no_fallback: boolean("no-fallback", "try one provider only")
}

export const guardFlags = {
  unless_contacted: duration(
    "unless-contacted",
    "don't run if a recipient was contacted within this time, such as 30d (email.send, network.invite, network.message)"
  )
}

export const reuseFlags = {
  reuse: duration(
    "reuse",
    "take your organization's own result of the same input at $0 if it is not older than this, such as 30d, and buy otherwise"
  ),
  reuse_only: boolean("reuse-only", "with --reuse: never buy; without such a result the run is no_match")
}

/** The member of the body that `--reuse` and `--reuse-only` make. */
export const reuseMember = ({ reuse, reuse_only }: { readonly reuse: number | null; readonly reuse_only: boolean }) =>
  reuse === null && !reuse_only
    ? {}
    : {
        reuse: {
          mode: reuse_only ? "only" : "prefer",
          ...(reuse === null ? {} : { max_age_seconds: reuse })
        }
      }

/** The member of the body that `--unless-contacted` makes. */
export const guardMember = (seconds: number | null) =>
  seconds === null ? {} : { unless_contacted_within_seconds: seconds }

export const endpointFlags = {
  method: choice("method", methods, "HTTP method, when the path has several"),
  path: text("path", "values of the path's {placeholders}, as a JSON object"),
  query: text("query", "query parameters, as a JSON object")
}

export const capFlags = {
  max_cost: Flag.String("max-cost").pipe(
    Flag.withDescription("the most it may cost in USD, such as 0.05; default: RUNGATE_MAX_COST"),
    Flag.withFallbackConfig(Config.NonEmptyString("RUNGATE_MAX_COST")),
    Flag.withSchema(TypedUsd),
    Flag.optional,
    Flag.map(Option.getOrNull)
  ),
  max_total: Flag.String("max-total").pipe(
    Flag.withDescription("the most that the prices of all its attempts may add up to, in USD"),
    Flag.withSchema(TypedUsd),
    Flag.optional,
    Flag.map(Option.getOrNull)
  )
}

/** The caps of a run. Null without one. */
export interface Caps {
  readonly max_cost: Money.MicroUsd | null
  readonly max_total: Money.MicroUsd | null
}

const capMembers = ({ max_cost, max_total }: Caps) => ({
  ...(max_cost === null ? {} : { max_cost: Money.usd(max_cost) }),
  ...(max_total === null ? {} : { max_total: Money.usd(max_total) })
})

export interface CapabilityCall {
  readonly capability: string
  /** Validated JSON text. */
  readonly input: string
  readonly provider: string
  readonly strategy: Strategy | null
  readonly no_fallback: boolean
}

/** The body of POST /v1/run for a capability. `more` are its other members. */
export const capabilityBody = (call: CapabilityCall, caps: Caps, more: Readonly<Record<string, unknown>> = {}) => {
  const { capability, input, provider, strategy, no_fallback } = call
  const routing = {
    provider,
    ...(strategy === null ? {} : { strategy }),
    ...capMembers(caps),
    ...(no_fallback ? { allow_fallback: false } : {})
  }
  return bodyOf({ capability, routing, ...more }, { input })
}

/** The JSON texts of a raw call's members. */
export const endpointTexts = Effect.fnUntraced(function* (
  input: string,
  { path, query }: { readonly path: string | null; readonly query: string | null }
) {
  return {
    input,
    ...(path === null ? {} : { path: yield* jsonOf(path, "--path") }),
    ...(query === null ? {} : { query: yield* jsonOf(query, "--query") })
  }
})

export interface EndpointCall {
  readonly provider: string
  readonly endpoint: string
  readonly method: string | null
  /** Those that `endpointTexts` returns. */
  readonly texts: Readonly<Record<string, string>>
}

/** The body of POST /v1/run for a raw endpoint. `more` are its other members. */
export const endpointBody = (call: EndpointCall, caps: Caps, more: Readonly<Record<string, unknown>> = {}) => {
  const { provider, endpoint, method, texts } = call
  const routing = capMembers(caps)
  return bodyOf(
    {
      provider,
      endpoint,
      ...(method === null ? {} : { method }),
      ...(Object.keys(routing).length === 0 ? {} : { routing }),
      ...more
    },
    texts
  )
}
