import { openBackend, type Backend } from './backend.ts'
import { parseConfig, type Config } from './config.ts'
import { explainFailure } from './explain-failure.ts'
import { remintBootstrapToken } from './first-run/first-run.ts'
import { createMemoryHandover } from './first-run/memory-handover.ts'
import { createFounders } from './founders.ts'
import { createLog, type TextSink } from './log.ts'

const HELP = `Issues another bootstrap token and prints it: the way back in when every token is lost.

Usage: ctl admin bootstrap-token [flags of ctl serve]

Stop a server on the embedded datastore first; on PostgreSQL it may run. The token works for 90 days. Keep it in a
file that only you can read, start the server again and sign in:
  (umask 077; ctl admin bootstrap-token --data-dir /var/lib/ctl > token)
  ctl login --with-token < token
`

/** Runs `ctl admin bootstrap-token`: the token goes to stdout, once. Resolves with the exit code. */
export async function runBootstrapToken(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  { stdout, stderr }: { readonly stdout: TextSink; readonly stderr: TextSink },
): Promise<number> {
  if (argv.includes('--help') || argv.includes('-h')) {
    stdout.write(HELP)
    return 0
  }
  try {
    const config = parseConfig({ argv, env, uid: process.geteuid?.() })
    stdout.write(`${await issue(config, stderr)}\n`)
    return 0
  } catch (error) {
    return explainFailure('admin bootstrap-token', error, stderr)
  }
}

async function issue(config: Config, stderr: TextSink): Promise<string> {
  const log = createLog(config.logLevel, stderr)
  const ignore = (): void => undefined // What breaks here fails the command, which says so.
  const backend = await openBackend(config, { log, onNew: ignore, onAuditFailure: ignore, onBroken: ignore })
  try {
    return await issueOver(backend, config)
  } finally {
    backend.feed.stop()
    await backend.datastore.close()
  }
}

async function issueOver(backend: Backend, { env }: Config): Promise<string> {
  await backend.feed.start()
  const handover = createMemoryHandover()
  await remintBootstrapToken({ ...backend, founders: createFounders(backend, env), handover })
  return handover.token()
}
