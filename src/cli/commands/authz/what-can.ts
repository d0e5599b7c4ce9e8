import type { Manifest, ManifestOperation } from '../../../shared/contract/manifest-format.ts'
import { namedRows, stringsIn } from './found.ts'
import { answerTo, FACTS, factsOf, WHO } from './question.ts'
import { OBJECT_TYPES, permissionsOn } from './types.ts'
import { mistypedError, usageError } from '../../errors/cli-error.ts'
import type { Command } from '../../argv/command.ts'
import { placeFlag } from '../../derive/places.ts'
import type { FlagValues } from '../../argv/flags.ts'
import { createResolver, type Resolver } from '../../session/references.ts'
import { relationsOn } from '../../../shared/roles.ts'
import type { Session } from '../../session/session.ts'
import { operationOf } from '../../session/noun-lists.ts'
import { isText } from '../../output/screen.ts'

export function whatCan(manifest: Manifest): Command {
  const operation = operationOf(manifest, 'PostAuthzLookupResources')
  return {
    description:
      'Every object with what may be done to it, or those of one relation; under the conditions named with --facts only. What you may not see is left out.',
    args: [
      { name: 'subject', describe: WHO, noun: 'subjects', required: true },
      { name: 'relation', describe: 'Only this: read, manage, deploy, node-operate, …', required: false },
    ],
    flags: {
      type: { kind: 'list', value: 'TYPES', describe: 'Only objects of these types', choices: OBJECT_TYPES },
      facts: FACTS,
      domain: placeFlag('domains'),
      project: placeFlag('projects'),
    },
    uses: ['connection', 'output'],
    examples: [
      'ctl authz what-can user:alice',
      'ctl authz what-can me manage',
      'ctl authz what-can service:ci --type project,node',
    ],
    async run(session, { args, flags }) {
      const [who, relation] = args
      if (who === undefined) throw usageError('who is needed', 'ctl authz what-can <subject> [<relation>]')
      const resolver = createResolver(session)
      const subject = await resolver.subject(who, {})
      const held = await heldBy(session, operation, { subject, questions: questionsOf(relation, flags), flags })
      await show(session, held, resolver)
      if (held.size === 0) session.note(noneHeld(who, relation))
    },
  }
}

function noneHeld(who: string, relation: string | undefined): string {
  return relation === undefined
    ? `${who} may do nothing that you may see.`
    : `${who} has ${relation} on nothing that you may see.`
}

interface Question {
  readonly resource_type: string
  readonly relation: string
}

/** What to ask of which type. @throws CliError where no type has the relation. */
function questionsOf(relation: string | undefined, { type }: FlagValues): readonly Question[] {
  const types = Array.isArray(type) && type.length > 0 ? OBJECT_TYPES.filter((one) => type.includes(one)) : OBJECT_TYPES
  const found = types.flatMap((resource_type) => {
    const relations = relation === undefined ? permissionsOn(resource_type) : relationsOn(resource_type)
    return relations
      .filter((one) => relation === undefined || one === relation)
      .map((one) => ({ resource_type, relation: one }))
  })
  if (found.length > 0) return found
  const known = [...new Set(types.flatMap(relationsOn))]
  throw mistypedError(`no object has a relation "${relation ?? ''}"`, {
    word: relation ?? '',
    known,
    otherwise: `Relations are ${known.join(', ')}.`,
  })
}

interface Asking {
  readonly subject: string
  readonly questions: readonly Question[]
  readonly flags: FlagValues
}

/** Lookups that run at once. */
const TOGETHER = 8

/** Relations held, by object, in the order in which they were found. */
async function heldBy(
  session: Session,
  operation: ManifestOperation,
  { subject, questions, flags }: Asking,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const held = new Map<string, string[]>()
  for (let from = 0; from < questions.length; from += TOGETHER) {
    const some = questions.slice(from, from + TOGETHER)
    const answers = await Promise.all(
      some.map((question) => answerTo(session, operation, { subject, ...question, ...factsOf(flags) })),
    )
    answers.forEach((answer, index) => {
      const { relation = '' } = some[index] ?? {}
      for (const one of stringsIn(answer)) held.set(one, [...(held.get(one) ?? []), relation])
    })
  }
  return held
}

async function show(session: Session, held: ReadonlyMap<string, readonly string[]>, resolver: Resolver): Promise<void> {
  if (!(await isText(session))) {
    const items = [...held].map(([resource, relations]) => ({ resource, relations }))
    const { output } = await session.settings()
    if (output.value === 'name') session.io.stdout.write(items.map(({ resource }) => `${resource}\n`).join(''))
    else await session.emit({ items }, { columns: [] })
    return
  }
  const rows = await namedRows([...held.keys()], resolver)
  const relations = [...held.values()]
  await session.emit(
    rows.map(({ name, type, id }, index) => ({ resource: name, relations: relations[index], type, id })),
    { columns: ['resource', 'relations', 'id'], wide: ['type'] },
  )
}
