/** Requests to `POST /mcp` as they are on the wire, for what no client of the protocol would send. */
import type { Arguments } from "./cli/host.ts"

export interface Post {
  readonly url?: string
  readonly key?: string | null
  readonly headers?: Record<string, string>
  readonly signal?: AbortSignal
}
/** A request as it is, without a client's help. */
export const postTo = (
  service: string,
  message: unknown,
  { url = service, key = null, headers = {}, ...more }: Post = {}
) =>
  fetch(`${url}/mcp`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2025-11-25",
      ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      ...headers
    },
    body: typeof message === "string" ? message : JSON.stringify(message),
    ...more
  })
export const calling = (name: string, given: Arguments = {}, id: number | string = 1, more: Arguments = {}) => ({
  jsonrpc: "2.0",
  id,
  method: "tools/call",
  params: { name, arguments: given, ...more }
})
export const hello = {
  jsonrpc: "2.0",
  id: 0,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "raw", version: "1" } }
}
/** Of the revision that has no sessions: what every request says, beside headers. */
export const _meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": hello.params.clientInfo,
  "io.modelcontextprotocol/clientCapabilities": {}
}
export const modern = (name: string) => ({
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": "tools/call",
  "mcp-name": name
})
