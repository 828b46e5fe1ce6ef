/** The row of a segment: which runs it has, by which rules they were indexed, and how its bytes are written. */
import { Schema } from "effect"

export const segmentFields = {
  segment: Schema.BigInt,
  family: Schema.String,
  /** Version of the rules by which its runs were indexed; see HistoryIndex.ts. */
  rules: Schema.Int,
  runs: Schema.Int,
  blocks: Schema.Int,
  /** Version of its bytes; see schema/segments/Checksum.ts. */
  format: Schema.Int,
  /** Of this row; null in format 1. */
  checksum: Schema.NullOr(Schema.Int),
  first_run: Schema.String,
  last_run: Schema.String
}
export const SegmentRow = Schema.Struct(segmentFields)
export type SegmentRow = typeof SegmentRow.Type
