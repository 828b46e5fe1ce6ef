/** Formats accounts at providers for a terminal. Loaded on demand, because it imports the API contract. */
import { ProviderAccount, ProviderAccountPage } from "../../api/accounts/ProviderAccounts.ts"
import { decoded, type Lines } from "../answers/show.ts"
import type { ScreenShape } from "../terminal/Screen.ts"
import { table } from "../terminal/table.ts"
import { agoOf } from "../terminal/values.ts"

/** `now` in milliseconds since 1970. */
export const accountLines = (text: string, screen: ScreenShape, now: number): Lines | null => {
  const page = decoded(ProviderAccountPage, text)
  if (page === null) return null
  if (page.items.length === 0)
    return ["You have no accounts at providers here. Set one with: rungate provider-accounts set hunter"]
  return table(
    page.items,
    [
      { title: "PROVIDER", of: (one) => one.provider },
      { title: "KEY", of: (one) => `…${one.last_four}` },
      { title: "FALLBACK", of: (one) => (one.fallback ? "yes" : "no") },
      { title: "FEE", of: (one) => `$${one.fee}`, right: true },
      { title: "SET", of: (one) => `${agoOf(new Date(one.changed_at).getTime(), now)} ago` },
      { title: "ADDRESS", of: (one) => one.base_url ?? "", least: 8, dropped: 1 }
    ],
    screen.width,
    (line) => screen.paint("bold", line)
  )
}

export const setLines = (text: string): Lines | null => {
  const account = decoded(ProviderAccount, text)
  if (account === null) return null
  const { provider, last_four, fallback, fee } = account
  return [
    `Runs of your organization now call ${provider} through your account (key …${last_four}), for $${fee} each.`,
    fallback
      ? `If ${provider} refuses the key, this service's account is called, at its own price.`
      : `If ${provider} refuses the key, this service's account is not called. To allow that, set it again with --fallback.`
  ]
}
