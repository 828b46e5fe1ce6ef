/** Reads of a run as other tools write them, to paste. */

/** Such as `["curl", "curl -s …"]`. */
export const commandsFor = (run_id: string, address: string): ReadonlyArray<readonly [string, string]> => [
  ["curl", `curl -s ${address}/v1/runs/${run_id} -H "Authorization: Bearer $RUNGATE_API_KEY"`],
  ["Command (CLI)", `rungate runs get ${run_id}`],
  [
    "TypeScript",
    `import { connect } from "rungate/client"\n\nconst rungate = connect({ url: "${address}", key: process.env.RUNGATE_API_KEY })\nconst run = await rungate.runs.get({ params: { run_id: "${run_id}" }, query: {} })\n`
  ],
  ["Address of this page", `${address}/runs/${run_id}`]
]
