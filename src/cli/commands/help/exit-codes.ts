import { defineCommand } from '../../argv/command.ts'
import { EXIT_MEANINGS } from '../../errors/exit-code.ts'

export const exitCodes = defineCommand({
  uses: ['output'],
  run: (session) => session.emit(EXIT_MEANINGS, { columns: ['code', 'meaning'], isUncut: true }),
})
