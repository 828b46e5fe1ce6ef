/** The form of a capability's input. */
import { useQuery } from "@tanstack/react-query"
import { api } from "../../../data/api.ts"
import { catalogStaleMillis } from "../../../data/capabilities.ts"
import { formOf } from "./inputs.ts"

/** Null for a capability that does not exist. */
export const useForm = (capability: string) =>
  useQuery({
    queryKey: ["capability", capability, "form"],
    queryFn: async () => {
      const contract = await api.catalog.inspect({ payload: { capability } })
      return "input_schema" in contract ? formOf(contract.input_schema) : null
    },
    enabled: capability !== "",
    staleTime: catalogStaleMillis
  })
