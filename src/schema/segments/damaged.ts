/**
 * Ends a read of the history index that finds other bytes than were written.
 *
 * A guess in their place would be a wrong answer about money or contacts, so the read fails and says how to repair the index.
 */

/** The index is damaged. The runs themselves are not, so a rebuild repairs it. */
export class DamagedIndex extends Error {
  /** What differs, without the advice. */
  readonly what: string
  constructor(what: string) {
    super(`history index: ${what}. Rebuild the index: rungate admin reindex-history`)
    this.name = "DamagedIndex"
    this.what = what
  }
}

export const damaged = (what: string): never => {
  throw new DamagedIndex(what)
}
