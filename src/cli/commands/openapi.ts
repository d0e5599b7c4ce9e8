import { misshapenAnswer } from '../../client/foreign-server.ts'
import { defineCommand } from '../argv/command.ts'
import { memberOf } from '../output/members.ts'
import { isScreen } from '../output/screen.ts'

export const openapi = defineCommand({
  description: 'JSON unless -o yaml.',
  uses: ['connection', 'output'],
  examples: ['ctl openapi > openapi.json', 'ctl openapi -o yaml', "ctl openapi --jq '.paths | keys[]'"],
  async run(session) {
    const caller = await session.caller()
    const { value } = await caller.call(session.operation('GetOpenapi'), {})
    if (typeof memberOf(value, 'openapi') !== 'string') throw misshapenAnswer('GetOpenapi', 'lacks "openapi"')
    if (await isScreen(session)) return session.io.stdout.write(`${JSON.stringify(value, null, 2)}\n`)
    return session.emit(value, { columns: [] })
  },
})
