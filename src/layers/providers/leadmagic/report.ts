/**
 * Reads the credits that every LeadMagic answer reports, with fractions. A miss reports zero.
 */
import type { Reply } from "../../../schema/catalog/Provider.ts"
import { cost } from "../kit/outcome.ts"

export const note = "Published plans range from about $0.01 to $0.024 per credit; priced at the lower one."

export const consumed = (reply: Reply) => cost("credit", reply.body, "credits_consumed")
