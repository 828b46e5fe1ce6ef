/**
 * Metadata: the caller's own labels of a run, such as a campaign or a customer. Runs are filtered and usage is grouped by them.
 *
 * Names have few characters, because they are parts of query parameters: `metadata.campaign=spring`.
 */
import { Schema } from "effect"
import { labelsMax } from "../accounts/KeyAccess.ts"

export const valueCharsMax = 500
export const nameCharsMax = 64
const namePattern = new RegExp(`^[A-Za-z0-9_.-]{1,${nameCharsMax}}$`)

export const isMetadataName = (name: string): boolean => namePattern.test(name) && name !== "__proto__"

export const nameRule = `must be 1 to ${nameCharsMax} letters, digits, "_", "-" or "."`
export const isMetadataValue = (value: string): boolean => value.length <= valueCharsMax

export type Metadata = Readonly<Record<string, string>>

const problemsOf = (metadata: Metadata) => {
  const entries = Object.entries(metadata)
  if (entries.length > labelsMax) return `must have at most ${labelsMax} keys`
  return entries.flatMap(([name]) =>
    isMetadataName(name) ? [] : [{ path: [name], issue: `is not a valid key: it ${nameRule}` }]
  )
}

const Value = Schema.String.check(
  Schema.isMaxLength(valueCharsMax, { message: `must have at most ${valueCharsMax} characters` })
)

/** The description comes before the check, because JSON Schema shows only that of the type. */
export const metadataAs = (description: string) =>
  Schema.Record(Schema.String, Value).annotate({ description }).check(Schema.makeFilter(problemsOf))

export const Metadata = metadataAs(
  `up to ${labelsMax} labels of your own, such as {"campaign": "spring"}; values have up to ${valueCharsMax} characters`
)

/** The prefix of query parameters and of groupings of usage that name metadata. */
export const metadataPrefix = "metadata."

/** JSON text for the database. Null when there are no labels. */
export const storedMetadata = (metadata: Metadata | null): string | null =>
  metadata === null || Object.keys(metadata).length === 0 ? null : JSON.stringify(metadata)
