/**
 * Ends the decoding of bytes of the history index that are not as they were written.
 *
 * A guess in their place would be a wrong answer about money or contacts, so decoding fails. The reader knows which segment the bytes are of, and
 * fails with `SegmentDamaged` (layers/history/index/SegmentDamaged.ts).
 */

/** Bytes of the index can't be decoded. The runs themselves are not damaged, so a rebuild repairs the index. */
export class DamagedBytes extends Error {
  /** What differs, without the advice. */
  readonly what: string
  constructor(what: string) {
    super(`history index: ${what}. Rebuild the index: rungate admin reindex-history`)
    this.name = "DamagedBytes"
    this.what = what
  }
}

export const damaged = (what: string): never => {
  throw new DamagedBytes(what)
}
