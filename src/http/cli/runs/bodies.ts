/**
 * The flags that choose how a capability or a raw endpoint is called, and the body of a run that they make.
 *
 * `run`, `call` and `quote` share them, so a quote is always about the run that the same flags start.
 */
import { Config, Effect } from "effect"
import { Flag } from "effect/cli"
import { phoneTypes } from "../../../schema/catalog/Acceptance.ts"
import { methods } from "../../../schema/catalog/Endpoint.ts"
import { bodyOf } from "../../../schema/json/JsonText.ts"
import * as Money from "../../../schema/money/Money.ts"
import { strategies } from "../../../schema/runs/Routing.ts"
import { boolean, choice, duration, type FlagsOf, required, optional, text, TypedUsd, usd } from "../terminal/flags.ts"
import { present } from "../answers/row.ts"
import { jsonOf } from "./input.ts"

export const routingFlags = {
  provider: required("provider", "use only this provider, without fallback").pipe(Flag.withDefault("auto")),
  strategy: choice("strategy", strategies, "how to rank providers; default: best_value"),
  no_fallback: boolean("no-fallback", "try one provider only")
}

export const guardFlags = {
  unless_contacted: duration(
    "unless-contacted",
    "don't run if a recipient was contacted within this time, such as 30d (email.send, network.invite, network.message)"
  )
}

export const acceptFlags = {
  accept: text("accept", "fields that the result must have, such as email,phone; a result without them is no match"),
  phone_type: choice("phone-type", phoneTypes, "the type that the result's phone must have"),
  max_age: duration("max-age", "the greatest age of the result's data, in days, such as 30d"),
  agree: boolean("agree", "call providers until two give the same for --accept, and pay both")
}

export const reuseFlags = {
  reuse: duration(
    "reuse",
    "take your organization's own result of the same input at $0 if it is not older than this, such as 30d, and buy otherwise"
  ),
  reuse_only: boolean("reuse-only", "with --reuse: never buy; without such a result the run is no_match")
}

export const endpointFlags = {
  method: choice("method", methods, "HTTP method, when the path has several"),
  path: text("path", "values of the path's {placeholders}, as a JSON object"),
  query: text("query", "query parameters, as a JSON object")
}

export const capFlags = {
  max_cost: optional(
    required("max-cost", "the most it may cost in USD, such as 0.05; default: RUNGATE_MAX_COST").pipe(
      Flag.withFallbackConfig(Config.NonEmptyString("RUNGATE_MAX_COST")),
      Flag.withSchema(TypedUsd)
    )
  ),
  max_total: optional(usd("max-total", "the most that the prices of all its attempts may add up to, in USD"))
}

/** The caps of a run. Null without one. */
export type Caps = FlagsOf<typeof capFlags>

/** The JSON texts of a raw call's members. */
export const endpointTexts = Effect.fnUntraced(function* (
  input: string,
  { path, query }: Pick<FlagsOf<typeof endpointFlags>, "path" | "query">
) {
  return {
    input,
    ...(path === null ? {} : { path: yield* jsonOf(path, "--path") }),
    ...(query === null ? {} : { query: yield* jsonOf(query, "--query") })
  }
})

/** What counts as a match. A raw endpoint has no flags for it. */
type Accepting = Partial<FlagsOf<typeof acceptFlags>>

const daySeconds = 86_400
const acceptOf = ({ accept = null, phone_type = null, max_age = null, agree = false }: Accepting) => {
  const members = present({
    fields: accept === null ? null : accept.split(",").map((name) => name.trim()),
    phone_type,
    max_age_days: max_age === null ? null : Math.max(1, Math.floor(max_age / daySeconds)),
    agree: agree ? 2 : null
  })
  return Object.keys(members).length === 0 ? null : members
}

interface Given extends Caps, Accepting, FlagsOf<typeof reuseFlags>, Partial<FlagsOf<typeof guardFlags>> {
  readonly metadata?: ReadonlyArray<readonly [string, string]>
  readonly include_raw?: boolean
}

/** The body of a run. `target` names a capability or an endpoint, and `texts` are validated JSON. `choice` is null for a raw endpoint. */
export const runBody = (
  target: object,
  texts: Readonly<Record<string, string>>,
  choice: FlagsOf<typeof routingFlags> | null,
  given: Given
) => {
  const { max_cost, max_total, reuse, reuse_only, unless_contacted, metadata = [], include_raw = false } = given
  const routing = {
    ...(choice === null ? {} : present({ provider: choice.provider, strategy: choice.strategy })),
    ...present({
      max_cost: max_cost === null ? null : Money.usd(max_cost),
      max_total: max_total === null ? null : Money.usd(max_total)
    }),
    ...(choice?.no_fallback === true ? { allow_fallback: false } : {})
  }
  const members = present({
    routing: Object.keys(routing).length === 0 ? null : routing,
    response: include_raw ? { include_raw } : null,
    metadata: metadata.length === 0 ? null : Object.fromEntries(metadata),
    unless_contacted_within_seconds: unless_contacted ?? null,
    accept: acceptOf(given),
    reuse:
      reuse === null && !reuse_only
        ? null
        : { mode: reuse_only ? "only" : "prefer", ...present({ max_age_seconds: reuse }) }
  })
  return bodyOf({ ...target, ...members }, texts)
}
