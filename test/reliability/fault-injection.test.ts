/** T12 store.fault_injection, every few fault points, others each time; the chaos tests try them all. */
import { faultSuite } from "../faults/suite.ts"

faultSuite(24)
