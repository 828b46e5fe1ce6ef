/** Damage to the index of history that checksums do not show. */
import { type PartTable, partChecksum } from "../../src/schema/segments/Checksum.ts"
import type { App } from "./app.ts"

const columns: Readonly<Record<PartTable, string>> = {
  history_blocks: "block",
  history_docs: "page",
  history_classes: "page"
}
const tables = ["history_blocks", "history_docs", "history_classes"] as const

/** Makes the checksums of all parts fit their bytes, as if a release had written these bytes by mistake. */
export const fitChecksums = async (app: App) => {
  for (const table of tables)
    for (const row of await app.sql(`SELECT segment, ${columns[table]} AS n, bytes FROM ${table}`)) {
      const segment = BigInt(String(row["segment"]))
      const part = { n: Number(row["n"]), bytes: row["bytes"] as Uint8Array }
      await app.sql(`UPDATE ${table} SET checksum = $3 WHERE segment = $1 AND ${columns[table]} = $2`, [
        segment,
        part.n,
        partChecksum(table, segment, part)
      ])
    }
}
