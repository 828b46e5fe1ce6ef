/**
 * The list of capabilities, in the order in which the catalog shows them.
 *
 * To add one, add a file beside this one and a line here.
 */
import type { Capability } from "../catalog/Capability.ts"
import { adsSearch } from "./ads.search.ts"
import { companyEnrich } from "./company.enrich.ts"
import { companySearch } from "./company.search.ts"
import { companyTech } from "./company.tech.ts"
import { creativeImage } from "./creative.image.ts"
import { creativeVideo } from "./creative.video.ts"
import { domainCheck } from "./domain.check.ts"
import { domainRegister } from "./domain.register.ts"
import { emailFind } from "./email.find.ts"
import { emailInboxCreate } from "./email.inbox_create.ts"
import { emailInboxList } from "./email.inbox_list.ts"
import { emailMessages } from "./email.messages.ts"
import { emailSend } from "./email.send.ts"
import { emailVerify } from "./email.verify.ts"
import { govContracts } from "./gov.contracts.ts"
import { govEntity } from "./gov.entity.ts"
import { govFilings } from "./gov.filings.ts"
import { jobsSearch } from "./jobs.search.ts"
import { networkInvite } from "./network.invite.ts"
import { networkMessage } from "./network.message.ts"
import { networkProfile } from "./network.profile.ts"
import { newsSearch } from "./news.search.ts"
import { peopleEnrich } from "./people.enrich.ts"
import { peopleSearch } from "./people.search.ts"
import { phoneFind } from "./phone.find.ts"
import { phoneLookup } from "./phone.lookup.ts"
import { placesSearch } from "./places.search.ts"
import { seoBacklinks } from "./seo.backlinks.ts"
import { seoDomain } from "./seo.domain.ts"
import { seoKeywords } from "./seo.keywords.ts"
import { serpSearch } from "./serp.search.ts"
import { socialPosts } from "./social.posts.ts"
import { socialProfile } from "./social.profile.ts"
import { webScrape } from "./web.scrape.ts"
import { webSearch } from "./web.search.ts"

export const capabilities: ReadonlyArray<Capability> = [
  peopleSearch,
  peopleEnrich,
  emailFind,
  emailVerify,
  phoneFind,
  phoneLookup,
  companyEnrich,
  companySearch,
  companyTech,
  jobsSearch,
  webSearch,
  webScrape,
  serpSearch,
  placesSearch,
  newsSearch,
  seoKeywords,
  seoBacklinks,
  seoDomain,
  socialProfile,
  socialPosts,
  adsSearch,
  networkProfile,
  networkInvite,
  networkMessage,
  emailSend,
  emailInboxCreate,
  emailInboxList,
  emailMessages,
  domainCheck,
  domainRegister,
  creativeImage,
  creativeVideo,
  govFilings,
  govContracts,
  govEntity
]
