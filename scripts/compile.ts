/**
 * `bun scripts/compile.ts [target]`: the `rungate` command as one file, dist/rungate, that needs neither Node nor packages.
 *
 * A target such as bun-darwin-arm64 or bun-linux-x64-musl makes the file of another machine. It holds the client's and the operator's commands;
 * what needs files of the package (`serve`, `catalog`) says so.
 */
import { join } from "node:path"

const root = join(import.meta.dir, "..")
const targets = /^bun-(linux|darwin|windows)-(x64|arm64)(-musl)?(-baseline|-modern)?$/
const isTarget = (text: string): text is Bun.Build.CompileTarget => targets.test(text)

const [target, folder = join(root, "dist")] = process.argv.slice(2)
if (target !== undefined && target !== "" && !isTarget(target)) {
  console.error(`rungate: "${target}" is no target; one is bun-linux-arm64`)
  process.exit(5)
}
const suffix = target === undefined || target === "" ? "" : target.replace(/^bun/, "")
const outfile = join(folder, `rungate${suffix}`)
const { outputs } = await Bun.build({
  entrypoints: [join(root, "src", "main.ts")],
  compile: {
    outfile,
    ...(target !== undefined && isTarget(target) ? { target } : {}),
    // The folder that somebody stands in must neither set the service's address nor run code.
    autoloadDotenv: false,
    autoloadBunfig: false
  },
  minify: true,
  // It starts in a third of the time: nothing is left to parse. What another machine's Bun would take is not known here.
  ...(suffix === "" ? { bytecode: true, format: "esm" } : {})
})
console.log(outputs[0]?.path ?? outfile)
