import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import { showFound, stringsIn } from './found.ts'
import { answerTo, FACTS, factsOf, ON_WHAT } from './question.ts'
import { SUBJECT_TYPES } from './types.ts'
import { usageError } from '../../errors/cli-error.ts'
import type { Command } from '../../argv/command.ts'
import { placeFlag } from '../../derive/places.ts'
import { createResolver } from '../../session/references.ts'
import { operationOf } from '../../session/noun-lists.ts'

export function whoCan(manifest: Manifest): Command {
  const operation = operationOf(manifest, 'PostAuthzLookupSubjects')
  return {
    description:
      'Users and service identities, those in groups among them, under the conditions named with --facts only. Those that you may not see are left out. How one comes by it: ctl authz explain.',
    args: [
      { name: 'relation', describe: 'What: read, manage, deploy, node-operate, …', required: true },
      { name: 'resource', describe: ON_WHAT, noun: 'objects', required: true },
    ],
    flags: { facts: FACTS, domain: placeFlag('domains'), project: placeFlag('projects') },
    uses: ['connection', 'output'],
    examples: ['ctl authz who-can deploy project:web', 'ctl authz who-can manage domain:default -o json'],
    async run(session, { args, flags }) {
      const [relation, object] = args
      if (relation === undefined || object === undefined)
        throw usageError('what and on what are needed', 'ctl authz who-can <relation> <resource>')
      const resolver = createResolver(session)
      const resource = await resolver.resource(object, {})
      const answers = await Promise.all(
        SUBJECT_TYPES.map((subject_type) =>
          answerTo(session, operation, { subject_type, relation, resource, ...factsOf(flags) }),
        ),
      )
      const references = answers.flatMap(stringsIn)
      await showFound(session, { items: references }, { references, resolver, title: 'subject' })
      if (references.length === 0) session.note(`Nobody that you may see has ${relation} on ${object}.`)
    },
  }
}
