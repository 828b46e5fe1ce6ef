/** Whether the palette is open, and the dialog of shortcuts: either opens from the frame, from keys and from the rail. */
import { makeStore } from "../data/store.ts"

/** The frame of a customer's session, or of the operator's. */
export type FrameKind = "session" | "operator"

export const overlay = makeStore<"palette" | "help" | null>(null)
export const openPalette = (): void => overlay.set("palette")
export const closeOverlay = (): void => overlay.set(null)
