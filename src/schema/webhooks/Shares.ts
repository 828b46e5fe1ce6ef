/**
 * How many webhooks a process sends at once, and whose. Receivers that never answer hold the places of their own organization only, so the
 * webhooks of others are sent meanwhile.
 */

/** Webhooks that a process sends at once. */
export const places = 50
export const placesOfOrganization = 10
export const placesOfEndpoint = 5
/** Of an endpoint that has accepted nothing since its last failure, or whose last answer was slow, in all processes together. */
export const placesOfFailingEndpoint = 1
/** A slower answer makes an endpoint count as failing at the process that waited for it, until it answers faster. */
export const slowMillis = 5_000
/** Of all failing endpoints together. The other half is left to receivers that answer. */
export const placesOfFailing = places / 2

/** A webhook that is being sent. */
export interface Sending {
  readonly org_id: string
  readonly endpoint_id: string
  /** Whether its endpoint was failing or slow when the attempt began. */
  readonly failing: boolean
}

/** Whether one of the webhook's shares is used up. Another webhook may have waited for it then, and can be sent when this one ends. */
export const usesUp = (sending: ReadonlyArray<Sending>, { org_id, endpoint_id, failing }: Sending): boolean => {
  const count = (same: (one: Sending) => boolean) => sending.filter(same).length
  return (
    sending.length >= places ||
    count((one) => one.org_id === org_id) >= placesOfOrganization ||
    count((one) => one.endpoint_id === endpoint_id) >= (failing ? placesOfFailingEndpoint : placesOfEndpoint) ||
    (failing && count((one) => one.failing) >= placesOfFailing)
  )
}
