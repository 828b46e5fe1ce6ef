/** The migrations in order: the schema of record, then one for each release. An old one is never edited; a new one is a file and a line. */
import { baseline } from "../schema/baseline.ts"

export const migrations = {
  "0001_baseline": baseline
}
