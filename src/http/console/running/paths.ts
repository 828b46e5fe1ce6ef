/** Addresses of the catalog's pages. */

export const capabilityPage = (capability: string): string => `/catalog/${encodeURIComponent(capability)}`

/** An endpoint's path follows the provider as it is. The method is needed where a path has several. */
export const endpointPage = (provider: string, endpoint: string, method: string): string => {
  const path = encodeURI(endpoint.replace(/^\//, "")).replaceAll("?", "%3F").replaceAll("#", "%23")
  return `/catalog/${encodeURIComponent(provider)}/${path}?method=${method}`
}
