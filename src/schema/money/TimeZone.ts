/** Names of time zones in requests, and their changes as they are stored (SpendDay.ts). Pure. */
import { Schema } from "effect"
import type { Zones as ZonesType } from "./SpendDay.ts"

const zoneCharsMax = 64

/** A name of the IANA list, such as `Europe/Berlin`. Whether there is such a zone is the service's word. */
export const ZoneName = Schema.String.check(
  Schema.makeFilter(
    (name: string) => /^[A-Z][\w+-]*(\/[A-Z][\w+-]*)*$/.test(name) || "expected a time zone such as Europe/Berlin",
    {},
    true
  ),
  Schema.isMaxLength(zoneCharsMax)
)

export const Zones: Schema.Codec<ZonesType, ZonesType> = Schema.Array(
  Schema.Struct({ zone: Schema.String, before: Schema.String, on: Schema.String, since: Schema.Number })
)
export type Zones = ZonesType

/**
 * The names that this process has. Older names of the same zones, such as US/Eastern, are not among them: the lists of PostgreSQL and of this
 * process differ in these, in what they mean too.
 */
export const zoneNames: ReadonlyArray<string> = ["UTC", ...Intl.supportedValuesOf("timeZone")]
