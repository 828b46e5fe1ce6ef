/**
 * The list of capabilities, in the order in which the catalog shows them.
 *
 * Adding one is a file beside this one and a line here.
 */
import type { Capability } from "../Capability.ts"
import { companyEnrich } from "./company.enrich.ts"
import { emailFind } from "./email.find.ts"
import { emailSend } from "./email.send.ts"
import { emailVerify } from "./email.verify.ts"
import { peopleEnrich } from "./people.enrich.ts"
import { peopleSearch } from "./people.search.ts"
import { webSearch } from "./web.search.ts"

export const capabilities: ReadonlyArray<Capability> = [
  peopleSearch,
  peopleEnrich,
  emailFind,
  emailVerify,
  companyEnrich,
  webSearch,
  emailSend
]
