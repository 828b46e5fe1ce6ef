/**
 * What free and refused runs store, as a turn reads and writes it. Turns without such runs have no part of this in their statements.
 *
 * The wallet's version fences it: every turn that admits or ends a run of an organization writes that organization's wallet.
 */
import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { batchRowsOf, bigints, texts } from "../postgres/Rows.ts"
import { countFree, freeUsed } from "../usage/freeStorage.ts"

/** In bytes, by organization. */
export type FreeView = ReadonlyMap<string, { readonly stored: bigint; readonly reserved: bigint }>

export interface FreeEffects {
  /** What the runs stored that ended, by organization. */
  readonly stored: ReadonlyMap<string, bigint>
  /** What the admitted runs may store, and what others copy, by organization. */
  readonly reserved: ReadonlyMap<string, bigint>
}

const usedRows = batchRowsOf({ org_id: Schema.String, stored: Schema.BigInt, reserved: Schema.BigInt })

export const noFree: FreeView = new Map()

const used = (sql: SqlClient.SqlClient) =>
  sql.literal(`coalesce(${freeUsed("n.org_id")}, 0) AS stored,
      coalesce((SELECT sum(o.free_bytes)::bigint FROM open_runs o WHERE o.org_id = n.org_id AND o.free_bytes IS NOT NULL), 0) AS reserved`)

/** Reads for the runs that may store something at no charge, and for those that others have joined. */
export const readFree = (
  sql: SqlClient.SqlClient,
  runs: ReadonlyArray<{
    readonly org_id: string
    readonly hold: bigint
    readonly reuses?: boolean
    readonly owns?: boolean
    readonly buys?: boolean
  }>
) => {
  const orgs = new Set(
    runs.flatMap(({ org_id, hold, reuses, owns, buys }) => (hold === 0n || reuses || owns || buys ? [org_id] : []))
  )
  if (orgs.size === 0) return Effect.succeed(noFree)
  return Effect.map(
    usedRows(sql`SELECT n.org_id, ${used(sql)} FROM unnest(${texts([...orgs])}) AS n(org_id)`),
    (rows): FreeView => new Map(rows.map(({ org_id, ...use }) => [org_id, use]))
  )
}

/** For the turn's statement. */
export const writeFree = (sql: SqlClient.SqlClient, { stored }: FreeEffects) =>
  stored.size === 0
    ? sql.literal("")
    : countFree(sql, sql`unnest(${texts([...stored.keys()])}, ${bigints([...stored.values()])})`)

/** Condition of the turn's statement: the free runs that it admits are within the limit. */
export const freeFits = (sql: SqlClient.SqlClient, { reserved }: FreeEffects, limit: bigint) =>
  reserved.size === 0 || limit === 0n
    ? sql.literal("")
    : sql`
                            AND NOT EXISTS (
                              SELECT FROM (SELECT n.added, ${used(sql)} FROM unnest(${texts([...reserved.keys()])}, ${bigints([...reserved.values()])}) AS n(org_id, added)) u
                              WHERE u.stored + u.reserved + u.added > ${limit}::bigint)`
