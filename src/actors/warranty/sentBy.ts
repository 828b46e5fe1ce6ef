/** The e-mail that a stored run has sent. Pure. */
import type { CatalogOffer } from "../../layers/catalog/Catalog.ts"
import { usedOwnAccount } from "../../layers/warranty/cover.ts"
import { emailSend } from "../../schema/capabilities/email.send.ts"
import { isRecord, parsedOrText } from "../../schema/json/Json.ts"
import { plainAddress } from "../../schema/mail/Bounce.ts"
import type { RunRow } from "../../schema/nouns/Run.ts"

export interface Sent {
  /** Recipients that the provider accepted. Null for a raw run, whose provider lists them. */
  readonly accepted: ReadonlyArray<string> | null
  readonly message_id: string
  readonly own: boolean
  readonly offer: CatalogOffer
}

const addresses = (value: unknown): ReadonlyArray<string> =>
  Array.isArray(value) ? value.flatMap((one) => (typeof one === "string" ? [plainAddress(one)] : [])) : []

const text = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null)

/** What a provider knows a sent message by. Null if the run sent none, or nobody can be asked about it. `offer` is its provider's. */
export const sentBy = (row: RunRow, offer: CatalogOffer | undefined): Sent | null => {
  if (offer === undefined || row.status !== "succeeded" || row.result === null) return null
  const isSend = row.capability === emailSend.slug || offer.offer.wraps.some(({ path }) => path === row.endpoint)
  if (!isSend) return null
  const result = parsedOrText(row.result)
  const storedId = isRecord(result) ? text(result["message_id"]) : null
  const message_id = row.kind === "capability" ? storedId : (offer.offer.bounce?.rawMessageId(result) ?? null)
  if (message_id === null) return null
  const accepted = isRecord(result) && row.kind === "capability" ? addresses(result["accepted"]) : null
  return { accepted, message_id, offer, own: usedOwnAccount(row) }
}
