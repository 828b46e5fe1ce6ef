/**
 * fal: images and videos from text.
 *
 * Never raw. A job is queued, asked about and fetched, at the addresses that the queue answers with; only their paths are used,
 * so that the account's key goes to no other host. A job that was queued is never queued again: a restart asks on.
 */
import type { Schema } from "effect"
import type { InputOf } from "../../schema/catalog/Capability.ts"
import { creativeImage, creativeImageDefaultCount } from "../../schema/capabilities/creative.image.ts"
import { creativeVideo, creativeVideoDefaultSeconds } from "../../schema/capabilities/creative.video.ts"
import { metered } from "../../schema/money/Pricing.ts"
import { type Call, type Cost, offer, type Outcome, provider, type Reply } from "../../schema/catalog/Provider.ts"
import { cost, match, noMatch } from "./kit/outcome.ts"
import { at, list, number, text, whole } from "./kit/read.ts"
import { refusal, httpErrors, unreadable } from "./kit/httpErrors.ts"
import { defined } from "../../schema/defined.ts"

/** "/fal-ai/flux/requests/764cabcf-b745": of an answer, and of a stored state. */
const jobPath = /^(\/[A-Za-z0-9][A-Za-z0-9._-]*){1,6}\/requests\/[A-Za-z0-9-]{1,64}$/

type Stage = "queued" | "done"
const stageOf = (state: Schema.Json): Stage => (text(state, "stage") === "done" ? "done" : "queued")

/** The path of the job that an address names, without what follows it. */
const pathOf = (address: string | null): string | null => {
  const path = URL.parse(address ?? "")?.pathname.replace(/\/status$/, "") ?? null
  return path !== null && jobPath.test(path) ? path : null
}

const waiting = (path: string, stage: Stage, afterMillis: number): Outcome<never> => ({
  _tag: "Again",
  state: { path, stage },
  afterMillis,
  job: true
})

const jobCall = (state: Schema.Json): Call => {
  const path = text(state, "path") ?? ""
  if (!jobPath.test(path)) throw new Error("the stored state names no job")
  return { method: "GET", path: stageOf(state) === "done" ? path : `${path}/status` }
}

/** Policies on content are answers to the prompt, and no error. */
const refusedContent = (reply: Reply): boolean =>
  reply.status === 422 && text(reply.body, "detail", 0, "type") === "content_policy_violation"

/** Trouble of the queue and not of the job, which goes on and costs: asking again is all there is to do. */
const hiccup = (reply: Reply, state: Schema.Json): boolean =>
  state !== null && [502, 503, 504, ...(stageOf(state) === "done" ? [] : [500])].includes(reply.status)

/** What is not the job's result yet, or never will be; undefined when the reply is the result. */
const unfinished = (reply: Reply, state: Schema.Json, pauseMillis: number): Outcome<never> | undefined => {
  if (refusedContent(reply)) return noMatch("the provider refuses to make this")
  if (hiccup(reply, state)) return waiting(text(state, "path") ?? "", stageOf(state), 2 * pauseMillis)
  if (reply.status >= 400) return refusal(reply)
  if (state === null) {
    const path = pathOf(text(reply.body, "response_url")) ?? pathOf(text(reply.body, "status_url"))
    return path === null ? unreadable("address of the job") : waiting(path, "queued", pauseMillis)
  }
  if (stageOf(state) === "done") return undefined
  const path = text(state, "path") ?? ""
  const status = text(reply.body, "status")
  if (status === "COMPLETED") return waiting(path, "done", 0)
  if (status === "IN_QUEUE" || status === "IN_PROGRESS") return waiting(path, "queued", pauseMillis)
  return unreadable("status of the job")
}

const sizes = {
  "1:1": "square_hd",
  "4:3": "landscape_4_3",
  "3:4": "portrait_4_3",
  "16:9": "landscape_16_9",
  "9:16": "portrait_16_9"
} as const

type ImageInput = InputOf<typeof creativeImage>

const priced = "fal-ai/flux/dev"
const modelOf = (input: ImageInput) => input.model ?? priced

/** The units that a result took; only one model's price of a unit is published. */
const imageCost = (reply: Reply, model: string): Cost | null => {
  const units = number(reply.headers, "x-fal-billable-units")
  return units === null || model !== priced ? null : cost("USD", units * 0.025)
}

