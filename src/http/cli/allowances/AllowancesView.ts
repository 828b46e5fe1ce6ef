/** Formats allowances for a terminal. Loaded on demand, because it imports the API contract. */
import { Schema } from "effect"
import { Allowance } from "../../api/accounts/Allowances.ts"
import { scopeText } from "../account/KeysView.ts"
import { decoded, type Lines } from "../answers/show.ts"
import type { ScreenShape } from "../terminal/Screen.ts"
import { facts, table } from "../terminal/table.ts"
import { dollars, timeOf } from "../terminal/values.ts"

const Page = Schema.Struct({ items: Schema.Array(Allowance), next_cursor: Schema.NullOr(Schema.String) })

const endText = ({ expires_at }: typeof Allowance.Type): string => (expires_at === null ? "never" : timeOf(expires_at))

export const allowanceLines = (text: string, screen: ScreenShape): Lines | null => {
  const page = decoded(Page, text)
  if (page === null) return null
  if (page.items.length === 0)
    return ["There are no allowances. Give one with: rungate allowances create researcher --amount 2.00 --expires 2h"]
  const rows = table(
    page.items,
    [
      { title: "ID", of: (one) => one.id },
      { title: "NAME", of: (one) => one.name, least: 8 },
      { title: "STATE", of: (one) => one.status },
      { title: "AMOUNT", of: (one) => dollars(one.amount), right: true },
      { title: "SPENT", of: (one) => dollars(one.spent), right: true, dropped: 6 },
      { title: "HELD", of: (one) => dollars(one.held), right: true, dropped: 4 },
      { title: "LEFT", of: (one) => dollars(one.available), right: true },
      { title: "EXPIRES", of: endText, dropped: 5 },
      { title: "MAY RUN", of: scopeText, least: 12, dropped: 2 },
      { title: "GIVEN BY", of: (one) => one.parent_id ?? "a person", dropped: 1 },
      { title: "KEY", of: (one) => one.display, dropped: 3 }
    ],
    screen.width,
    (line) => screen.paint("bold", line)
  )
  return page.next_cursor === null
    ? rows
    : [...rows, screen.paint("dim", `More: --cursor ${page.next_cursor}, or --all`)]
}

export const allowanceDetails = (text: string, screen: ScreenShape): Lines | null => {
  const one = decoded(Allowance, text)
  if (one === null) return null
  return facts(
    [
      ["id", one.id],
      ["name", one.name],
      ["state", one.status],
      ["amount", dollars(one.amount)],
      ["spent", dollars(one.spent)],
      ["held", dollars(one.held)],
      ["left", dollars(one.available)],
      ["expires", endText(one)],
      ["may run", scopeText(one)],
      ["given by", one.parent_id ?? "a person"],
      ["depth", one.depth],
      ["key", one.display]
    ],
    screen.width,
    (name) => screen.paint("dim", name)
  )
}

/** What became of the money. Null if the body can't be read. */
export const revokedLine = (text: string): string | null => {
  const one = decoded(Allowance, text)
  if (one === null) return null
  const rest =
    one.held === "0.00"
      ? "The rest is available again."
      : `Open runs still hold $${one.held}, and what they don't cost returns when they end.`
  return `Revoked ${one.id}. It spent $${one.spent} of $${one.amount}. ${rest}`
}
