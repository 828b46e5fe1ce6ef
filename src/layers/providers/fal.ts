/**
 * Adapter for fal: makes images and videos from text. No raw endpoints.
 *
 * A job is queued, polled and fetched at the URLs that fal returns. Only their paths are used, so that the account's key is sent to no
 * other host. The job is stored, so a restarted worker continues to poll and never queues it again.
 */
import type { Schema } from "effect"
import type { InputOf } from "../../schema/catalog/Capability.ts"
import { creativeImage, creativeImageDefaultCount } from "../../schema/capabilities/creative.image.ts"
import { creativeVideo, creativeVideoDefaultSeconds } from "../../schema/capabilities/creative.video.ts"
import { inUsd } from "../../schema/money/Rates.ts"
import { type Call, type Cost, offer, type Outcome, provider, type Reply } from "../../schema/catalog/Provider.ts"
import { cost, httpErrors, match, noMatch, refusal, unreadable } from "./kit/outcome.ts"
import { at, list, number, text, whole } from "./kit/read.ts"
import { defined } from "../../schema/defined.ts"
import { creditsCall } from "./kit/credits.ts"

/** The path of a job, such as "/fal-ai/flux/requests/764cabcf-b745". Checked in answers and in the stored state. */
const jobPath = /^(\/[A-Za-z0-9][A-Za-z0-9._-]*){1,6}\/requests\/[A-Za-z0-9-]{1,64}$/

type Stage = "queued" | "done"
const stageOf = (state: Schema.Json): Stage => (text(state, "stage") === "done" ? "done" : "queued")

/** The path of the job in a URL, without "/status". */
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

/** A prompt that violates fal's content policy is a miss, and not an error. */
const refusedContent = (reply: Reply): boolean =>
  reply.status === 422 && text(reply.body, "detail", 0, "type") === "content_policy_violation"

/** An error of the queue while the job continues. The job is already paid for, so polling continues. */
const isQueueError = (reply: Reply, state: Schema.Json): boolean =>
  state !== null && [502, 503, 504, ...(stageOf(state) === "done" ? [] : [500])].includes(reply.status)

/** The outcome while the job runs or if it failed. Undefined if the reply is the job's result. */
const unfinished = (reply: Reply, state: Schema.Json, pauseMillis: number): Outcome<never> | undefined => {
  if (refusedContent(reply)) return noMatch("the provider's content policy refuses the prompt")
  if (isQueueError(reply, state)) return waiting(text(state, "path") ?? "", stageOf(state), 2 * pauseMillis)
  if (reply.status >= 400) return refusal(reply)
  if (state === null) {
    const path = pathOf(text(reply.body, "response_url")) ?? pathOf(text(reply.body, "status_url"))
    return path === null ? unreadable("URL of the job") : waiting(path, "queued", pauseMillis)
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

/** The units that a result cost. Only one model's price per unit is published. */
const imageCost = (reply: Reply, model: string): Cost | null => {
  const units = number(reply.headers, "x-fal-billable-units")
  return units === null || model !== priced ? null : cost("USD", units * 0.025)
}

const image = offer(creativeImage, {
  // An image
  price: inUsd.metered("0", "0.025", creativeImageDefaultCount),
  note: "Published rate of fal-ai/flux/dev, $0.025 per image; fal-ai/flux/schnell costs less.",
  wraps: [],
  // Only one of the models accepts an image as input.
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
    const early = unfinished(reply, state, 1_000)
    if (early !== undefined) return early
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

/** The only family of models that the hold covers. Other models may cost ten times as much. */
const family = "fal-ai/kling-video/v1.6/standard"
const families = ["fal-ai/kling-video", "fal-ai/kling-video/v1.6", family]
const lengths = [5, 10]
const secondsOf = (input: VideoInput) => input.duration_seconds ?? creativeVideoDefaultSeconds
const videoModel = (input: VideoInput) => `${family}/${input.image_url === undefined ? "text" : "image"}-to-video`

const video = offer(creativeVideo, {
  // A second
  price: inUsd.metered("0", "0.10", creativeVideoDefaultSeconds),
  note: `Assumed at $0.10 per second. Prices of models differ by a factor of ten. ${family} makes clips of 5 or 10 seconds.`,
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
    const early = unfinished(reply, state, 5_000)
    if (early !== undefined) return early
    const video = at(reply.body, "video")
    const url = text(video, "url")
    if (url === null) return unreadable("video")
    const reported = whole(video, "duration")
    return match({
      url,
      content_type: text(video, "content_type"),
      // At most the requested duration, because the run is charged by this field and the hold covers no more.
      duration_seconds: reported === null || reported < 1 ? secondsOf(input) : Math.min(reported, secondsOf(input)),
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
    // The offers read these themselves: refused prompts, and errors of the queue while a job continues.
    answers: [422, 500, 502, 503, 504]
  }),
  credits: creditsCall(
    { method: "GET", path: "/v1/account/billing", query: { expand: "credits" }, origin: "https://api.fal.ai" },
    "USD",
    (body) => number(body, "credits", "current_balance")
  ),
  offers: [image, video]
})
