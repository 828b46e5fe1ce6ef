/** Global flags: every command accepts them, at any position. */

import { Flag, GlobalFlag } from "effect/cli"
import { text } from "../terminal/flags.ts"

export const Profile = GlobalFlag.Setting("profile")({
  flag: text("profile", "use this saved profile; the variable RUNGATE_PROFILE does the same")
})

export const NoColor = GlobalFlag.Setting("no-color")({
  flag: Flag.Boolean("no-color").pipe(Flag.withDescription("print without colors"), Flag.withDefault(false))
})

export const NoInput = GlobalFlag.Setting("no-input")({
  flag: Flag.Boolean("no-input").pipe(Flag.withDescription("never prompt"), Flag.withDefault(false))
})

export const Quiet = GlobalFlag.Setting("quiet")({
  flag: Flag.Boolean("quiet").pipe(
    Flag.withAlias("q"),
    Flag.withDescription("print JSON only, without progress messages; warnings and errors stay"),
    Flag.withDefault(false)
  )
})

export const Verbose = GlobalFlag.Setting("verbose")({
  flag: Flag.Boolean("verbose").pipe(
    Flag.withDescription("log each HTTP request, its status and its duration to stderr"),
    Flag.withDefault(false)
  )
})

export const globals = [Profile, NoColor, NoInput, Quiet, Verbose] as const
