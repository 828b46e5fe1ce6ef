/** What a provider that sends e-mail says about one of its messages: whether it bounced. */

/** A message that a run has sent. */
export interface SentMessage {
  /** The provider's id of the message. */
  readonly message_id: string
  /** The recipient in question, in lower case. */
  readonly address: string
}

/** `note` says how the provider showed it. It names no address. */
export interface Bounce {
  readonly _tag: "Bounce"
  /** True only for a permanent failure of this recipient. False says no more than that the provider reports none so far. */
  readonly bounced: boolean
  readonly note: string
}

/** `Jane <Jane@Example.com>` and `jane@example.com` are the same address. */
export const plainAddress = (text: string): string => (/<([^<>]+)>\s*$/.exec(text)?.[1] ?? text).trim().toLowerCase()
