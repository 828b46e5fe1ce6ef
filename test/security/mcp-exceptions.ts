/** Checks of MCP's conformance suite that do not concern this service, and why. Any other check must pass, and each of these must fail. */

/** The suite tests a server that was written for it: these need its tools, prompts, resources or completions. */
const fixtures = [
  ...["completion-complete", "json-schema-2020-12-tool-found", "resources-read-text", "resources-read-binary"],
  ...["resources-templates-read", "prompts-get-simple", "prompts-get-with-args", "prompts-get-embedded-resource"],
  ...["prompts-get-with-image", "tools-call-simple-text", "tools-call-image", "tools-call-audio"],
  ...["tools-call-embedded-resource", "tools-call-mixed-content", "tools-call-error", "tools-call-with-progress"]
]

const exceptions: Readonly<Record<string, ReadonlyArray<string>>> = {
  "2025-11-25": [
    ...fixtures,
    ...["tools-call-with-logging", "tools-call-sampling", "tools-call-elicitation"],
    ...["elicitation-sep1034-general", "elicitation-sep1330-general"],
    // Resources are pages of documentation, which change with a release only.
    ...["resources-subscribe", "resources-unsubscribe"]
  ],
  "2026-07-28": [
    ...fixtures,
    // Tools of the suite that lack a capability, stream or log.
    ...["sep-2575-server-rejects-undeclared-capability", "sep-2575-missing-capability-http-400"],
    ...["sep-2575-http-server-no-independent-requests-on-stream", "sep-2575-server-no-log-without-loglevel"],
    // There are no prompts, and the revision lets such a server leave the methods out.
    ...["prompts-list", "sep-2549-prompts-list-caching-hints"],
    // No tool has parameters that are headers.
    ...["sep-2243-server-no-xmcp-tool", "sep-2243-server-decode-base64", "sep-2243-server-validate-param-match"],
    ...["sep-2243-server-reject-invalid-param-chars", "sep-2243-server-reject-param-mismatch"],
    // No tool asks its caller for more while it runs.
    ...["sep-2322-elicitation-incomplete", "sep-2322-list-roots-incomplete", "sep-2322-sampling-incomplete"],
    ...["sep-2322-respect-client-capabilities", "sep-2322-multi-round-r1", "sep-2322-multiple-inputs-incomplete"],
    ...["sep-2322-non-tool-incomplete", "sep-2322-request-state-incomplete", "sep-2322-result-type-included"],
    ...["sep-2322-reject-tampered-state"]
  ]
}

/** Extensions that the service does not have: a run is its own task, which get_run reads. */
const extensions = ["tasks-"]

export const exceptionsOf = (revision: string): ReadonlyArray<string> => exceptions[revision] ?? []
export const isExtension = (scenario: string): boolean => extensions.some((name) => scenario.startsWith(name))
