/** Formats API keys for a terminal. Loaded on demand, because it imports the API contract. */
import { Schema } from "effect"
import { ApiKey } from "../../api/Keys.ts"
import type { ScreenShape } from "../terminal/Screen.ts"
import { decoded, type Lines } from "../answers/show.ts"
import { table } from "../terminal/table.ts"
import { agoOf } from "../terminal/values.ts"

const Page = Schema.Struct({ items: Schema.Array(ApiKey), next_cursor: Schema.NullOr(Schema.String) })

/** `now` in milliseconds since 1970. */
export const keyLines = (text: string, screen: ScreenShape, now: number): Lines | null => {
  const page = decoded(Page, text)
  if (page === null) return null
  if (page.items.length === 0) return ["There are no API keys."]
  const ago = (iso: string | null) => (iso === null ? "never" : `${agoOf(new Date(iso).getTime(), now)} ago`)
  const rows = table(
    page.items,
    [
      { title: "ID", of: (key) => key.id },
      { title: "NAME", of: (key) => key.name, least: 8 },
      { title: "KEY", of: (key) => key.display },
      { title: "STATE", of: (key) => (key.revoked ? "revoked" : key.environment) },
      { title: "USED", of: (key) => ago(key.last_used_at) },
      { title: "CREATED", of: (key) => ago(key.created_at), dropped: 1 }
    ],
    screen.width,
    (line) => screen.paint("bold", line)
  )
  return page.next_cursor === null
    ? rows
    : [...rows, screen.paint("dim", `More: --cursor ${page.next_cursor}, or --all`)]
}
