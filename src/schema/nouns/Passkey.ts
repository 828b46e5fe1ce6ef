/** A key of a person's device that signs in without a password. */
import { Schema } from "effect"
import { withColumns } from "../Columns.ts"
import { idOf, such, time, withExample } from "./Noun.ts"

export const Passkey = Schema.Struct({
  id: idOf("psk"),
  name: such("Laptop"),
  created_at: time,
  last_used_at: Schema.NullOr(time)
})
  .annotate({ identifier: "Passkey" })
  .pipe(
    withColumns({
      list: ["name", "created_at", "last_used_at"],
      wide: ["created_at"],
      titles: { created_at: "Added", last_used_at: "Last used" },
      none: { last_used_at: "never" }
    }),
    withExample({
      id: "psk_01m81nzk5dej20zws915h61fdz",
      name: "Laptop",
      created_at: "2026-11-20T08:00:00.000Z",
      last_used_at: null
    })
  )
export type Passkey = typeof Passkey.Type
