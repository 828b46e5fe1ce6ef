/** The tool usage: counts and charges of runs in groups, as GET /v1/usage answers them. */
import { Effect, Schema } from "effect"
import { UsagePage } from "../../schema/nouns/Usage.ts"
import { answered, refusalIn, unanswered } from "./Answers.ts"
import { Service } from "./Service.ts"
import { tool } from "./Tool.ts"

const name = "usage"
const limitMax = 200
const limitDefault = 50

const optional = Schema.optionalKey
const text = (description: string, length: number) =>
  optional(Schema.NonEmptyString.check(Schema.isMaxLength(length)).annotate({ description }))

export const usage = tool({
  name,
  title: "Read usage",
  description:
    "Count finished runs and what they were charged, by group. Use it to answer what was spent, on what, and how often it succeeded. failed counts every run that neither succeeded nor ended as no_match. reused has the runs that took an earlier result, and what that saved. Free.",
  parameters: Schema.Struct({
    group_by: text(
      "up to two of day, capability, provider, key, endpoint, status and metadata.<name>, separated by a comma; default: one total",
      300
    ),
    from: text("first day, such as 2026-11-01; default: 29 days before the last", 40),
    to: text("last day; default: today", 40),
    limit: optional(
      Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: limitMax })).annotate({
        description: `groups per page, 1 to ${limitMax}; default: ${limitDefault}`
      })
    ),
    cursor: text("next_cursor of the previous page", 8_000)
  }),
  answers: [Schema.toEncoded(UsagePage)],
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }
})

type Given = Parameters<Parameters<typeof usage.withHandler>[0]>[0]

export const usageTool = Effect.fnUntraced(
  function* ({ limit = limitDefault, ...given }: Given) {
    const { send } = yield* Service
    const query = new URLSearchParams({ limit: String(limit), ...given })
    const answer = yield* send("GET", `/v1/usage?${query}`)
    return (yield* refusalIn(name, answer)) ?? answered(name, answer.text)
  },
  Effect.catch((error) => unanswered(name, error))
)
