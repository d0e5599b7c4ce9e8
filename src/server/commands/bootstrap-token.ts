import { openBackend, type Backend } from '../composition/backend.ts'
import type { Config } from '../config/config.ts'
import { remintBootstrapToken } from '../first-run/first-run.ts'
import { createMemoryHandover } from '../first-run/memory-handover.ts'
import { createBootstrapFactories } from '../composition/bootstrap-factories.ts'
import { createLog, type TextSink } from '../composition/log.ts'
import { configOf, runAdmin, type AdminCall } from './admin.ts'

const HELP = `Issues another bootstrap token and prints it: the way back in when every token is lost.

Usage: ctl admin bootstrap-token [flags of ctl serve]

Stop a server on the embedded datastore first; on PostgreSQL it may run. The token works for 90 days. Keep it in a
file that only you can read, start the server again and sign in:
  (umask 077; ctl admin bootstrap-token --data-dir /var/lib/ctl > token)
  ctl login --with-token < token
`

/** Runs `ctl admin bootstrap-token`: the token goes to stdout, once. Resolves with the exit code. */
export function runBootstrapToken(call: AdminCall): Promise<number> {
  return runAdmin({ name: 'admin bootstrap-token', help: HELP }, call, async () => {
    call.stdout.write(`${await issue(configOf(call.argv, call.env), call.stderr)}\n`)
  })
}

async function issue(config: Config, stderr: TextSink): Promise<string> {
  const log = createLog(config.logLevel, stderr)
  const ignore = (): void => undefined // A failure here fails the command, which reports it.
  const backend = await openBackend(config, { log, onNew: ignore, onAuditFailure: ignore, onBroken: ignore })
  try {
    return await issueOver(backend, config)
  } finally {
    backend.feed.stop()
    await backend.engine.close()
    await backend.datastore.close()
  }
}

async function issueOver(backend: Backend, { env }: Config): Promise<string> {
  await backend.feed.start()
  await backend.engine.prepare()
  const handover = createMemoryHandover()
  await remintBootstrapToken({ ...backend, factories: createBootstrapFactories(backend, env), handover })
  return handover.token()
}
