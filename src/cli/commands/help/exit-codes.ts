import { defineCommand } from '../../command.ts'
import { EXIT_MEANINGS } from '../../exit-code.ts'

export const exitCodes = defineCommand({
  uses: ['output'],
  run: (session) => session.emit(EXIT_MEANINGS, { columns: ['code', 'meaning'], isUncut: true }),
})
