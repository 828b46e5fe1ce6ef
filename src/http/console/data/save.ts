/** Saves a text or a file of the service on the person's machine. */

export const save = (content: Blob | string, name: string, type = "text/csv;charset=utf-8"): void => {
  const link = document.createElement("a")
  link.href = URL.createObjectURL(typeof content === "string" ? new Blob([content], { type }) : content)
  link.download = name
  link.click()
  URL.revokeObjectURL(link.href)
}
