/** An operator's session over real HTTP, as the console has it: a printed link, used once, and a cookie from then on. */
import { expect } from "bun:test"
import { digest, randomText } from "../../../src/layers/accounts/Secrets.ts"
import { newId } from "../../../src/layers/platform/Ids.ts"
import type { App, Reply } from "../../kit/app.ts"

/** The headers that a browser and the console add to a request of the service's own page. */
export const ownPage = (app: App) => ({ origin: app.url, "sec-fetch-site": "same-origin", "x-rungate-console": "1" })

/** The cookie as a browser sends it back. */
export const cookieOf = (reply: Reply): string => (reply.headers.get("set-cookie") ?? "").split(";")[0] ?? ""

/** A link as `rungate admin console` makes it, without the process. `age` is a PostgreSQL interval. */
export const printedLink = async (app: App, name: string | null = "grace", age = "0 seconds"): Promise<string> => {
  const token = `rg_operator_${randomText(43)}`
  await app.sql(
    `INSERT INTO operator_links (link_id, token_hash, operator, created_at, expires_at)
     VALUES ($1, $2, $3, now() - $4::interval, now() - $4::interval + interval '10 minutes')`,
    [newId("opl"), Buffer.from(digest(token)), name, age]
  )
  return token
}

export const signIn = (app: App, token: string, headers: Readonly<Record<string, string>> = {}): Promise<Reply> =>
  app.call(null, "POST", "/v1/operator/sign-in", { body: { token }, headers: { ...ownPage(app), ...headers } })

export interface OperatorTab {
  readonly cookie: string
  readonly get: (path: string) => Promise<Reply>
  readonly post: (path: string, body?: unknown) => Promise<Reply>
}

export const operatorOf = async (app: App, name: string | null = "grace"): Promise<OperatorTab> => {
  const opened = await signIn(app, await printedLink(app, name))
  expect(opened.status).toBe(200)
  const cookie = cookieOf(opened)
  const headers = { ...ownPage(app), cookie }
  return {
    cookie,
    get: (path) => app.call(null, "GET", `/v1/operator${path}`, { headers: { cookie } }),
    post: (path, body) =>
      app.call(null, "POST", `/v1/operator${path}`, { headers, ...(body === undefined ? {} : { body }) })
  }
}

/** A document with an operation for each path, as an operator imports it. */
export const openApi = (...paths: ReadonlyArray<string>) =>
  JSON.stringify({
    openapi: "3.1.0",
    info: { title: "Example", version: "1" },
    servers: [{ url: "https://api.example.com" }],
    paths: Object.fromEntries(
      paths.map((path) => [path, { get: { summary: "Read it", responses: { 200: { description: "ok" } } } }])
    )
  })
