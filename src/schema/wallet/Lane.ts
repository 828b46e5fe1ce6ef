/**
 * Maps an organization to one of the lanes that wallets are distributed over.
 *
 * The mapping is a consistent hash: when the number of lanes grows, a wallet keeps its lane or gets one of the new lanes. So growth
 * moves as few wallets as an even distribution allows, and never moves one between two old lanes.
 */

/** Each lane costs every process a BullMQ worker and its connections. The table `lane_count` has the same limit. */
export const lanesMax = 32
/** The number before it could be set. */
export const lanesDefault = 2

/** Mulberry32: a small generator with an even distribution, seeded with the organization's digest. */
const generator = (seed: number) => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
}

/**
 * The lane of a wallet among `lanes` lanes. `digest` is the SHA-256 of the organization's id.
 *
 * The n-th lane takes one wallet of n from the lanes before it. For two lanes that is the first byte's last bit: the rule of the
 * versions that had two lanes, so their wallets are where this function puts them.
 */
export const laneOf = (digest: Uint8Array, lanes: number): number => {
  const view = new DataView(digest.buffer, digest.byteOffset, digest.byteLength)
  const next = generator(view.getUint32(1))
  let lane = 0
  for (let count = 2; count <= lanes; count++) {
    const taken = count === 2 ? view.getUint8(0) % 2 === 1 : next() % count === 0
    if (taken) lane = count - 1
  }
  return lane
}
