/**
 * `bun scripts/packages/image.ts <base> <folder>`: carries out the Dockerfile in plain folders, for a machine without a container daemon.
 *
 * `base` is a clean Debian root, as `debootstrap --variant=minbase bookworm <base>` makes it. Each stage is a copy of it in `folder`; the last one is what the
 * image holds. Instructions run with `chroot`, as root. The stage with Node gets the node and npm of this machine.
 * It knows the instructions that our Dockerfile has, and fails on others. try-image.ts starts the result.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, realpathSync, rmSync } from "node:fs"
import { dirname, join, resolve } from "node:path"

const root = join(import.meta.dir, "..", "..")

export interface Instruction {
  readonly name: string
  readonly text: string
}

/** The instructions of a Dockerfile, with continued lines joined and comments left out. */
export const instructionsOf = (text: string): ReadonlyArray<Instruction> =>
  text
    .replace(/^#.*\n/gm, "")
    .replace(/\\\n\s*/g, " ")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
    .map((line) => ({ name: line.split(" ", 1)[0] ?? "", text: line.slice(line.indexOf(" ") + 1).trim() }))

/** What the image does when it is started. */
export interface Image {
  readonly folder: string
  readonly environment: Readonly<Record<string, string>>
  readonly user: string
  readonly workdir: string
  readonly entrypoint: ReadonlyArray<string>
  readonly command: ReadonlyArray<string>
  readonly healthcheck: ReadonlyArray<string>
}

const path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/** The command that runs something in a stage, with /proc and /dev as a container has them. The mounts end with it. */
export const inside = (stage: string, words: ReadonlyArray<string>): ReadonlyArray<string> => [
  "unshare",
  "--mount",
  "--propagation=private",
  "sh",
  "-c",
  'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && exec "$@"',
  stage,
  ...words
]

const must = (words: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) => {
  const { exitCode } = Bun.spawnSync([...words], {
    env: { PATH: path, ...env },
    stdout: "inherit",
    stderr: "inherit"
  })
  if (exitCode !== 0) throw new Error(`${words.join(" ")} ended with ${exitCode}`)
}

/** Where the authority that this machine's Node trusts lies in the stage that builds. */
const authority = "/usr/local/share/authority.pem"

/** Node and npm as the official image has them, and this machine's way to the registry. */
const addNode = (stage: string) => {
  const trusted = process.env["NODE_EXTRA_CA_CERTS"]
  if (trusted !== undefined && existsSync(trusted)) cpSync(trusted, join(stage, authority))
  const node = realpathSync(Bun.which("node") ?? "")
  const npm = join(dirname(realpathSync(Bun.which("npm") ?? "")), "..")
  cpSync(node, join(stage, "usr/local/bin/node"))
  cpSync(npm, join(stage, "usr/local/lib/node_modules/npm"), { recursive: true, dereference: true })
  must(["ln", "-sf", "../lib/node_modules/npm/bin/npm-cli.js", join(stage, "usr/local/bin/npm")])
}

/** Files that a build may read: those of the repository, without what .dockerignore names. */
const contextOf = (folder: string) => {
  const ignored = readFileSync(join(root, ".dockerignore"), "utf8").trim().split("\n")
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  must([
    "sh",
    "-c",
    `tar -C "$1" ${ignored.map((one) => `--exclude='./${one}'`).join(" ")} -cf - . | tar -C "$2" -xf -`,
    "sh",
    root,
    folder
  ])
  return folder
}

const jsonWords = (text: string): ReadonlyArray<string> => JSON.parse(text)

/** Carries the Dockerfile out. `settings` are variables of its commands, such as npm's registry. */
export const buildImage = (base: string, folder: string, settings: Readonly<Record<string, string>> = {}): Image => {
  const context = contextOf(join(folder, "context"))
  const stages = new Map<string, string>()
  let stage = ""
  let workdir = "/"
  let user = "0:0"
  let environment: Record<string, string> = {}
  let entrypoint: ReadonlyArray<string> = []
  let command: ReadonlyArray<string> = []
  let healthcheck: ReadonlyArray<string> = []
  for (const { name, text } of instructionsOf(readFileSync(join(root, "Dockerfile"), "utf8"))) {
    const words = text.split(/\s+/)
    switch (name) {
      case "FROM": {
        const [image = "", , label = "final"] = words
        stage = resolve(folder, label)
        stages.set(label, stage)
        rmSync(stage, { recursive: true, force: true })
        must(["cp", "-a", base, stage])
        if (existsSync("/etc/resolv.conf"))
          cpSync("/etc/resolv.conf", join(stage, "etc/resolv.conf"), { dereference: true })
        if (image.startsWith("node:")) addNode(stage)
        else if (!image.startsWith("debian:")) throw new Error(`FROM ${image} is not known here`)
        workdir = "/"
        user = "0:0"
        environment = {}
        break
      }
      case "WORKDIR":
        workdir = text
        mkdirSync(join(stage, text), { recursive: true })
        break
      case "COPY": {
        const from = /^--from=(\S+) /.exec(text)?.[1]
        const places = words.filter((word) => !word.startsWith("--"))
        const source = from === undefined ? context : (stages.get(from) ?? "")
        const to = resolve(
          join(stage, workdir),
          join(stage, places.at(-1)?.startsWith("/") === true ? "" : workdir, places.at(-1) ?? "")
        )
        for (const one of places.slice(0, -1)) {
          const isFolder = places.length === 2
          mkdirSync(isFolder ? to : join(stage, workdir), { recursive: true })
          must(isFolder ? ["cp", "-a", `${join(source, one)}/.`, to] : ["cp", "-a", join(source, one), to])
        }
        break
      }
      case "RUN":
        must(inside(stage, ["chroot", stage, "sh", "-c", `cd ${workdir} && ${text}`]), {
          HOME: "/root",
          ...(existsSync(join(stage, authority)) ? { NODE_EXTRA_CA_CERTS: authority } : {}),
          ...settings,
          ...environment
        })
        break
      case "ENV":
        for (const pair of words) environment[pair.split("=", 1)[0] ?? ""] = pair.slice(pair.indexOf("=") + 1)
        break
      case "USER":
        user = text
        break
      case "ENTRYPOINT":
        entrypoint = jsonWords(text)
        break
      case "CMD":
        command = jsonWords(text)
        break
      case "HEALTHCHECK":
        healthcheck = jsonWords(text.slice(text.indexOf("CMD ") + 4))
        break
      case "VOLUME":
      case "EXPOSE":
      case "STOPSIGNAL":
        break
      default:
        throw new Error(`${name} is not known here`)
    }
  }
  return { folder: stage, environment: { PATH: path, ...environment }, user, workdir, entrypoint, command, healthcheck }
}

/**
 * The command that runs something of the image as a container does: as its user, without capabilities, with a process space of its own, on a file
 * system that nothing can write but /tmp and /data. These two are empty, and gone when it ends. The network is that of the machine.
 */
export const contained = (image: Image, words: ReadonlyArray<string>): ReadonlyArray<string> => [
  "unshare",
  "--mount",
  "--pid",
  "--fork",
  "--kill-child",
  "--propagation=private",
  "sh",
  "-c",
  `root=$0 user=$1 && shift
mount --bind "$root" "$root" && mount -t proc proc "$root/proc" && mount --rbind /dev "$root/dev"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp" && mount -t tmpfs -o "mode=750,uid=\${user%:*},gid=\${user#*:}" tmpfs "$root/data"
mount -o remount,bind,ro "$root"
exec chroot "$root" setpriv --reuid="\${user%:*}" --regid="\${user#*:}" --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all "$@"`,
  image.folder,
  image.user,
  ...words
]

if (import.meta.main) {
  const [base, folder] = process.argv.slice(2)
  if (base === undefined || folder === undefined)
    throw new Error("usage: bun scripts/packages/image.ts <base> <folder>")
  const settings = Object.fromEntries(Object.entries(process.env).filter(([name]) => name.startsWith("npm_config_")))
  console.log(JSON.stringify(buildImage(base, folder, settings as Record<string, string>), null, 2))
}
