import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import { showFound, stringsIn } from './found.ts'
import { answerTo, FACTS, factsOf, printedCurl, WHO } from './question.ts'
import { badChoice } from '../../argv/flag-values.ts'
import { usageError } from '../../errors/cli-error.ts'
import type { Command } from '../../argv/command.ts'
import { placeFlag } from '../../derive/places.ts'
import { createResolver } from '../../session/references.ts'
import { OBJECT_TYPES } from './types.ts'
import { operationOf } from '../../session/noun-lists.ts'

export function lookupResources(manifest: Manifest): Command {
  const operation = operationOf(manifest, 'PostAuthzLookupResources')
  return {
    description:
      'The whole set, oldest objects first. --facts names the facts that caveats may use. A result that needs other facts is left out. Over all types: ctl authz what-can.',
    args: [
      { name: 'subject', describe: WHO, noun: 'subjects', required: true },
      { name: 'relation', describe: 'What: read, manage, deploy, node-operate, …', required: true },
      { name: 'resource-type', describe: 'Type of the objects to find', required: true, choices: OBJECT_TYPES },
    ],
    flags: { facts: FACTS, domain: placeFlag('domains'), project: placeFlag('projects') },
    uses: ['connection', 'curl', 'output'],
    examples: [
      'ctl authz lookup-resources user:alice deploy project',
      'ctl authz lookup-resources me read node -o name',
    ],
    async run(session, { args, flags }) {
      const [subject, relation, resource_type] = args
      if (subject === undefined || relation === undefined || resource_type === undefined)
        throw usageError(
          'who, what and on which type are needed',
          'ctl authz lookup-resources <subject> <relation> <resource-type>',
        )
      if (!OBJECT_TYPES.includes(resource_type)) throw badChoice('<resource-type>', resource_type, OBJECT_TYPES)
      const resolver = createResolver(session)
      const body = { subject: await resolver.subject(subject, {}), relation, resource_type, ...factsOf(flags) }
      if (await printedCurl(session, operation, { body })) return
      const value = await answerTo(session, operation, body)
      const references = stringsIn(value)
      await showFound(session, value, { references, resolver, title: 'resource' })
      if (references.length === 0) session.note(`${subject} has ${relation} on no ${resource_type} that you may see.`)
    },
  }
}
