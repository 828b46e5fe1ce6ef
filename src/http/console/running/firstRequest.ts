/** The first request that somebody sends, to paste. */
export const runCommand = (address: string) => `curl -s ${address}/v1/run \\
  -H "Authorization: Bearer $RUNGATE_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"capability": "email.find", "input": {
    "full_name": "Ada Lovelace", "company_domain": "example.com"}}'`
