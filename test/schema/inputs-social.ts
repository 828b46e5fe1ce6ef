/** Inputs that are accepted, and inputs that are refused, with the path of the first issue. */
export const socialInputs: Readonly<
  Record<string, { accepted: ReadonlyArray<object>; refused: ReadonlyArray<[object, string]> }>
> = {
  "social.profile": {
    accepted: [
      { platform: "x", handle: "@nasa" },
      { platform: "facebook", url: "https://www.facebook.com/nasa/" },
      { platform: "youtube", url: "?" },
      { platform: "reddit", handle: "@" },
      { platform: "bluesky", handle: "李明" }
    ],
    refused: [
      [{}, ""],
      [{ platform: "instagram" }, ""],
      [{ handle: "nasa" }, "platform"],
      [{ platform: "linkedin", handle: "nasa" }, "platform"],
      [{ platform: "Instagram", handle: "nasa" }, "platform"],
      [{ platform: "toString", handle: "nasa" }, "platform"],
      [{ platform: "instagram", handle: "" }, "handle"],
      [{ platform: "instagram", handle: "x".repeat(201) }, "handle"]
    ]
  },
  "social.posts": {
    accepted: [
      { platform: "instagram", url: "https://www.instagram.com/nasa" },
      { platform: "x", handle: "nasa", limit: 100, cursor: "c" },
      { platform: "threads", handle: "nasa", limit: 1 }
    ],
    refused: [
      [{ platform: "tiktok" }, ""],
      [{ platform: "reddit", handle: "nasa" }, "platform"],
      [{ platform: "tiktok", handle: "nasa", limit: 101 }, "limit"],
      [{ platform: "tiktok", handle: "nasa", limit: 0 }, "limit"],
      [{ platform: "tiktok", handle: "nasa", cursor: "" }, "cursor"]
    ]
  },
  "ads.search": {
    accepted: [
      { platform: "google", company_domain: "EXAMPLE.com", country: "US", active_only: true },
      { platform: "network", company_name: "Größe & Co", limit: 100 },
      { platform: "tiktok", query: "???", cursor: "c", active_only: false }
    ],
    refused: [
      [{ platform: "meta" }, ""],
      [{ query: "shoes" }, "platform"],
      [{ platform: "facebook", query: "shoes" }, "platform"],
      [{ platform: "meta", company_domain: "https://example.com" }, "company_domain"],
      [{ platform: "meta", query: "shoes", country: "USA" }, "country"],
      [{ platform: "meta", query: "shoes", active_only: "yes" }, "active_only"],
      [{ platform: "meta", query: "shoes", limit: 101 }, "limit"]
    ]
  },
  "network.profile": {
    accepted: [
      { network_url: "https://www.linkedin.com/in/jane-doe/" },
      { network_url: "/" },
      { identifier: "ACoAAA1" },
      { identifier: "-" }
    ],
    refused: [
      [{}, ""],
      [{ network_url: "" }, "network_url"],
      [{ identifier: "x".repeat(201) }, "identifier"]
    ]
  },
  "network.invite": {
    accepted: [
      { network_url: "linkedin.com/in/jane" },
      { provider_member_id: "ACoAAA1", message: "x".repeat(300), account_id: "acc_1" }
    ],
    refused: [
      [{}, ""],
      [{ message: "Hello" }, ""],
      [{ network_url: "linkedin.com/in/jane", message: "x".repeat(301) }, "message"],
      [{ network_url: "linkedin.com/in/jane", message: "" }, "message"],
      [{ network_url: ["linkedin.com/in/jane"] }, "network_url"]
    ]
  },
  "network.message": {
    accepted: [
      { chat_id: "chat_1", text: "t" },
      { provider_member_id: "ACoAAA1", text: "x".repeat(8000), subject: "s", account_id: "acc_1" }
    ],
    refused: [
      [{ text: "t" }, ""],
      [{ chat_id: "chat_1" }, "text"],
      [{ chat_id: "chat_1", text: "" }, "text"],
      [{ chat_id: "chat_1", text: "x".repeat(8001) }, "text"],
      [{ chat_id: "chat_1", text: "t", subject: "x".repeat(201) }, "subject"]
    ]
  },
  "email.inbox_create": {
    accepted: [{}, { username: "a" }, { username: "Jane.Doe_1-x", domain: "Mail.example.com", display_name: "Größe" }],
    refused: [
      [{ username: "" }, "username"],
      [{ username: "jane@example.com" }, "username"],
      [{ username: ".jane" }, "username"],
      [{ username: "x".repeat(65) }, "username"],
      [{ domain: "not a domain" }, "domain"],
      [{ display_name: "x".repeat(101) }, "display_name"]
    ]
  },
  "email.inbox_list": {
    accepted: [{}, { limit: 1 }, { limit: 100, cursor: "c" }],
    refused: [
      [{ limit: 0 }, "limit"],
      [{ limit: 101 }, "limit"],
      [{ cursor: "" }, "cursor"]
    ]
  },
  "email.messages": {
    accepted: [
      { inbox_id: "i" },
      { inbox_id: "i", unread_only: true, since: "2026-01-15T09:30:00Z" },
      { inbox_id: "i", since: "2026-01-15T09:30:00.123+02:00", limit: 100, cursor: "c" }
    ],
    refused: [
      [{}, "inbox_id"],
      [{ inbox_id: "" }, "inbox_id"],
      [{ inbox_id: "i", since: "yesterday" }, "since"],
      [{ inbox_id: "i", since: "2026-01-15" }, "since"],
      [{ inbox_id: "i", unread_only: "true" }, "unread_only"],
      [{ inbox_id: "i", limit: 101 }, "limit"]
    ]
  },
  "domain.check": {
    accepted: [{ domain: "EXAMPLE.com" }, { domain: "xn--gre-6ka8i.example" }],
    refused: [
      [{}, "domain"],
      [{ domain: "" }, "domain"],
      [{ domain: "https://example.com" }, "domain"],
      [{ domain: "two words.com" }, "domain"]
    ]
  },
  "domain.register": {
    accepted: [
      { domain: "example.com", agree_to_terms: true },
      { domain: "example.com", agree_to_terms: true, years: 10, max_price: "0.000001" },
      { domain: "example.com", agree_to_terms: true, years: 2, max_price: "12" }
    ],
    refused: [
      [{ agree_to_terms: true }, "domain"],
      [{ domain: "example.com" }, "agree_to_terms"],
      [{ domain: "example.com", agree_to_terms: false }, "agree_to_terms"],
      [{ domain: "example.com", agree_to_terms: "true" }, "agree_to_terms"],
      [{ domain: "example.com", agree_to_terms: 1 }, "agree_to_terms"],
      [{ domain: "example.com", agree_to_terms: true, years: 0 }, "years"],
      [{ domain: "example.com", agree_to_terms: true, years: 11 }, "years"],
      [{ domain: "example.com", agree_to_terms: true, max_price: 12 }, "max_price"],
      [{ domain: "example.com", agree_to_terms: true, max_price: "1e3" }, "max_price"],
      [{ domain: "example.com", agree_to_terms: true, max_price: "-1" }, "max_price"]
    ]
  },
  "creative.image": {
    accepted: [
      { prompt: "p" },
      { prompt: "p", model: "fal-ai/flux/dev", count: 4, seed: 0 },
      { prompt: "p", aspect_ratio: "9:16", seed: 4_294_967_295, reference_image_url: "https://example.com/a.jpg" }
    ],
    refused: [
      [{}, "prompt"],
      [{ prompt: "x".repeat(4001) }, "prompt"],
      [{ prompt: "p", model: "fal-ai/other" }, "model"],
      [{ prompt: "p", aspect_ratio: "2:1" }, "aspect_ratio"],
      [{ prompt: "p", count: 0 }, "count"],
      [{ prompt: "p", count: 5 }, "count"],
      [{ prompt: "p", seed: -1 }, "seed"],
      [{ prompt: "p", seed: 0.5 }, "seed"]
    ]
  },
  "creative.video": {
    accepted: [
      { prompt: "p" },
      { prompt: "p", duration_seconds: 1, model: "fal-ai/kling-video/v2.1/master/text-to-video" },
      { prompt: "p", duration_seconds: 30, image_url: "https://example.com/a.jpg", aspect_ratio: "1:1" }
    ],
    refused: [
      [{}, "prompt"],
      [{ prompt: "p", duration_seconds: 0 }, "duration_seconds"],
      [{ prompt: "p", duration_seconds: 31 }, "duration_seconds"],
      [{ prompt: "p", duration_seconds: 2.5 }, "duration_seconds"],
      [{ prompt: "p", model: "fal-ai/../secrets" }, "model"],
      [{ prompt: "p", model: "fal-ai//x" }, "model"],
      [{ prompt: "p", model: "fal-ai/x?y" }, "model"],
      [{ prompt: "p", model: "x".repeat(42) }, "model"]
    ]
  },
  "gov.filings": {
    accepted: [
      { cik: "320193" },
      { cik: "0000320193", forms: ["10-K", "8-K"], limit: 100 },
      { ticker: "brk.b", date_from: "2024-02-29", date_to: "2025-12-31" },
      { company_name: "Größe & Co", query: "material weakness" }
    ],
    refused: [
      [{}, ""],
      [{ forms: ["10-K"] }, ""],
      [{ cik: "CIK320193" }, "cik"],
      [{ cik: "12345678901" }, "cik"],
      [{ cik: 320193 }, "cik"],
      [{ ticker: "TOOLONGTICKER" }, "ticker"],
      [{ ticker: "AAPL", forms: [] }, "forms"],
      [{ ticker: "AAPL", date_from: "2025-02-30" }, "date_from"],
      [{ ticker: "AAPL", date_to: "01/02/2025" }, "date_to"],
      [{ ticker: "AAPL", limit: 101 }, "limit"]
    ]
  },
  "gov.contracts": {
    accepted: [
      { recipient: "Größe & Co" },
      { keyword: "drones", award_types: "grants", limit: 1 },
      { agency: "Department of Energy", date_from: "2024-01-01", date_to: "2024-12-31", cursor: "2" },
      { naics: ["541512", "54"], limit: 100 }
    ],
    refused: [
      [{}, ""],
      [{ award_types: "loans" }, ""],
      [{ keyword: "x", award_types: "gifts" }, "award_types"],
      [{ keyword: "x", award_types: ["loans"] }, "award_types"],
      [{ naics: [] }, "naics"],
      [{ naics: ["5"] }, "naics.0"],
      [{ naics: ["software"] }, "naics.0"],
      [{ keyword: "x", date_from: "2024" }, "date_from"]
    ]
  },
  "gov.entity": {
    accepted: [{ uei: "nudgylbb4s99" }, { cik: "320193" }, { ticker: "AAPL" }, { name: "Größe & Co", cik: "1" }],
    refused: [
      [{}, ""],
      [{ name: "" }, "name"],
      [{ uei: "NUDGYLBB4S9" }, "uei"],
      [{ uei: "NUDGYLBB4S99X" }, "uei"],
      [{ cik: "x" }, "cik"],
      [{ ticker: "" }, "ticker"]
    ]
  }
}
