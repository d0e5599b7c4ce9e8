import { mistypedError, usageError } from '../../errors/cli-error.ts'
import type { ContextFile, StoredContext } from '../../session/contexts.ts'

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
  protected: { kind: 'switch', describe: 'Ask before every change, whatever the command' },
} as const

interface Choices {
  readonly domain?: string
  readonly project?: string
  readonly 'ca-file'?: string
  readonly protected?: boolean
}

/** The members of a context that its flags give. */
export function chosenMembers(flags: Choices): Partial<StoredContext> {
  return {
    ...(flags.domain !== undefined && { domain: flags.domain }),
    ...(flags.project !== undefined && { project: flags.project }),
    ...(flags['ca-file'] !== undefined && { ca_file: flags['ca-file'] }),
    ...(flags.protected !== undefined && { protected: flags.protected }),
  }
}
