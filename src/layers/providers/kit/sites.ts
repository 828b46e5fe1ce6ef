/**
 * Limits a query to domains, for search engines that have operators in the query and no field for domains.
 */

export const withSites = (input: {
  readonly query: string
  readonly include_domains?: ReadonlyArray<string>
  readonly exclude_domains?: ReadonlyArray<string>
}): string => {
  const only = input.include_domains?.map((domain) => `site:${domain}`) ?? []
  return [
    input.query,
    ...(only.length > 1 ? [`(${only.join(" OR ")})`] : only),
    ...(input.exclude_domains?.map((domain) => `-site:${domain}`) ?? [])
  ].join(" ")
}
