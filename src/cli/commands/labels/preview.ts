import type { objectSearch } from '../../../shared/contract/object-search.ts'
import type { Result } from '../../../shared/contract/operation-types.ts'
import { LABEL_KINDS } from '../../../shared/labels/label-kinds.ts'
import { usageError } from '../../errors/cli-error.ts'
import { EXIT } from '../../errors/exit-code.ts'
import { faultsIn, selectorError, syntaxFaults } from '../../errors/selector-errors.ts'
import { defineCommand } from '../../argv/command.ts'
import type { FlagSpecs } from '../../argv/flags.ts'
import type { CallInput } from '../../../client/client.ts'
import type { ManifestOperation } from '../../../shared/contract/manifest-format.ts'
import { counted } from '../../output/counts.ts'
import type { View } from '../../output/emit.ts'
import { memberOf } from '../../output/members.ts'
import { isText } from '../../output/screen.ts'
import { harmless } from '../../output/style.ts'
import { printedCurl } from '../authz/question.ts'
import { createResolver } from '../../session/references.ts'
import { withScopeIds } from '../../argv/selector-scopes.ts'
import type { Session } from '../../session/session.ts'
import { QUERY_SCOPE, queryScope, type QueryScope } from './query-scope.ts'

type Preview = Result<(typeof objectSearch)['operations']['PreviewLabelSelector']>

const FLAGS = {
  kind: { kind: 'text', value: 'KIND', choices: LABEL_KINDS, describe: 'Count objects of this kind only' },
  ...QUERY_SCOPE,
} as const satisfies FlagSpecs

const VIEW: View = { columns: ['kind', 'display_name', 'id'], wide: ['domain_id', 'project_id'], rows: 'sample' }
/** What the answer says of a selector that never got to the server. */
const UNSENT = { canonical: null, requirements: [], counts: {}, sample: [] }

/** Checks a selector and counts what it matches. */
export const preview = defineCommand({
  description: [
    'Says the canonical form, how many objects of each kind match, and shows up to 20 of them. Counts are those of objects that you may read.',
    'Errors are underlined, and the exit code is 9. Syntax is checked before the server is asked.',
  ].join('\n'),
  args: [{ name: 'selector', describe: 'Selector of objects', noun: 'selectors', required: true }],
  flags: FLAGS,
  uses: ['connection', 'curl', 'output'],
  examples: [
    "ctl labels preview 'env=prod,tier in (web,api),!legacy'",
    "ctl labels preview 'env=prod' --kind node --scope platform --jq .counts",
  ],
  async run(session, { args: [typed], flags }) {
    if (typed === undefined) throw usageError('<selector> is missing', 'See: ctl labels preview --help')
    const text = await withScopeIds(createResolver(session), typed)
    const faults = await syntaxFaults(text)
    if (faults.length > 0) return refuse(session, text, { ...UNSENT, errors: faults })
    const body = { selector: text, ...(flags.kind !== undefined && { kind: flags.kind }) }
    const { operation, input } = await callFor(session, body, await queryScope(session, flags.scope))
    if (await printedCurl(session, operation, input)) return EXIT.ok
    const caller = await session.caller()
    session.expectOutput()
    const found = (await caller.call(operation, input)).value as Preview // What the contract says of 200.
    if (found.errors.length > 0) return refuse(session, text, found)
    await session.emit(found, VIEW)
    session.note(harmless(`Canonical form: ${found.canonical ?? ''}`))
    session.note(matches(found))
    return EXIT.ok
  },
})

/** Programs get the places of the errors as the API has them, people see them underlined. */
async function refuse(session: Session, text: string, answer: { readonly errors: unknown }): Promise<never> {
  if (!(await isText(session))) await session.emit(answer, VIEW)
  throw selectorError(text, faultsIn(answer.errors))
}

interface Call {
  readonly operation: ManifestOperation
  readonly input: CallInput
}

async function callFor(session: Session, body: object, { scope, scope_id }: QueryScope): Promise<Call> {
  if (scope === 'platform') return { operation: session.operation('PreviewLabelSelector'), input: { body } }
  const operation = session.operation('PreviewDomainSelector')
  if (scope === 'domain') return { operation, input: { id: scope_id, body } }
  const { value } = await (await session.caller()).call(session.operation('GetProject'), { id: scope_id })
  return { operation, input: { id: String(memberOf(value, 'domain_id')), body: { ...body, project_id: scope_id } } }
}

/** `Matches 3 of kind node, 1 of kind project.` */
function matches({ counts, sample }: Preview): string {
  const kinds = Object.entries(counts).filter(([, count]) => count > 0)
  const total = kinds.reduce((sum, [, count]) => sum + count, 0)
  if (total === 0) return 'Matches nothing.'
  const more = total > sample.length ? ` ${sample.length} are shown.` : ''
  return `Matches ${kinds.map(([kind, count]) => counted(count, kind.replace('_', ' '))).join(', ')}.${more}`
}
