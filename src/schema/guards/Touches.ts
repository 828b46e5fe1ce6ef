/** Capabilities that contact people, and where their input names them. */
export const channels: Readonly<Record<string, string>> = {
  "email.send": "email",
  "network.invite": "network",
  "network.message": "network"
}
export const touchCapabilities: ReadonlyArray<string> = Object.keys(channels)

/** Input fields of a touch that name its recipients. Subjects in other fields are senders, or are only mentioned. */
export const recipientFields: ReadonlyArray<string> = [
  "to",
  "cc",
  "bcc",
  "network_url",
  "provider_member_id",
  "chat_id"
]
