/**
 * What the text of a token says without a look-up.
 *
 * In an installation that is one of several (cells), a token carries a mark: the cell that made it, and a tag of its organization. The router in front of the cells reads both (deploy/cells) and looks nothing up in a database. A mark proves nothing: a cell accepts a token
 * by its digest only. Without cells there is no mark.
 */

export const cellForm = /^[a-z0-9]{1,12}$/

/** 48 bits: with a million organizations, of which a thousand have moved, another one has a moved one's tag once in 280,000 installations. */
const tagChars = 12

/** Stable, and says nothing about the organization. */
export const tagOf = (org_id: string): string =>
  new Bun.CryptoHasher("sha256").update(org_id).digest("hex").slice(0, tagChars)

/** `null` for `org_id`: the token belongs to no organization, so it does not move with one. */
export const markOf = (cell: string, org_id: string | null): string =>
  org_id === null ? cell : `${cell}-${tagOf(org_id)}`

/** The query of a link without a token, by which the router finds the cell. */
export const cellQuery = (cell: string | null, org_id: string | null): string =>
  cell === null ? "" : `?cell=${markOf(cell, org_id)}`

/** A mark in the pattern of a token, with the line that ends it. Tokens from before the installation became a cell have none. */
export const markPattern = `(?:[a-z0-9]{1,12}(?:-[0-9a-f]{${tagChars}})?_)?`

const prefix = new RegExp(`^(?:rg_[a-z]+_${markPattern})?`)

/** What lists show of a token: what stands before its random letters, and the first and last four of them. */
export const displayOf = (token: string): string =>
  `${token.slice(0, 4 + (prefix.exec(token)?.[0].length ?? 0))}…${token.slice(-4)}`
