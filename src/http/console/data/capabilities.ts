/** The list of capabilities, one for the whole console. It changes with imports only, so it stays fresh for minutes. */
import { api, useRead } from "./api.ts"

export const catalogStaleMillis = 300_000
/** There are fewer capabilities than one page takes. */
const most = 200

export const useCapabilities = () =>
  useRead(
    ["catalog", "capabilities"],
    async () => (await api.discovery.capabilities({ query: { limit: most } }))?.items ?? [],
    { staleTime: catalogStaleMillis }
  )
