import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import { requestOf } from '../../../client/client.ts'
import { curlCommand } from '../../curl.ts'
import { ProblemAnswer } from '../../../client/failures.ts'
import { nearest } from '../../../shared/nearest.ts'
import { relationsOn } from '../../../shared/roles.ts'
import { CliError, usageError } from '../../cli-error.ts'
import type { Command, Given } from '../../command.ts'
import { derivedCommand } from '../../derive/derive.ts'
import { EXIT, exitCodeOf, type ExitCode } from '../../exit-code.ts'
import { memberOf } from '../../output/members.ts'
import { createResolver } from '../../references.ts'
import type { Session } from '../../session.ts'

export function check(manifest: Manifest): Command {
  const operation = manifest.operations['PostAuthzCheck']
  if (operation === undefined) throw new Error('the contract has no PostAuthzCheck')
  const { 'caveat-context': _, 'from-file': __, ...flags } = derivedCommand(operation, manifest).flags ?? {}
  return {
    description:
      'Exits 0 when allowed and 10 when denied, so that scripts can ask. Subjects and objects may be named: user:alice, project:web; "me" is you.',
    args: [
      {
        name: 'subject',
        describe: 'Who: user:NAME, service:NAME, group:NAME, or me',
        noun: 'subjects',
        required: true,
      },
      { name: 'relation', describe: 'What: read, manage, deploy, node-operate, …', required: true },
      { name: 'resource', describe: 'On what: platform, domain:NAME, project:NAME, node:NAME, …', required: true },
    ],
    flags: {
      ...flags,
      facts: {
        kind: 'list',
        value: 'NAMES',
        describe: 'Names of facts that caveats may use; the server knows their values',
      },
    },
    uses: ['connection', 'curl', 'output'],
    examples: [
      'ctl authz check me manage domain:default',
      'ctl authz check user:alice node-operate node:web-1 && echo yes',
    ],
    run: ask,
  }
}

async function ask(session: Session, given: Given): Promise<ExitCode> {
  const body = await questionOf(session, given)
  const operation = session.operation('PostAuthzCheck')
  if (session.shared.curl === true) {
    const { url } = await session.settings()
    session.io.stdout.write(`${curlCommand(url.value, requestOf(operation, { body }))}\n`)
    return EXIT.ok
  }
  const { value } = await (await session.caller()).call(operation, { body }).catch((error: unknown) => {
    throw unknownRelation(error, body) ?? error
  })
  await session.emit(value, { columns: ['decision', 'reason', 'relation_path'] })
  return memberOf(value, 'decision') === 'allowed' ? EXIT.ok : EXIT.negative
}

async function questionOf(session: Session, { args, flags }: Given): Promise<Readonly<Record<string, unknown>>> {
  const [subject, relation, resource] = args
  if (subject === undefined || relation === undefined || resource === undefined)
    throw usageError('who, what and on what are needed', 'ctl authz check <subject> <relation> <resource>')
  const resolver = createResolver(session)
  const facts = Array.isArray(flags['facts']) ? flags['facts'] : []
  return {
    subject: await resolver.subject(subject, {}),
    relation,
    resource: await resolver.resource(resource, {}),
    ...(facts.length > 0 && { caveat_context: Object.fromEntries(facts.map((fact) => [String(fact), true])) }),
  }
}

/** Names the relations that the resource has, where the server knows none of that name. */
function unknownRelation(
  error: unknown,
  { relation, resource }: Readonly<Record<string, unknown>>,
): CliError | undefined {
  if (!(error instanceof ProblemAnswer) || error.document['part'] !== 'relation') return undefined
  const [type = ''] = String(resource).split(':')
  const known = relationsOn(type)
  if (known.length === 0) return undefined
  const near = nearest(String(relation), known)
  return new CliError(`there is no relation "${String(relation)}" on a ${type}`, {
    exitCode: exitCodeOf(error.status),
    code: error.code,
    hints: [...(near === undefined ? [] : [`Did you mean ${near}?`]), `A ${type} has: ${known.join(', ')}.`],
    cause: error,
  })
}
