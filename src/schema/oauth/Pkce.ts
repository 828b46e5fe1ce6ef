/** PKCE with S256, the only method here (RFC 7636). Pure. */

/** A challenge is the base64url of a SHA-256 digest. */
export const challengeForm = /^[A-Za-z0-9_-]{43}$/
const verifierForm = /^[A-Za-z0-9._~-]{43,128}$/

export const provesChallenge = (verifier: string, challenge: string): boolean =>
  verifierForm.test(verifier) && new Bun.CryptoHasher("sha256").update(verifier).digest("base64url") === challenge
