/** Flags that every command takes, wherever they stand. */
import { Option } from "effect"
import { Flag, GlobalFlag } from "effect/cli"

export const Profile = GlobalFlag.Setting("profile")({
  flag: Flag.String("profile").pipe(
    Flag.withDescription("saved credentials to use; RUNGATE_PROFILE names them too"),
    Flag.optional,
    Flag.map(Option.getOrNull)
  )
})

export const NoColor = GlobalFlag.Setting("no-color")({
  flag: Flag.Boolean("no-color").pipe(Flag.withDescription("print without colors"), Flag.withDefault(false))
})

export const NoInput = GlobalFlag.Setting("no-input")({
  flag: Flag.Boolean("no-input").pipe(Flag.withDescription("never ask"), Flag.withDefault(false))
})

export const Quiet = GlobalFlag.Setting("quiet")({
  flag: Flag.Boolean("quiet").pipe(
    Flag.withAlias("q"),
    Flag.withDescription("print the data as JSON, and nothing else but errors"),
    Flag.withDefault(false)
  )
})

export const Verbose = GlobalFlag.Setting("verbose")({
  flag: Flag.Boolean("verbose").pipe(
    Flag.withDescription("say on stderr what is asked of the service, and how long it takes"),
    Flag.withDefault(false)
  )
})

export const globals = [Profile, NoColor, NoInput, Quiet, Verbose] as const
