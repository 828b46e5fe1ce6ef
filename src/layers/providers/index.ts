/**
 * The list of providers.
 *
 * Adding one is a file beside this one and a line here.
 */
import type { Provider } from "../../schema/Provider.ts"
import { exa } from "./exa.ts"
import { hunter } from "./hunter.ts"
import { leadmagic } from "./leadmagic.ts"
import { peopledatalabs } from "./peopledatalabs.ts"
import { resend } from "./resend.ts"
import { serper } from "./serper.ts"
import { zerobounce } from "./zerobounce.ts"

export const providers: ReadonlyArray<Provider> = [hunter, leadmagic, peopledatalabs, zerobounce, exa, serper, resend]
