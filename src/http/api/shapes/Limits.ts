/** Limits of the contract that clients also apply. A separate module, because loading the whole contract takes longer. */

/** Seconds a request may wait for a run. */
export const waitSecondsMax = 120
