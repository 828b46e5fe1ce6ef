/** `rungate quote <capability>` and `rungate quote <provider> <endpoint>`: what a run would hold and charge, and which providers it would call. */
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { present } from "../answers/row.ts"
import { json, show } from "../answers/show.ts"
import { bad } from "../terminal/exits.ts"
import { Screen } from "../terminal/Screen.ts"
import {
  acceptFlags,
  capFlags,
  endpointFlags,
  endpointTexts,
  guardFlags,
  reuseFlags,
  routingFlags,
  runBody
} from "./bodies.ts"
import { quoteLines, readQuote, sendQuote } from "./QuoteView.ts"
import { inputFlags, isMember, runInput, wordsArgument } from "./input.ts"
import { argument, optionalArgument, withExamples } from "../terminal/flags.ts"

const rawOnly = "need a raw endpoint: rungate quote <provider> <endpoint>. A capability has an input only."
const capabilityOnly = "choose the provider of a capability. A raw endpoint has one provider."

export const quote = Command.make(
  "quote",
  {
    target: argument("target", "a capability or a provider"),
    endpoint: optionalArgument(Argument.String("endpoint"), "the provider's path, as discover shows it"),
    words: wordsArgument,
    ...inputFlags,
    ...routingFlags,
    ...guardFlags,
    ...acceptFlags,
    ...reuseFlags,
    ...endpointFlags,
    ...capFlags,
    json
  },
  Effect.fnUntraced(function* ({ target, endpoint, words, ...given }) {
    const screen = yield* Screen
    const { provider, strategy, no_fallback, method, path, query } = given
    // The word after a capability is a part of the input already, as `rungate run email.find -` has it.
    const isRaw = endpoint !== null && endpoint !== "-" && !isMember(endpoint)
    const first = isRaw || endpoint === null ? [] : [endpoint]
    const input = yield* runInput({ ...given, words: [...first, ...words] })
    if (!isRaw && (method !== null || path !== null || query !== null))
      return yield* bad(`--method, --path and --query ${rawOnly}`)
    if (isRaw && given.unless_contacted !== null)
      return yield* bad("--unless-contacted is for capabilities that contact people. A raw endpoint is not guarded.")
    if (isRaw && (provider !== "auto" || strategy !== null || no_fallback))
      return yield* bad(`--provider, --strategy and --no-fallback ${capabilityOnly}`)
    const text = isRaw
      ? runBody({ provider: target, endpoint, ...present({ method }) }, yield* endpointTexts(input, given), null, given)
      : runBody({ capability: target }, { input }, given, given)
    const title = isRaw ? `${target} ${endpoint}` : target
    yield* show(yield* sendQuote(text), given, (answer) => {
      const quote = readQuote(answer)
      return quote === null ? null : quoteLines(title, quote, screen)
    })
  })
).pipe(
  Command.withDescription("Show what a run would cost, which providers it would call, and whether it would be refused"),
  withExamples({
    [`rungate quote email.find -i '{"full_name":"Ada Lovelace","company_domain":"example.com"}'`]: "A capability",
    [`rungate quote dataforseo /v3/backlinks/referring_domains/live -i '{"target":"example.com"}'`]: "A raw endpoint"
  })
)
