/**
 * The error of every read that finds a segment of the history index damaged: a part is missing, does not fit its checksum, or can't be decoded.
 *
 * Effects fail with it. Pure code throws it, and `failOnDamage` turns that into a failure. Damage.ts reports it, and Repair.ts rebuilds the segment.
 */
import { Effect, Schema } from "effect"
import { DamagedBytes } from "../../../schema/segments/damaged.ts"

/** A segment can't be read. The worker rebuilds it from its runs, once it is reported. */
export class SegmentDamaged extends Schema.TaggedError<SegmentDamaged>()("SegmentDamaged", {
  segment: Schema.BigInt,
  what: Schema.String
}) {
  override get message() {
    return `history index: segment ${this.segment} is damaged: ${this.what}`
  }
}

export const damagedIn = (segment: bigint, what: string): never => {
  throw new SegmentDamaged({ segment, what })
}

/** Decodes bytes of a segment. Bytes that can't be decoded are damage, even if their checksum fits. */
export const decodedIn = <A>(segment: bigint, decode: () => A): A => {
  try {
    return decode()
  } catch (error) {
    if (error instanceof DamagedBytes) return damagedIn(segment, error.what)
    throw error
  }
}

/** Turns damage that pure code throws into a failure. */
export const failOnDamage = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | SegmentDamaged, R> =>
  Effect.catchDefect(effect, (defect) => (defect instanceof SegmentDamaged ? Effect.fail(defect) : Effect.die(defect)))
