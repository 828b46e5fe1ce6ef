/** Formats senders for a terminal. Loaded on demand, because it imports the API contract. */
import { Schema } from "effect"
import { Sender } from "../../api/accounts/Senders.ts"
import type { ScreenShape } from "../terminal/Screen.ts"
import { decoded, type Lines } from "../answers/show.ts"
import { table } from "../terminal/table.ts"
import { agoOf } from "../terminal/values.ts"

const Page = Schema.Struct({ items: Schema.Array(Sender), next_cursor: Schema.NullOr(Schema.String) })

/** `now` in milliseconds since 1970. */
export const senderLines = (text: string, screen: ScreenShape, now: number): Lines | null => {
  const page = decoded(Page, text)
  if (page === null) return null
  if (page.items.length === 0) return ["There are no senders. Add a domain with: rungate senders add example.com"]
  const rows = table(
    page.items,
    [
      { title: "ID", of: (one) => one.id },
      { title: "DOMAIN", of: (one) => one.domain, least: 8 },
      { title: "STATUS", of: (one) => one.status },
      { title: "ADDED", of: (one) => `${agoOf(new Date(one.created_at).getTime(), now)} ago` }
    ],
    screen.width,
    (line) => screen.paint("bold", line)
  )
  return page.next_cursor === null
    ? rows
    : [...rows, screen.paint("dim", `More: --cursor ${page.next_cursor}, or --all`)]
}

/** One sender, with the next step when it is not verified. */
export const senderText = (text: string): Lines | null => {
  const sender = decoded(Sender, text)
  if (sender === null) return null
  const { id, domain, status, record } = sender
  if (status === "verified") return [`${domain} is verified: runs can send from its addresses.`]
  return [
    `${domain} is added. Create this DNS record:`,
    "",
    `  type   ${record.type}`,
    `  name   ${record.name}`,
    `  value  ${record.value}`,
    "",
    `Then run: rungate senders verify ${id}`
  ]
}
