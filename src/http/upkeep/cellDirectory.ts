/** Handlers of `rungate admin cells add`, `list` and `moved`. Loaded on demand. They work on the directory that all cells read. */
import { Console, Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Directory } from "../../layers/accounts/Directory.ts"
import { CatalogStore } from "../../layers/catalog/CatalogStore.ts"
import { rowsOf } from "../../layers/postgres/Rows.ts"
import { onDatabase } from "../operator/database.ts"
import { bad } from "../cli/terminal/exits.ts"
import { print, table } from "../operator/output.ts"

/** Addresses that one statement of the directory takes. */
const slice = 2_000

const userRows = rowsOf({ user_id: Schema.String, email: Schema.String })

const directory = Effect.gen(function* () {
  const { cells, cell } = yield* Directory
  return cells === null
    ? yield* bad("This needs RUNGATE_CELL and RUNGATE_DIRECTORY_URL, as the service of this cell has them.")
    : { cells, cell }
})

/** Registers this cell, and its accounts and imports from before. Doing it again repairs what is missing. */
export const add = (url: string, takesAccounts: boolean, json: boolean) =>
  Effect.gen(function* () {
    const { cells, cell } = yield* directory
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
      return yield* bad(
        "--url must be the address at which the other cells reach this one, such as http://10.0.1.1:8787"
      )
    const sql = yield* SqlClient.SqlClient
    yield* cells.register(url, takesAccounts)
    const sum = { addresses: 0, elsewhere: 0 }
    let after = ""
    for (;;) {
      const users = yield* userRows(sql`
        SELECT user_id, email FROM users WHERE NOT pending AND user_id > ${after} ORDER BY user_id LIMIT ${slice}`)
      if (users.length === 0) break
      sum.addresses += users.length
      sum.elsewhere += yield* cells.claimAll(users.map(({ email }) => email))
      after = users.at(-1)?.user_id ?? after
    }
    yield* Effect.orDie((yield* CatalogStore).share)
    if (json) return yield* print({ cell, url, takes_accounts: takesAccounts, ...sum })
    yield* Console.log(`The cell ${cell} is in the directory, with ${sum.addresses - sum.elsewhere} e-mail addresses.`)
    if (sum.elsewhere > 0)
      yield* Console.error(
        `${sum.elsewhere} addresses have an account in another cell too. Sign-in uses that one; the sessions and keys of both work.`
      )
  }).pipe(onDatabase)

export const list = (json: boolean) =>
  Effect.gen(function* () {
    const { cells, cell } = yield* directory
    const rows = (yield* cells.list).map((row) => ({ ...row, addresses: Number(row.addresses) }))
    if (json) return yield* print({ items: rows })
    const lines = table(rows, {
      cell: ({ name }) => (name === cell ? `${name} (this one)` : name),
      url: ({ url }) => url,
      "new accounts": ({ takes_accounts }) => (takes_accounts ? "yes" : "no"),
      addresses: ({ addresses }) => addresses
    })
    yield* Console.log(lines.join("\n"))
  }).pipe(onDatabase)

/** The router's map of organizations that have moved, as the shipped configuration names its backends. */
export const moved = Effect.gen(function* () {
  const { cells } = yield* directory
  const rows = yield* cells.moves
  yield* Console.log(
    ["# tag of an organization    backend", ...rows.map(({ tag, cell }) => `${tag} cell_${cell}`)].join("\n")
  )
}).pipe(onDatabase)
