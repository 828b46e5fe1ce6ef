/** T12 store.fault_injection, every fault point of every flow. */
import { faultSuite } from "../faults/suite.ts"

faultSuite()
