/**
 * Migrations that remove what an older release uses, by name. CONTRIBUTING.md, "Migrations", says when one may be added.
 *
 * All other migrations only add, so the release before them works on their schema. `test/layers/postgres/migrations.test.ts` fails on a
 * migration that removes something and has no line here.
 */

/** What a migration says that removes something which older releases use. */
export interface Contract {
  /** Processes that know only older schemas than this refuse to start on the migrated database. */
  readonly compatible_from: number
  /** Background migrations that must have finished, by name. */
  readonly after: ReadonlyArray<string>
  /** What was removed, and since when no release uses it. */
  readonly because: string
}
export type Contracts = Readonly<Record<string, Contract>>

export const contracts: Contracts = {}
