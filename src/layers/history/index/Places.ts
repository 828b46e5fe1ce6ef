/**
 * Checks segments for damage: every block and page that is read must be there and fit its checksum, and so must the row of its segment.
 *
 * Without this check a damaged block would look like "no run names this subject", and an agent would contact somebody twice. Segments of format 1
 * have no checksums. The worker rebuilds them in the current format.
 */
import { Effect } from "effect"
import { SegmentDamaged } from "./SegmentDamaged.ts"
import type { SegmentRow } from "./SegmentRow.ts"
import { headerChecksum, partChecksum, type PartTable, segmentFormat } from "../../../schema/segments/Checksum.ts"

/** A stored block or page. */
export interface StoredPart {
  readonly segment: bigint
  readonly n: number
  readonly bytes: Uint8Array
  readonly checksum: number | null
}

/** A key for a block or page of a segment. No segment has as many as the factor. */
const pageFactor = 1_048_576
export const placeOf = (segment: bigint, n: number) => Number(segment) * pageFactor + n

/** Segments of the first format have no checksums, and no row for a block without terms. */
const hasChecksums = ({ format }: SegmentRow) => format === segmentFormat

/** A set of places (blocks or pages of segments) to be read from one table. */
export class Places {
  private readonly added = new Set<number>()
  private readonly checked = new Map<number, bigint>()
  readonly segments: Array<bigint> = []
  readonly numbers: Array<bigint> = []
  add(row: SegmentRow, n: number) {
    const place = placeOf(row.segment, n)
    if (this.added.has(place)) return
    this.added.add(place)
    if (hasChecksums(row)) this.checked.set(place, row.segment)
    this.segments.push(row.segment)
    this.numbers.push(BigInt(n))
  }
  /** Returns the first damaged or absent part; null if there is none. */
  damageIn(table: PartTable, parts: ReadonlyArray<StoredPart>): SegmentDamaged | null {
    let count = 0
    for (const part of parts) {
      const place = placeOf(part.segment, part.n)
      if (!this.checked.has(place)) continue
      count += 1
      if (part.checksum !== partChecksum(table, part.segment, part))
        return damaged(part.segment, `row ${part.n} of ${table} does not fit its checksum`)
    }
    if (count === this.checked.size) return null
    for (const { segment, n } of parts) this.checked.delete(placeOf(segment, n))
    const [absent] = this.checked
    if (absent === undefined) return null
    return damaged(absent[1], `row ${absent[0] % pageFactor} of ${table} is missing`)
  }
}

const damaged = (segment: bigint, what: string) => new SegmentDamaged({ segment, what })

/** Fails if one of the parts that were read is damaged or absent. */
export const intact = <A extends StoredPart>(table: PartTable, parts: ReadonlyArray<A>, places: Places) => {
  const damage = places.damageIn(table, parts)
  return damage === null ? Effect.succeed(parts) : Effect.fail(damage)
}

/** What is wrong with the row of a segment; null if it can be trusted. */
export const damageOf = (org_id: string, row: SegmentRow): SegmentDamaged | null => {
  if (row.format === 1) return null
  if (row.format !== segmentFormat) return damaged(row.segment, `its format ${row.format} is unknown to this version`)
  return row.checksum === headerChecksum(org_id, row)
    ? null
    : damaged(row.segment, "its row in history_segments does not fit its checksum")
}

/** Fails if the row of one of an organization's segments can't be trusted. */
export const intactRows = (org_id: string, rows: ReadonlyArray<SegmentRow>) => {
  for (const row of rows) {
    const damage = damageOf(org_id, row)
    if (damage !== null) return Effect.fail(damage)
  }
  return Effect.succeed(rows)
}
