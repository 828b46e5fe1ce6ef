/**
 * The list of all providers that Rungate has an adapter for.
 *
 * To add one, create a file beside this one and add a line here.
 */
import type { Provider } from "../../schema/catalog/Provider.ts"
import { agentmail } from "./agentmail.ts"
import { apify } from "./apify/index.ts"
import { apollo } from "./apollo/index.ts"
import { brave } from "./brave.ts"
import { builtwith } from "./builtwith.ts"
import { crustdata } from "./crustdata/index.ts"
import { dataforseo } from "./dataforseo/index.ts"
import { edges } from "./edges.ts"
import { ensembledata } from "./ensembledata.ts"
import { exa } from "./exa.ts"
import { fal } from "./fal.ts"
import { findymail } from "./findymail.ts"
import { firecrawl } from "./firecrawl.ts"
import { fullenrich } from "./fullenrich.ts"
import { hasdata } from "./hasdata.ts"
import { hunter } from "./hunter.ts"
import { icypeas } from "./icypeas.ts"
import { leadmagic } from "./leadmagic/index.ts"
import { lusha } from "./lusha.ts"
import { millionverifier } from "./millionverifier.ts"
import { neverbounce } from "./neverbounce.ts"
import { parallel } from "./parallel.ts"
import { peopledatalabs } from "./peopledatalabs.ts"
import { porkbun } from "./porkbun.ts"
import { postmark } from "./postmark.ts"
import { predictleads } from "./predictleads.ts"
import { prospeo } from "./prospeo/index.ts"
import { resend } from "./resend.ts"
import { scrapecreators } from "./scrapecreators/index.ts"
import { secEdgar } from "./sec_edgar/index.ts"
import { seranking } from "./seranking.ts"
import { serper } from "./serper.ts"
import { snovio } from "./snovio.ts"
import { tavily } from "./tavily.ts"
import { theirstack } from "./theirstack.ts"
import { tomba } from "./tomba.ts"
import { twilioLookup } from "./twilio_lookup.ts"
import { unipile } from "./unipile.ts"
import { usaspending } from "./usaspending.ts"
import { zerobounce } from "./zerobounce.ts"

export const providers: ReadonlyArray<Provider> = [
  hunter,
  leadmagic,
  prospeo,
  peopledatalabs,
  apollo,
  crustdata,
  findymail,
  icypeas,
  lusha,
  fullenrich,
  tomba,
  snovio,
  zerobounce,
  neverbounce,
  millionverifier,
  twilioLookup,
  exa,
  serper,
  hasdata,
  tavily,
  brave,
  parallel,
  firecrawl,
  dataforseo,
  seranking,
  theirstack,
  builtwith,
  predictleads,
  apify,
  scrapecreators,
  ensembledata,
  unipile,
  edges,
  resend,
  postmark,
  agentmail,
  porkbun,
  fal,
  secEdgar,
  usaspending
]
