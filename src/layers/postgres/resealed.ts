/** Seals the secrets of a table again, after RUNGATE_ENCRYPTION_KEY has got another first key. Secrets that are replaced meanwhile are left alone. */
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { type EncryptionKeys, sealedAgain, sealedBegin } from "../platform/Encryption.ts"
import { rowsOf, texts } from "./Rows.ts"

const rows = rowsOf({ ids: Schema.Array(Schema.String), secrets: Schema.Array(Schema.NullOr(Schema.String)) })
const rowsMax = 200

/** `ids` are the columns of the primary key, `secrets` those with secrets. Returns how many rows were sealed, and how many can't be opened. */
export const resealed = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  keys: () => EncryptionKeys,
  table: string,
  ids: ReadonlyArray<string>,
  secrets: ReadonlyArray<string>,
  purposeOf: (...ids: ReadonlyArray<string>) => string
) {
  const [from, key, stored] = [sql.literal(table), sql.literal(ids.join(", ")), sql.literal(secrets.join(", "))]
  const values = (all: ReadonlyArray<string | null>) => sql.join(", ", false)(all.map((one) => sql`${one}`))
  const begin = sealedBegin(keys())
  const counts = { resealed: 0, unreadable: 0 }
  let last: ReadonlyArray<string> | undefined = begin === null ? undefined : ids.map(() => "")
  while (last !== undefined) {
    const read: Effect.Success<ReturnType<typeof rows>> = yield* rows(sql`
      SELECT ARRAY[${key}] AS ids, ARRAY[${stored}] AS secrets FROM ${from}
      WHERE EXISTS (SELECT FROM unnest(ARRAY[${stored}]) AS s WHERE NOT starts_with(s, ${begin})) AND (${key}) > (${values(last)})
      ORDER BY ${key} LIMIT ${rowsMax}`)
    for (const row of read) {
      const again = row.secrets.map((one) => one && sealedAgain(keys(), purposeOf(...row.ids), one))
      const isOpened = again.every((one, n) => one !== null || row.secrets[n] === null)
      counts[isOpened ? "resealed" : "unreadable"] += 1
      if (isOpened)
        yield* sql`
          UPDATE ${from} SET (${stored}) = ROW(${values(again)})
          WHERE (${key}) = (${values(row.ids)}) AND ARRAY[${stored}] IS NOT DISTINCT FROM ${texts(row.secrets)}::text[]`
    }
    last = read.length < rowsMax ? undefined : read.at(-1)?.ids
  }
  return counts
}, Effect.orDie)
