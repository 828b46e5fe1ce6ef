/**
 * Reads the credits that every LeadMagic answer reports, with fractions. A miss reports zero.
 */
import type { Reply } from "../../../schema/catalog/Provider.ts"
import { cost } from "../kit/outcome.ts"

export const note = "Published rate of the Basic plan, the smallest; larger plans pay $0.01 per credit and less."

export const consumed = (reply: Reply) => cost("credit", reply.body, "credits_consumed")
