/** Limits of the contract that clients go by as well; apart, because reading them must not cost loading the contract. */

/** Seconds a request may wait for a run. */
export const waitSecondsMax = 120
