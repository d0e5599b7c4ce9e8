import { usageError } from '../../errors/cli-error.ts'
import type { ExitCode } from '../../errors/exit-code.ts'
import { defineCommand } from '../../argv/command.ts'
import type { FlagSpecs, FlagValues } from '../../argv/flags.ts'
import { isText } from '../../output/screen.ts'
import { createResolver } from '../../session/references.ts'
import type { Session } from '../../session/session.ts'
import { domainScope, PLACES, scopeNamed } from './keys.ts'
import { namedDefinition, type Definition } from './reading.ts'
import { showDefinition, showDefinitions } from './showing.ts'
import type { Page } from '../../../client/pages.ts'

const FLAGS = {
  ...PLACES,
  scope: {
    kind: 'text',
    value: 'SCOPE',
    describe: 'Only those of platform, domain:NAME or project:NAME; those seen from your Domain when absent',
  },
  enclosing: { kind: 'switch', describe: 'With --scope: also those of the scopes around it' },
} as const satisfies FlagSpecs

/** Lists label Definitions. */
export const definitions = defineCommand({
  description:
    'Without --scope: the Definitions that a bare key may mean in your Domain, that is its own and those of the platform.',
  flags: FLAGS,
  uses: ['connection', 'curl', 'output', 'list', 'watch'],
  examples: [
    'ctl labels definitions',
    'ctl labels definitions --scope platform',
    'ctl labels definitions --scope project:web --enclosing -o json',
  ],
  async run(session, { flags }) {
    const operation = session.operation('ListLabelDefinitions')
    const input = await wanted(session, flags)
    if (session.shared.curl === true || !(await isText(session)))
      return (await import('../../derive/perform.ts')).perform(session, { operation }, { args: [], flags: input })
    const { noteList, readList } = await import('../../derive/lists.ts')
    const page = (await readList(session, operation, input)) as Page<Definition> // What the contract says of 200.
    await showDefinitions(session, page)
    noteList(session, page)
  },
})

async function wanted(
  session: Session,
  { scope, enclosing }: FlagValues<typeof FLAGS>,
): Promise<Readonly<Record<string, string>>> {
  const resolver = createResolver(session)
  if (scope === undefined && enclosing === false) throw usageError('--no-enclosing goes with --scope')
  const isEnclosing = enclosing ?? scope === undefined
  return {
    scope: scope === undefined ? await domainScope(resolver) : await scopeNamed(resolver, scope),
    ...(isEnclosing && { include: 'enclosing' }),
  }
}

/** Shows label Definitions. */
export const definition = defineCommand({
  args: [{ name: 'key', describe: 'Key or id of the Definition', noun: 'label-keys', required: true }],
  flags: PLACES,
  uses: ['connection', 'curl', 'output', 'watch'],
  examples: ['ctl labels definition platform/env', 'ctl labels definition env --domain acme -o yaml'],
  async run(session, { args }): Promise<ExitCode | void> {
    const [text] = args
    if (text === undefined) throw usageError('<key> is missing', 'See: ctl labels definition --help')
    const found = await namedDefinition(session, text)
    if (session.shared.curl === true)
      return (await import('../../derive/perform.ts')).perform(
        session,
        { operation: session.operation('GetLabelDefinition') },
        { args: [found.id], flags: {} },
      )
    await showDefinition(session, found)
  },
})