const image = offer(creativeImage, {
  // $0.025 per image × 1.2
  price: metered("0", "0.03", creativeImageDefaultCount),
  note: "Published rate of fal-ai/flux/dev, $0.025 per image; fal-ai/flux/schnell costs less.",
  wraps: [],
  // Only one of the models starts from a picture.
  serves: (input) => input.reference_image_url === undefined || modelOf(input) === priced,
  request: (input) => ({
    method: "POST",
    path: `/${modelOf(input)}${input.reference_image_url === undefined ? "" : "/image-to-image"}`,
    body: {
      prompt: input.prompt,
      num_images: input.count ?? creativeImageDefaultCount,
      ...(input.reference_image_url === undefined
        ? { image_size: sizes[input.aspect_ratio ?? "1:1"] }
        : { image_url: input.reference_image_url }),
      ...defined({ seed: input.seed })
    }
  }),
  next: jobCall,
  response: (reply, input, state) => {
    const left = unfinished(reply, state, 1_000)
    if (left !== undefined) return left
    const images = list(reply.body, "images")
    if (images === null) return unreadable("images")
    const items = images.slice(0, input.count ?? creativeImageDefaultCount).flatMap((one) => {
      const url = text(one, "url")
      const size = { width: whole(one, "width"), height: whole(one, "height") }
      return url === null ? [] : [{ url, ...size, content_type: text(one, "content_type") }]
    })
    if (items.length === 0) return noMatch("no image was made", imageCost(reply, modelOf(input)))
    const flags = list(reply.body, "has_nsfw_concepts")
    return match(
      {
        items,
        total: items.length,
        next_cursor: null,
        seed: whole(reply.body, "seed"),
        model: modelOf(input),
        nsfw_flagged: flags === null ? null : flags.some((one) => one === true)
      },
      imageCost(reply, modelOf(input))
    )
  },
  timeoutMillis: 180_000
})

type VideoInput = InputOf<typeof creativeVideo>

/** The family whose price the hold covers; another model may cost ten times as much. */
const family = "fal-ai/kling-video/v1.6/standard"
const families = ["fal-ai/kling-video", "fal-ai/kling-video/v1.6", family]
const lengths = [5, 10]
const secondsOf = (input: VideoInput) => input.duration_seconds ?? creativeVideoDefaultSeconds
const videoModel = (input: VideoInput) => `${family}/${input.image_url === undefined ? "text" : "image"}-to-video`

const video = offer(creativeVideo, {
  // $0.10 per second × 1.2
  price: metered("0", "0.12", creativeVideoDefaultSeconds),
  note: `Assumed at $0.10 per second; models differ by a factor of ten. ${family} makes clips of 5 or 10 seconds.`,
  wraps: [],
  serves: (input) =>
    lengths.includes(secondsOf(input)) &&
    (input.aspect_ratio === undefined || ["1:1", "16:9", "9:16"].includes(input.aspect_ratio)) &&
    (input.model === undefined || families.includes(input.model) || input.model === videoModel(input)),
  request: (input) => ({
    method: "POST",
    path: `/${videoModel(input)}`,
    body: {
      prompt: input.prompt,
      duration: String(secondsOf(input)),
      ...defined({ image_url: input.image_url, aspect_ratio: input.aspect_ratio })
    }
  }),
  next: jobCall,
  response: (reply, input, state) => {
    const left = unfinished(reply, state, 5_000)
    if (left !== undefined) return left
    const made = at(reply.body, "video")
    const url = text(made, "url")
    if (url === null) return unreadable("video")
    const told = whole(made, "duration")
    return match({
      url,
      content_type: text(made, "content_type"),
      // Never more than was asked for, which is what is charged.
      duration_seconds: told === null || told < 1 ? secondsOf(input) : Math.min(told, secondsOf(input)),
      model: videoModel(input)
    })
  },
  timeoutMillis: 600_000
})

export const fal = provider({
  slug: "fal",
  title: "fal",
  homepage: "https://fal.ai",
  base_url: "https://queue.fal.run",
  auth: { kind: "header", name: "authorization", prefix: "Key " },
  excluded: "Generative media is not offered raw; use creative.image or creative.video.",
  concurrency: 10,
  // A video takes minutes.
  timeoutMillis: 300_000,
  httpErrors: httpErrors({
    // A refusal of the content, and trouble while a job goes on, which the offers tell from the rest.
    answers: [422, 500, 502, 503, 504]
  }),
  offers: [image, video]
})
