/**
 * Page cursors that begin with the provider that issued them, such as `serper:2`.
 *
 * Another provider can't read such a cursor. So an offer serves only first pages and its own provider's cursors.
 */

export const issue = (provider: string, token: string | null): string | null =>
  token === null ? null : `${provider}:${token}`

/** The provider's own page token in a cursor. Undefined if another provider issued the cursor. */
export const redeem = (provider: string, cursor: string | undefined): string | undefined =>
  cursor?.startsWith(`${provider}:`) === true ? cursor.slice(provider.length + 1) : undefined

/** True for a first page and for the provider's own cursors. */
export const accepts = (provider: string, cursor: string | undefined): boolean =>
  cursor === undefined || redeem(provider, cursor) !== undefined
