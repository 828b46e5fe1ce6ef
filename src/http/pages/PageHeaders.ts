/** Headers of pages that run scripts of this service: no other origin, no inline script, no frame around them, and no device. */

const directives = {
  "default-src": "'none'",
  "script-src": "'self'",
  "style-src": "'self'",
  "img-src": "'self' data:",
  "font-src": "'self'",
  "connect-src": "'self'",
  "form-action": "'self'",
  "base-uri": "'none'",
  "frame-ancestors": "'none'"
}

/** For the pages and their files. */
export const fileHeaders = { "x-content-type-options": "nosniff", "cross-origin-resource-policy": "same-origin" }

/** `changes`: the directives in which a page differs. */
export const pageHeaders = (changes: Readonly<Record<string, string>>) => ({
  ...fileHeaders,
  "content-security-policy": Object.entries({ ...directives, ...changes })
    .map((one) => one.join(" "))
    .join("; "),
  "cross-origin-opener-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=()",
  "referrer-policy": "no-referrer",
  "x-frame-options": "DENY"
})
