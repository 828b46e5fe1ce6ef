/** `rungate referrals`: the organization's referral code and its earnings. */
import { ReferralProgram, ReferralsApi } from "../../api/Referrals.ts"
import { drawn, tableLines } from "../answers/draw.ts"
import { row } from "../answers/row.ts"
import { facts } from "../terminal/table.ts"
import { harmless, wrap } from "../terminal/text.ts"
import { dollars, timeOf } from "../terminal/values.ts"

export const referrals = row(ReferralsApi.endpoints.program, {
  about: "Show your referral code and its earnings",
  show: drawn(ReferralProgram, ({ code, link, earnings, referred_by, referred, terms }, { screen }) => [
    ...facts(
      [
        ["code", code],
        ["link", link],
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
          ...tableLines(
            referred.items,
            [
              { field: "organization", least: 12 },
              { title: "SIGNED UP", of: (one) => timeOf(one.signed_up_at) },
              { title: "COUNTS UNTIL", of: (one) => timeOf(one.ends_at) },
              "bonus",
              { title: "EARNED", of: (one) => dollars(one.earned), right: true }
            ],
            { screen }
          )
        ])
  ])
})
