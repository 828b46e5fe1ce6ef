/** Formats the referral program for a terminal. Loaded on demand, because it imports the API contract. */
import { ReferralProgram } from "../../api/Referrals.ts"
import type { ScreenShape } from "../terminal/Screen.ts"
import { decoded, type Lines } from "../answers/show.ts"
import { facts, table } from "../terminal/table.ts"
import { harmless, wrap } from "../terminal/text.ts"
import { dollars, timeOf } from "../terminal/values.ts"

export const referralLines = (text: string, screen: ScreenShape): Lines | null => {
  const program = decoded(ReferralProgram, text)
  if (program === null) return null
  const { earnings, referred_by, referred, terms } = program
  const bold = (line: string) => screen.paint("bold", line)
  return [
    ...facts(
      [
        ["code", program.code],
        ["link", program.link],
        ["referred", earnings.referred_count],
        ["credited", dollars(earnings.credited)],
        ["pending", dollars(earnings.pending)],
        ...(referred_by === null
          ? []
          : [["your own bonus", `${dollars(referred_by.deposit_bonus)}, ${referred_by.bonus_state}`] as const])
      ],
      // A link is copied, so it is never truncated.
      Number.POSITIVE_INFINITY,
      (name) => screen.paint("dim", name)
    ),
    "",
    ...wrap(harmless(terms.description), screen.width),
    ...(referred.items.length === 0
      ? []
      : [
          "",
          ...table(
            referred.items,
            [
              { title: "ORGANIZATION", of: (one) => one.organization, least: 12 },
              { title: "SIGNED UP", of: (one) => timeOf(one.signed_up_at) },
              { title: "COUNTS UNTIL", of: (one) => timeOf(one.ends_at) },
              { title: "BONUS", of: (one) => one.bonus },
              { title: "EARNED", of: (one) => dollars(one.earned), right: true }
            ],
            screen.width,
            bold
          )
        ])
  ]
}
