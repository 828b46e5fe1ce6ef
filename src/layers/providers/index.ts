/**
 * The list of providers.
 *
 * Adding one is a file beside this one and a line here.
 */
import type { Provider } from "../../schema/Provider.ts"
import { exa } from "./exa.ts"
import { firecrawl } from "./firecrawl.ts"
import { hunter } from "./hunter.ts"
import { leadmagic } from "./leadmagic.ts"
import { peopledatalabs } from "./peopledatalabs.ts"
import { postmark } from "./postmark.ts"
import { prospeo } from "./prospeo.ts"
import { resend } from "./resend.ts"
import { serper } from "./serper.ts"
import { tavily } from "./tavily.ts"
import { zerobounce } from "./zerobounce.ts"

export const providers: ReadonlyArray<Provider> = [
  hunter,
  leadmagic,
  prospeo,
  peopledatalabs,
  zerobounce,
  exa,
  serper,
  tavily,
  firecrawl,
  resend,
  postmark
]
