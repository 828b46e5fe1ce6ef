/**
 * The calls of `POST /mcp` that this process is answering, so that their hosts can call them off with `notifications/cancelled`.
 *
 * Hosts number their calls alike, and several hosts may share a key. So a call is named by the host's session id and the Authorization
 * header too: nobody calls off what another one has called. The session id is a name that nothing is stored under.
 */
import { Context } from "effect"

export interface OpenCall {
  /** The session at the MCP server that was opened for this call. */
  readonly session: string
  calledOff: boolean
}

/** The call that is being answered. */
export const CurrentCall = Context.Reference<OpenCall>("rungate/http/mcp/CurrentCall", {
  defaultValue: () => ({ session: "", calledOff: false })
})

export interface CallName {
  /** The host's session id. A host without one can't call off anything. */
  readonly host: string | undefined
  readonly authorization: string | null
  readonly id: string | number
}

const nameOf = ({ host, authorization, id }: CallName): string =>
  new Bun.CryptoHasher("sha256").update(JSON.stringify([host, authorization, id])).digest("base64")

export const openCalls = () => {
  const open = new Map<string, OpenCall>()
  return {
    add: (name: CallName, call: OpenCall): void => {
      if (name.host !== undefined) open.set(nameOf(name), call)
    },
    remove: (name: CallName, call: OpenCall): void => {
      const key = nameOf(name)
      if (open.get(key) === call) open.delete(key)
    },
    find: (name: CallName): OpenCall | null => open.get(nameOf(name)) ?? null
  }
}
