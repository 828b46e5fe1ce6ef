/** Which addresses belong to the public internet: webhooks and own accounts reach no others. */
import { expect, test } from "bun:test"
import { isPublicAddress, webhookUrl } from "../../../src/layers/webhooks/WebhookUrl.ts"

const privates = [
  ["loopback", ["127.0.0.1", "::1", "::ffff:127.0.0.1"]],
  ["private networks", ["10.0.0.1", "172.16.0.1", "192.168.1.1", "100.64.0.1", "fc00::1", "fd00:ec2::254"]],
  ["site-local networks", ["fec0::1", "fef0::1"]],
  ["link-local networks", ["169.254.169.254", "fe80::1"]],
  ["no host", ["0.0.0.0", "::", "255.255.255.255", "240.0.0.1", "224.0.0.1", "ff02::1"]],
  ["an IPv4 address that IPv6 embeds", ["::7f00:1", "::10.0.0.1", "::8.8.8.8", "::ffff:0:10.0.0.1"]],
  ["translation between IPv4 and IPv6", ["64:ff9b::10.0.0.1", "64:ff9b:1::10.0.0.1", "64:ff9b:1:ffff::1"]],
  ["tunnels", ["2002:a00:1::1", "2001::1"]],
  ["segment routing", ["5f00::1"]],
  ["documentation", ["192.0.2.1", "2001:db8::1", "3fff::1", "3fff:fff::1"]],
  ["the agent of a cloud", ["168.63.129.16", "::ffff:168.63.129.16"]],
  ["ranges that nobody was given", ["4000::1", "8000::1", "100::1"]],
  ["no address", ["", "example.com", "1.2.3.4.5", "2000::1::2"]]
] as const

test.each(privates)("%s", (_, addresses) => {
  expect(addresses.filter(isPublicAddress)).toEqual([])
  for (const address of addresses.filter((one) => one.includes(".") || one.includes(":")))
    expect(webhookUrl(`https://${address.includes(":") ? `[${address}]` : address}/hooks`, false)._tag).toBe(
      address === "example.com" ? "Accepted" : "Refused"
    )
})

test("public addresses", () => {
  const addresses = [
    "8.8.8.8",
    "168.63.129.15",
    "168.63.129.17",
    "203.0.114.7",
    "2001:4860:4860::8888",
    "2a00::1",
    "3fff:1000::1"
  ]
  expect(addresses.filter((one) => !isPublicAddress(one))).toEqual([])
})
