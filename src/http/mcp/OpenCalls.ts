/**
 * The calls of `POST /mcp` that this process is answering, so that their hosts can call them off with `notifications/cancelled`.
 *
 * Hosts number their calls alike, and several hosts may share a key. So a call is named by the host's session id and the Authorization
 * header too: nobody calls off what another one has called. The session id is a name that nothing is stored under. A call's name is a digest,
 * which processes may tell each other.
 */
import { Context } from "effect"

export interface OpenCall {
  /** The session at the MCP server that was opened for this call. */
  readonly session: string
  readonly revision: string
  readonly id: string | number
  calledOff: boolean
}

/** What answers a request that no host can call off. */
export const nobodysCall: OpenCall = { session: "", revision: "", id: "", calledOff: false }

/** The call that is being answered. */
export const CurrentCall = Context.Reference<OpenCall>("rungate/http/mcp/CurrentCall", {
  defaultValue: () => nobodysCall
})

/** `host` is its session id. */
export const callName = (host: string, authorization: string | null, id: string | number): string =>
  `mcp_${new Bun.CryptoHasher("sha256").update(JSON.stringify([host, authorization, id])).digest("base64url")}`

export const openCalls = () => {
  const open = new Map<string, OpenCall>()
  return {
    add: (name: string, call: OpenCall): void => void open.set(name, call),
    remove: (name: string, call: OpenCall): void => {
      if (open.get(name) === call) open.delete(name)
    },
    find: (name: string): OpenCall | null => open.get(name) ?? null
  }
}
