/** The capabilities that a batch can run, and the form of their inputs. */
import { useQuery } from "@tanstack/react-query"
import type { AnswerOf } from "../../../../client/Browser.ts"
import { api } from "../../../data/api.ts"
import { formOf } from "./inputs.ts"

type Page = Extract<AnswerOf<"discovery", "capabilities">, { readonly items: unknown }>
export type Capability = Page["items"][number]

const pageSize = 200

const allCapabilities = async (): Promise<ReadonlyArray<Capability>> => {
  const all: Array<Capability> = []
  let cursor = ""
  do {
    const page = await api.discovery.capabilities({
      query: { limit: pageSize, ...(cursor === "" ? {} : { cursor }) }
    })
    if (page === undefined) break
    all.push(...page.items)
    cursor = page.next_cursor ?? ""
  } while (cursor !== "")
  return all
}

export const useCapabilities = () =>
  useQuery({ queryKey: ["capabilities"], queryFn: allCapabilities, staleTime: 300_000 })

/** Null for a capability that does not exist. */
export const useForm = (capability: string) =>
  useQuery({
    queryKey: ["capability", capability, "form"],
    queryFn: async () => {
      const found = await api.catalog.inspect({ payload: { capability } })
      return "input_schema" in found ? formOf(found.input_schema) : null
    },
    enabled: capability !== "",
    staleTime: 300_000
  })
