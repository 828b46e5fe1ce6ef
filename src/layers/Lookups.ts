/**
 * What in a run's row makes it a lookup that can be read again, or a touch: as SQL, for questions and for rollups alike.
 */
import type { SqlClient } from "effect/sql"
import type { Catalog } from "./Catalog.ts"
import { texts } from "./Columns.ts"
import { recipientFields, touchCapabilities } from "../schema/History.ts"
import type { Kind } from "../schema/words/Docs.ts"

/** Runs of these are no lookups: what they did can't be read again instead of being done again. */
export interface NoLookups {
  readonly capabilities: ReadonlyArray<string>
  /** Of raw endpoints. */
  readonly providers: ReadonlyArray<string>
}

export const noLookups = ({ entries }: Catalog["Service"]): NoLookups => {
  const acting = entries.filter(({ capability }) => capability.side_effect)
  return {
    capabilities: acting.map(({ capability }) => capability.slug),
    // A raw call of somebody who sends may have sent.
    providers: acting
      .filter(({ capability }) => touchCapabilities.includes(capability.slug))
      .flatMap(({ offers }) => offers.map((one) => one.provider.slug))
  }
}

export const rulesOf = ({ capabilities, providers }: NoLookups): string =>
  String(Bun.hash.xxHash64(JSON.stringify([touchCapabilities, recipientFields, capabilities, providers])))

export const reusablesMax = 50

/** So many matches that are in no rollup cost a question a few milliseconds. */
export const looseMax = 150

/** Of a run's columns. */
export const isLookup = (sql: SqlClient.SqlClient, { capabilities, providers }: NoLookups) => sql`
  status = 'succeeded' AND charged > 0 AND coalesce(capability <> ALL(${texts(capabilities)}), provider <> ALL(${texts(providers)}))`
/** The same of what is already known of a run. */
export const isLookupOf = (
  { status, charged, capability, provider }: Kind & { readonly charged: bigint },
  { capabilities, providers }: NoLookups
): boolean =>
  status === "succeeded" &&
  charged > 0n &&
  (capability === null ? provider !== null && !providers.includes(provider) : !capabilities.includes(capability))
export const succeededTouch = (sql: SqlClient.SqlClient) =>
  sql`capability = ANY(${texts(touchCapabilities)}) AND status = 'succeeded'`

/** Of a row of the index: a touch went there. Its path begins with one of the recipients' fields. */
export const goesTo = (sql: SqlClient.SqlClient) => sql`
  NOT in_result AND split_part(split_part(path, '[', 1), '.', 1) = ANY(${texts(recipientFields)})`
/** Of one group in a rollup. */
export const groupColumns =
  "status text, capability text, endpoint text, count int, charged bigint, first_seen timestamptz, last_seen timestamptz"
