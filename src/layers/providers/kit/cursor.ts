/**
 * Page cursors that name the provider that issued them.
 *
 * A second page asked of another provider would be nonsense, so an offer serves only its own cursors and first pages.
 */

export const issue = (provider: string, token: string | null): string | null =>
  token === null ? null : `${provider}:${token}`

/** The provider's own token, or undefined when the cursor is not this provider's. */
export const redeem = (provider: string, cursor: string | undefined): string | undefined =>
  cursor?.startsWith(`${provider}:`) === true ? cursor.slice(provider.length + 1) : undefined

/** First pages are anybody's. */
export const accepts = (provider: string, cursor: string | undefined): boolean =>
  cursor === undefined || redeem(provider, cursor) !== undefined
