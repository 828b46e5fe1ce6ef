/**
 * fal: images and videos from text.
 *
 * Never raw. A result reports the units it took, whose price another endpoint tells. Its offers wait for their adapters.
 */
import { creativeImage, creativeImageDefaultCount } from "../../schema/capabilities/creative.image.ts"
import { creativeVideo, creativeVideoDefaultSeconds } from "../../schema/capabilities/creative.video.ts"
import { metered } from "../../schema/Pricing.ts"
import { listed, provider } from "../../schema/Provider.ts"

const image = listed(creativeImage, {
  // $0.025 per image × 1.2
  price: metered("0", "0.03", creativeImageDefaultCount),
  note: "Published rate of fal-ai/flux/dev, $0.025 per image; other models cost less or more.",
  wraps: []
})

const video = listed(creativeVideo, {
  // $0.10 per second × 1.2
  price: metered("0", "0.12", creativeVideoDefaultSeconds),
  note: "Assumed at $0.10 per second; models differ by a factor of ten.",
  wraps: []
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
  offers: [image, video]
})
