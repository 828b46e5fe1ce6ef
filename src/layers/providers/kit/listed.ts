/**
 * Concludes from a provider's list of messages whether a run's message was sent, if the answer to the call was lost.
 *
 * A listed message was accepted. A missing message counts as not delivered only after the provider had time to list it, because
 * the caller may then send it again.
 */
import type { Found } from "../../../schema/catalog/Doubt.ts"

/** The metadata field, or the prefix of the label, that contains the run id at a provider. */
export const runField = "rungate_run"

/** Providers list a message up to some minutes after they accepted it. */
const listedAfterSeconds = 15 * 60

export const listed = (title: string): Found => ({
  _tag: "Found",
  finding: "delivered",
  note: `${title} lists a message of this run`
})

/** Null while the message may still be listed later. */
export const notListed = (title: string, age_seconds: number): Found | null =>
  age_seconds > listedAfterSeconds
    ? { _tag: "Found", finding: "not_delivered", note: `${title} lists no message of this run, 15 minutes later` }
    : null

/** True if one of the caller's own tags has the name of our metadata field, in upper or lower case. */
export const namesRun = (tags: Readonly<Record<string, string>>): boolean =>
  Object.keys(tags).some((name) => name.toLowerCase() === runField)
