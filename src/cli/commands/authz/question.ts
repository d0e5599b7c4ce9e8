import type { CallInput } from '../../../client/client.ts'
import { ProblemAnswer } from '../../../client/failures.ts'
import type { ManifestOperation } from '../../../shared/contract/manifest-format.ts'
import { nearest } from '../../../shared/nearest.ts'
import { relationsOn } from '../../../shared/roles.ts'
import { CliError } from '../../errors/cli-error.ts'
import type { FlagSpec, FlagValues } from '../../argv/flags.ts'
import { exitCodeOf } from '../../errors/exit-code.ts'
import type { Session } from '../../session/session.ts'

/** Facts that caveats may use, by name. */
export const FACTS: FlagSpec = {
  kind: 'list',
  value: 'NAMES',
  describe: 'Names of facts that caveats may use, as now or source_ip; the server knows their values',
}

export const WHO = 'Who: user:NAME, service:NAME, group:NAME, or me'
export const ON_WHAT = 'On what: platform, domain:NAME, project:NAME, node:NAME, …'

/** The facts of the flags as the API takes them. */
export function factsOf(flags: FlagValues): { readonly caveat_context?: Readonly<Record<string, true>> } {
  const facts = Array.isArray(flags['facts']) ? flags['facts'] : []
  return facts.length === 0 ? {} : { caveat_context: Object.fromEntries(facts.map((fact) => [String(fact), true])) }
}

/** Prints the call as a curl command where that was asked for; answers whether it did. */
export async function printedCurl(session: Session, operation: ManifestOperation, input: CallInput): Promise<boolean> {
  if (session.shared.curl !== true) return false
  const [{ printCurl }, { requestOf }] = await Promise.all([
    import('../../output/curl.ts'),
    import('../../../client/client.ts'),
  ])
  await printCurl(session, [requestOf(operation, input)])
  return true
}

/** Asks a question of the model. A relation that its object does not have is answered with those it has. */
export async function answerTo(session: Session, operation: ManifestOperation, body: Question): Promise<unknown> {
  const caller = await session.caller()
  session.expectOutput()
  try {
    return (await caller.call(operation, { body })).value
  } catch (error) {
    throw unknownRelation(error, body) ?? error
  }
}

/** The parts of a question that a refusal may be about. */
export interface Question {
  readonly relation: string
  readonly resource?: string
  readonly resource_type?: string
  readonly subject?: string
  readonly subject_type?: string
}

function unknownRelation(error: unknown, { relation, resource = '', resource_type }: Question): CliError | undefined {
  if (!(error instanceof ProblemAnswer) || error.document['part'] !== 'relation') return undefined
  const type = resource_type ?? resource.split(':')[0] ?? ''
  const known = relationsOn(type)
  if (known.length === 0) return undefined
  const near = nearest(relation, known)
  return new CliError(`there is no relation "${relation}" on a ${type}`, {
    exitCode: exitCodeOf(error.status),
    code: error.code,
    hints: [...(near === undefined ? [] : [`Did you mean ${near}?`]), `A ${type} has: ${known.join(', ')}.`],
    cause: error,
  })
}
