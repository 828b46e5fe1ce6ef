/** Creates our ids. This is the only module that reads the clock for them. */
import { makeId, type Prefix } from "../../schema/Ids.ts"

export const newId = (prefix: Prefix): string => makeId(prefix, Date.now())
