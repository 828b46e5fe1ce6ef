/** Saves a text or a file of the service on the person's machine. */
import { request } from "./api.ts"

export const save = (content: Blob | string, name: string, type = "text/csv;charset=utf-8"): void => {
  const link = document.createElement("a")
  link.href = URL.createObjectURL(typeof content === "string" ? new Blob([content], { type }) : content)
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}

/** Saves what the service answers at an address in one of its forms. */
export const saveAnswer = async (address: string, accept: string, name: string): Promise<Response> => {
  const response = await request("GET", address, {}, { headers: { accept } })
  save(await response.blob(), name)
  return response
}
