/**
 * What a provider's list of messages says about one run, after a call whose outcome nobody knew.
 *
 * A message that is listed was accepted. That none is listed counts only when the provider has had time to list it: a finding of
 * "not delivered" invites the caller to send again.
 */
import type { Found } from "../../../schema/catalog/Doubt.ts"

/** The metadata field, or the beginning of the label, that names our run at a provider. */
export const runField = "rungate_run"

/** Providers list a message some minutes after they accepted it. */
const listedAfterSeconds = 15 * 60

export const listed = (title: string): Found => ({
  _tag: "Found",
  finding: "delivered",
  note: `${title} lists a message of this run`
})

/** Null while the message may still appear. */
export const notListed = (title: string, age_seconds: number): Found | null =>
  age_seconds > listedAfterSeconds
    ? { _tag: "Found", finding: "not_delivered", note: `${title} lists no message of this run, 15 minutes later` }
    : null

/** Whether the caller's own tags have a name that stands for our run, in any case of letters. */
export const namesRun = (tags: Readonly<Record<string, string>>): boolean =>
  Object.keys(tags).some((name) => name.toLowerCase() === runField)
