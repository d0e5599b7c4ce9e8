// Calls the API in a network namespace: `api-child.mjs URL TOKEN-FILE`. Each line of standard input is a list of calls
// `{"method","path","body"}` that are made at the same time; the line that answers has `{"status","body"}` for each.
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'

const [url, tokenFile] = process.argv.slice(2)
const authorization = `Bearer ${readFileSync(tokenFile, 'utf8').trim()}`

async function call({ method, path, body }) {
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: { authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  if (answer.status === 429) {
    await pause(Number(answer.headers.get('retry-after') ?? 1) * 1000)
    return call({ method, path, body })
  }
  return { status: answer.status, body: text === '' ? null : JSON.parse(text) }
}

process.stdout.write('"ready"\n')
for await (const line of createInterface({ input: process.stdin }))
  process.stdout.write(`${JSON.stringify(await Promise.all(JSON.parse(line).map(call)))}\n`)
process.exit(0)
