import { CA_SHA256_FLAG, digestFrom, fetchAuthority } from '../../session/authority-flag.ts'
import { mistypedError, usageError } from '../../errors/cli-error.ts'
import type { ContextFile, StoredContext } from '../../session/contexts.ts'
import type { Session } from '../../session/session.ts'

/** The stored context of that name. Throws a usage error with the nearest name. */
export function known({ contexts }: ContextFile, name: string | undefined): StoredContext {
  if (name === undefined) throw usageError('<name> is missing', 'See which there are: ctl contexts list')
  const stored = Object.hasOwn(contexts, name) ? contexts[name] : undefined
  if (stored) return stored
  throw mistypedError(`there is no context "${name}"`, {
    word: name,
    known: Object.keys(contexts),
    otherwise: 'See which there are: ctl contexts list',
  })
}

/** Refuses names that a shell or a path would trip over. */
export function checkedName(name: string | undefined): string {
  if (name !== undefined && /^[A-Za-z0-9][\w.@-]{0,62}$/.test(name) && name !== '__proto__') return name
  throw usageError(
    name === undefined ? '<name> is missing' : `"${name}" cannot name a context`,
    'Use letters, digits, dots, hyphens and underscores, at most 63.',
  )
}

/** The flags that contexts are made of. */
export const CONTEXT_FLAGS = {
  domain: {
    kind: 'text',
    value: 'DOMAIN',
    noun: 'domains',
    describe: 'Domain that commands use by default',
  },
  project: {
    kind: 'text',
    value: 'PROJECT',
    noun: 'projects',
    describe: 'Project that commands use by default',
  },
  'ca-file': { kind: 'text', value: 'FILE', describe: 'Certificate authority to trust as well' },
  'ca-sha256': CA_SHA256_FLAG,
  protected: { kind: 'switch', describe: 'Ask before every change, whatever the command' },
} as const

interface Choices {
  readonly domain?: string
  readonly project?: string
  readonly 'ca-file'?: string
  readonly 'ca-sha256'?: string
  readonly protected?: boolean
}

/**
 * The members of a context that its flags give. An authority that is named by its digest is fetched from the server at
 * that URL and stored. @throws CliError where the server does not show it; nothing is stored then.
 */
export async function chosenMembers(session: Session, flags: Choices, url: string): Promise<Partial<StoredContext>> {
  return {
    ...(await authorityMembers(session, flags, url)),
    ...(flags.domain !== undefined && { domain: flags.domain }),
    ...(flags.project !== undefined && { project: flags.project }),
    ...(flags.protected !== undefined && { protected: flags.protected }),
  }
}

type AuthorityMembers = Pick<StoredContext, 'ca_file' | 'ca_sha256'>

async function authorityMembers(session: Session, flags: Choices, url: string): Promise<AuthorityMembers> {
  const { 'ca-file': file, 'ca-sha256': digest } = flags
  if (digest === undefined) return file === undefined ? {} : { ca_file: file, ca_sha256: undefined }
  if (file !== undefined)
    throw usageError('--ca-file and --ca-sha256 both name the authority to trust', 'Keep one of them.')
  const sha256 = digestFrom(digest, '--ca-sha256')
  const pem = await fetchAuthority({ url, sha256, signal: session.io.interrupted })
  return { ca_file: await session.contexts.keepAuthority(sha256, pem), ca_sha256: sha256 }
}
