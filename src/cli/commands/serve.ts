import { defineCommand } from '../command.ts'
import type { ExitCode } from '../exit-code.ts'

/** Hands everything after its word to the server, which has flags, help and a configuration file of its own. */
export const serve = defineCommand({
  raw: true,
  async run(session, { args }) {
    const { serve: runServer } = await import('../../server/serve.ts')
    return (await runServer(args, session.io.env, session.io)) as ExitCode
  },
})
