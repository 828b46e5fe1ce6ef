/**
 * What a provider that sends e-mail tells the service by itself: signed events about messages, of which permanent bounces matter here.
 *
 * A provider describes its events as `events` beside its look-up of bounces.
 */
import type { SentMessage } from "./Bounce.ts"

/** An event as it came: header names in lower case, and the body unchanged. */
export interface ReceivedEvent {
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: string
}

/** A permanent bounce of one recipient, as an event tells it. Its ids may be forged, because customers choose tags of their raw runs. */
export interface BouncedMessage extends SentMessage {
  /** The run that sent the message, as its tag says. */
  readonly run_id: string
}

export interface BounceEvents {
  /** Whether the provider sent the event, by a secret that both know. Compares in constant time, and never throws. */
  readonly isGenuine: (event: ReceivedEvent, secret: string) => boolean
  /** The permanent bounce that a parsed body is about. Null for every other event. */
  readonly bounced: (body: unknown) => BouncedMessage | null
}
