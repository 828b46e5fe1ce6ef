/**
 * An OpenID provider over real HTTP: discovery, keys, codes that work once with their PKCE verifier, and ID tokens with real signatures.
 *
 * `person` is who signs in. `forge` replaces the ID token that the provider would send.
 */
import { createHash } from "node:crypto"
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose"

export interface Person extends JWTPayload {
  readonly sub: string
}

export const client = { id: "rungate", secret: "a secret of the tests" }

export const startOpenIdProvider = async () => {
  const key = await generateKeyPair("RS256")
  const foreign = await generateKeyPair("RS256")
  const jwk = { ...(await exportJWK(key.publicKey)), kid: "k1", alg: "RS256", use: "sig" }
  const codes = new Map<string, { readonly challenge: string; readonly redirect: string; readonly claims: Person }>()
  const state = {
    person: { sub: "nobody" } as Person,
    /** Claims that only the userinfo endpoint tells. */
    info: {} as Readonly<Record<string, unknown>>,
    forge: null as ((claims: Person) => string | Promise<string>) | null
  }
  const sign = (claims: JWTPayload, { issuer = url(), by = key.privateKey } = {}) =>
    new SignJWT(claims)
      .setProtectedHeader({ alg: "RS256", kid: "k1" })
      .setIssuer(issuer)
      .setAudience(typeof claims.aud === "string" ? claims.aud : client.id)
      .setIssuedAt()
      .setExpirationTime("5m")
      .sign(by)
  const tokenFor = async (form: URLSearchParams, authorization: string | null) => {
    const id = form.get("code") ?? ""
    const code = codes.get(id)
    codes.delete(id)
    const basic = Buffer.from(`${client.id}:${encodeURIComponent(client.secret).replaceAll("%20", "+")}`).toString(
      "base64"
    )
    const verifier = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url")
    if (authorization !== `Basic ${basic}`) return Response.json({ error: "invalid_client" }, { status: 401 })
    if (code === undefined || code.challenge !== verifier || code.redirect !== form.get("redirect_uri"))
      return Response.json({ error: "invalid_grant" }, { status: 400 })
    const id_token = await (state.forge ?? sign)(code.claims)
    return Response.json({ access_token: "at", token_type: "Bearer", expires_in: 60, id_token })
  }
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const { pathname, searchParams } = new URL(request.url)
      if (pathname === "/.well-known/openid-configuration")
        return Response.json({
          issuer: url(),
          authorization_endpoint: `${url()}/authorize`,
          token_endpoint: `${url()}/token`,
          userinfo_endpoint: `${url()}/userinfo`,
          jwks_uri: `${url()}/keys`,
          response_types_supported: ["code"],
          subject_types_supported: ["public"],
          // As a careless provider says it: "none" must be refused all the same.
          id_token_signing_alg_values_supported: ["RS256", "HS256", "none"]
        })
      if (pathname === "/keys") return Response.json({ keys: [jwk] })
      if (pathname === "/userinfo") return Response.json({ sub: state.person.sub, ...state.info })
      if (pathname === "/token")
        return tokenFor(new URLSearchParams(await request.text()), request.headers.get("authorization"))
      const code = crypto.randomUUID()
      const redirect = searchParams.get("redirect_uri") ?? ""
      const nonce = searchParams.get("nonce") ?? ""
      codes.set(code, {
        challenge: searchParams.get("code_challenge") ?? "",
        redirect,
        claims: { nonce, ...state.person }
      })
      return Response.redirect(`${redirect}?code=${code}&state=${searchParams.get("state")}`, 303)
    }
  })
  const url = (): string => `http://127.0.0.1:${server.port}`
  return {
    state,
    sign,
    foreignKey: foreign.privateKey,
    url: url(),
    settings: {
      RUNGATE_OIDC_ISSUER: url(),
      RUNGATE_OIDC_CLIENT_ID: client.id,
      RUNGATE_OIDC_CLIENT_SECRET: client.secret
    },
    stop: () => server.stop(true)
  }
}
export type OpenIdProvider = Awaited<ReturnType<typeof startOpenIdProvider>>

/** A browser: its cookies, and requests that follow no redirect. */
export const browserAt = (address: string) => {
  const cookies = new Map<string, string>()
  const go = async (to: string) => {
    const headers = { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join("; ") }
    const response = await fetch(new URL(to, address), { redirect: "manual", headers })
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === "" || /max-age=0\b/i.test(line)) cookies.delete(name)
      else cookies.set(name, value)
    }
    return {
      status: response.status,
      location: response.headers.get("location") ?? "",
      text: await response.text(),
      cookies: response.headers.getSetCookie()
    }
  }
  return {
    go,
    cookies,
    /** The address with the code to which the provider sends this browser. */
    callback: async (next = "/") => {
      const start = await go(`/auth/openid?next=${encodeURIComponent(next)}`)
      const sent = await fetch(start.location, { redirect: "manual" })
      return sent.headers.get("location") ?? ""
    }
  }
}
