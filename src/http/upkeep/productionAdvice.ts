/** What a production service still lacks before it takes customers: a sentence for each setting, with what to do. Pure. */
import type { SettingsShape } from "../../layers/platform/Settings.ts"

type Given = Pick<SettingsShape, "mode" | "publicUrl" | "mail" | "encryptionKeys" | "stripe">

/** Empty in the sandbox. None of these stops a service, because each has a use without them. */
export const productionAdvice = ({ mode, publicUrl, mail, encryptionKeys, stripe }: Given): ReadonlyArray<string> => {
  if (mode === "sandbox") return []
  return [
    ...(publicUrl === null
      ? [
          "RUNGATE_PUBLIC_URL is not set, so links in mails and checkouts name this machine. Set it to the address that customers use, such as https://rungate.example.com."
        ]
      : publicUrl.startsWith("https://")
        ? []
        : [
            "RUNGATE_PUBLIC_URL is an http address, so keys and sessions cross the network unencrypted. Put TLS in front."
          ]),
    ...(mail === null
      ? [
          "RUNGATE_SMTP_URL is not set, so no mail is sent: nobody can verify an address, reset a password or be mailed an invitation."
        ]
      : []),
    ...(encryptionKeys.length === 0
      ? [
          "RUNGATE_ENCRYPTION_KEY is not set, so secrets are not encrypted in the database. Make a key with: openssl rand -base64 32"
        ]
      : []),
    ...(stripe === null
      ? [
          "STRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET are not set, so customers can't pay by card. Until then, credit wallets with: rungate admin credit"
        ]
      : [])
  ]
}
