import { problemOf } from '../../client/client.ts'
import { defineCommand } from '../command.ts'

export const openapi = defineCommand({
  description: 'JSON unless -o yaml.',
  uses: ['connection', 'output'],
  examples: ['ctl openapi > openapi.json', 'ctl openapi -o yaml', "ctl openapi --jq '.paths | keys[]'"],
  async run(session) {
    const caller = await session.caller()
    const answer = await caller.send({ method: 'GET', path: '/v1/openapi.json', headers: {} }, { repeatable: true })
    if (answer.status >= 400) throw problemOf(answer)
    const { output } = await session.settings()
    const text = answer.body.toString('utf8')
    const isPlain = session.shared.jq === undefined && output.value !== 'yaml'
    if (isPlain) return session.io.stdout.write(`${JSON.stringify(JSON.parse(text), null, 2)}\n`)
    return session.emit(JSON.parse(text), { columns: [] })
  },
})
