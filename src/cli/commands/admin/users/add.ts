import type { Manifest } from '../../../../shared/contract/manifest-format.ts'
import { usageError } from '../../../errors/cli-error.ts'
import type { Command, Given } from '../../../argv/command.ts'
import { derivedCommand } from '../../../derive/derive.ts'
import type { FlagSpecs } from '../../../argv/flags.ts'
import type { Session } from '../../../session/session.ts'
import { addOnDatastore } from '../../serve.ts'

/** Settings of the server, by which the command works on its datastore instead of asking it. */
const DATASTORE = {
  'data-dir': { kind: 'text', value: 'DIR', describe: "Work on the server's data, beside a stopped server" },
  'database-url': { kind: 'text', value: 'URL', describe: "Work on the server's PostgreSQL; without a password" },
  config: { kind: 'text', value: 'FILE', describe: "Work on the datastore that the server's file names" },
} as const satisfies FlagSpecs

const DESCRIPTION = `With --data-dir, --database-url or --config it works on the datastore itself, with the
settings of ctl serve, its SERVICE_* variables too: the way back in when nobody can
sign in any more. A server on the embedded datastore has to be stopped first.`

/** Adds an account over the API, or on the datastore where the flags say where that is. */
export function add(manifest: Manifest): Command {
  const operation = manifest.operations['PostAdminUsers']
  if (operation === undefined) throw new Error('the contract has no PostAdminUsers')
  const derived = derivedCommand(operation, manifest)
  return {
    ...derived,
    description: DESCRIPTION,
    flags: { ...derived.flags, ...DATASTORE },
    run: (session, given) => (isOnDatastore(given) ? onDatastore(session, given) : derived.run(session, given)),
  }
}

const isOnDatastore = ({ flags }: Given): boolean => Object.keys(DATASTORE).some((name) => flags[name] !== undefined)

function onDatastore({ io }: Session, { args: [login = ''], flags }: Given) {
  if (flags['platform-admin'] !== true)
    throw usageError('on the datastore only administrators are added: give --platform-admin, or leave out where it is')
  const argv = Object.keys(DATASTORE).flatMap((name) => {
    const value = flags[name]
    return typeof value === 'string' ? [`--${name}`, value] : []
  })
  const domain = flags['domain']
  const draft = { login, ...(typeof domain === 'string' && { domain }) }
  return addOnDatastore({ argv, env: io.env, stdout: io.stdout, stderr: io.stderr }, draft)
}
