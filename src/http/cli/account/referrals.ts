/** `rungate referrals`: the organization's referral code and its earnings. */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { Client } from "../answers/Client.ts"
import { Screen } from "../terminal/Screen.ts"
import { json, show } from "../answers/show.ts"

export const referrals = Command.make(
  "referrals",
  { json },
  Effect.fnUntraced(function* (flags) {
    const { send } = yield* Client
    const screen = yield* Screen
    yield* show(yield* send("GET", "/v1/referrals"), flags, (text) =>
      Effect.map(
        Effect.promise(() => import("./ReferralsView.ts")),
        ({ referralLines }) => referralLines(text, screen)
      )
    )
  })
).pipe(Command.withDescription("Show your referral code and its earnings"))
