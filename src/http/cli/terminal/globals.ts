/** Global flags: every command accepts them, at any position. */

import { Flag, GlobalFlag } from "effect/cli"
import { boolean, text } from "./flags.ts"

export const Profile = GlobalFlag.Setting("profile")({
  flag: text("profile", "use this saved profile; the variable RUNGATE_PROFILE does the same")
})

export const NoColor = GlobalFlag.Setting("no-color")({ flag: boolean("no-color", "print without colors") })

export const NoInput = GlobalFlag.Setting("no-input")({ flag: boolean("no-input", "never prompt") })

export const Quiet = GlobalFlag.Setting("quiet")({
  flag: boolean("quiet", "print JSON only, without progress messages; warnings and errors stay").pipe(
    Flag.withAlias("q")
  )
})

export const Verbose = GlobalFlag.Setting("verbose")({
  flag: boolean("verbose", "log each HTTP request, its status and its duration to stderr")
})

export const globals = [Profile, NoColor, NoInput, Quiet, Verbose] as const
