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

export const contracts: Contracts = {
  "0032_months": {
    compatible_from: 25,
    after: [],
    because:
      "The unique index runs_idempotency of the whole table is gone. No release names it in ON CONFLICT, and the trigger run_claims_key keeps its rule for processes of 0.1.0"
  },
  "0033_ledger_months": {
    compatible_from: 25,
    after: [],
    because:
      "The indexes ledger_pkey and ledger_once_per_credit of the whole table are gone. No release names them in ON CONFLICT. ledger_first has both, and all credits"
  },
  "0083_row_rules": {
    compatible_from: 25,
    after: [],
    because:
      "Five functions that only triggers called are gone. run_rules, ledger_chains and ledger_credit_rules keep their rules for processes of every release"
  }
}
