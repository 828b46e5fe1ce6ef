/**
 * The list of providers.
 *
 * Adding one is a file beside this one and a line here.
 */
import type { Provider } from "../../schema/Provider.ts"

export const providers: ReadonlyArray<Provider> = []
