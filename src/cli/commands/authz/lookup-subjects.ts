import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import { showFound, stringsIn } from './found.ts'
import { answerTo, FACTS, factsOf, ON_WHAT, printedCurl } from './question.ts'
import { SUBJECT_TYPES } from './types.ts'
import { badChoice } from '../../argv/flag-values.ts'
import { usageError } from '../../errors/cli-error.ts'
import type { Command } from '../../argv/command.ts'
import { placeFlag } from '../../derive/places.ts'
import { createResolver } from '../../session/references.ts'
import { operationOf } from '../../session/noun-lists.ts'

export function lookupSubjects(manifest: Manifest): Command {
  const operation = operationOf(manifest, 'PostAuthzLookupSubjects')
  return {
    description:
      'The whole set, oldest subjects first. --facts names the facts that caveats may use. A result that needs other facts is left out. Over all types: ctl authz who-can.',
    args: [
      { name: 'subject-type', describe: 'Type of the subjects to find', required: true, choices: SUBJECT_TYPES },
      { name: 'relation', describe: 'What: read, manage, deploy, node-operate, …', required: true },
      { name: 'resource', describe: ON_WHAT, noun: 'objects', required: true },
    ],
    flags: { facts: FACTS, domain: placeFlag('domains'), project: placeFlag('projects') },
    uses: ['connection', 'curl', 'output'],
    examples: [
      'ctl authz lookup-subjects user deploy project:web',
      'ctl authz lookup-subjects serviceaccount read node:web-1',
    ],
    async run(session, { args, flags }) {
      const [type, relation, object] = args
      if (type === undefined || relation === undefined || object === undefined)
        throw usageError(
          'the type of subjects, what and on what are needed',
          'ctl authz lookup-subjects <subject-type> <relation> <resource>',
        )
      const subject_type = type === 'service' ? 'serviceaccount' : type
      if (!SUBJECT_TYPES.includes(subject_type)) throw badChoice('<subject-type>', type, SUBJECT_TYPES)
      const resolver = createResolver(session)
      const resource = await resolver.resource(object, {})
      const body = { subject_type, relation, resource, ...factsOf(flags) }
      if (await printedCurl(session, operation, { body })) return
      const value = await answerTo(session, operation, body)
      const references = stringsIn(value)
      await showFound(session, value, { references, resolver, title: 'subject' })
      if (references.length === 0) session.note(`No ${subject_type} that you may see has ${relation} on ${object}.`)
    },
  }
}
