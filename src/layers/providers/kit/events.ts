/** How providers prove that an event is theirs, and where their events have the id of the run. */
import { createHash, timingSafeEqual } from "node:crypto"
import { Webhook } from "standardwebhooks"
import type { ReceivedEvent } from "../../../schema/mail/BounceEvents.ts"
import { runField } from "./listed.ts"
import { isRecord, text } from "./read.ts"

/**
 * A signature by the Standard Webhooks specification, at most five minutes old. `prefix` begins the names of its headers: Svix, which
 * signs for many providers, uses names of its own.
 */
export const standardWebhook =
  (prefix: "webhook" | "svix") =>
  ({ headers, body }: ReceivedEvent, secret: string): boolean => {
    const of = (name: string) => headers[`${prefix}-${name}`] ?? ""
    const signed = {
      "webhook-id": of("id"),
      "webhook-timestamp": of("timestamp"),
      "webhook-signature": of("signature")
    }
    try {
      new Webhook(secret).verify(body, signed, { jsonParse: false })
      return true
    } catch {
      // The library throws for a wrong signature, and for a secret that is none.
      return false
    }
  }

/** Digests, because the comparison needs equal lengths. */
const digest = (value: string) => createHash("sha256").update(value).digest()

/** HTTP basic authentication. The secret is `user:password`. */
export const basicAuthentication = ({ headers }: ReceivedEvent, secret: string): boolean => {
  const [, credentials = ""] = /^basic +(\S+)$/i.exec(headers["authorization"] ?? "") ?? []
  return timingSafeEqual(digest(credentials), digest(Buffer.from(secret, "utf8").toString("base64")))
}

/** The run id in a message's tags: an object, or a list of names with values. Null if there is none. */
export const runIn = (tags: unknown): string | null => {
  const pairs = Array.isArray(tags)
    ? tags.map((tag: unknown) => [text(tag, "name"), text(tag, "value")] as const)
    : Object.entries(isRecord(tags) ? tags : {}).map(([name, value]) => [name, text(value)] as const)
  return pairs.find(([name]) => name?.toLowerCase() === runField)?.[1] ?? null
}
