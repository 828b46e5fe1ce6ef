/** The list of capabilities, one for the whole console. It changes with imports only, so it stays fresh for minutes. */
import { useQuery } from "@tanstack/react-query"
import { api } from "./api.ts"

export const catalogStaleMillis = 300_000
/** There are fewer capabilities than one page takes. */
const most = 200

export const useCapabilities = () =>
  useQuery({
    queryKey: ["catalog", "capabilities"],
    queryFn: async () => (await api.discovery.capabilities({ query: { limit: most } }))?.items ?? [],
    staleTime: catalogStaleMillis
  })
