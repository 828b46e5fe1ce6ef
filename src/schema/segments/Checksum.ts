/**
 * The format version of stored segments, and the checksums that detect damaged bytes.
 *
 * A checksum covers the bytes of one block or page together with its place. Bytes that were stored at another place therefore don't fit either.
 */

/** Version of the stored bytes. Increment it to rebuild all segments. Segments of format 1 have no checksums. */
export const segmentFormat = 2

/** The tables with parts of segments. */
export type PartTable = "history_blocks" | "history_docs" | "history_classes"

const tableNumbers: Readonly<Record<PartTable, number>> = { history_blocks: 1, history_docs: 2, history_classes: 3 }

/** Postgres stores it as a signed integer of 32 bits. */
const signed = (hash: number) => hash | 0

/** The checksum of block or page `n` of a segment. */
export const partChecksum = (
  table: PartTable,
  segment: bigint,
  { n, bytes }: { n: number; bytes: Uint8Array }
): number =>
  signed(
    Bun.hash.xxHash32(
      bytes,
      (Math.imul(Number(segment % 4_294_967_296n), 0x9e37_79b1) + 4 * n + tableNumbers[table]) >>> 0
    )
  )

/** What the row of a segment says about its parts. `rules` is not covered, because a rebuild changes it. */
export interface SegmentHeader {
  readonly family: string
  readonly runs: number
  readonly blocks: number
  readonly first_run: string
  readonly last_run: string
}

export const headerChecksum = (org_id: string, { family, runs, blocks, first_run, last_run }: SegmentHeader): number =>
  signed(Bun.hash.xxHash32([org_id, family, runs, blocks, first_run, last_run].join("\n")))
