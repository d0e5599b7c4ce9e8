import { usageError } from '../../errors/cli-error.ts'
import type { Command, Given } from '../../argv/command.ts'
import { placeFlag } from '../../derive/places.ts'
import { createResolver, type Resolver } from '../../session/references.ts'
import type { Session } from '../../session/session.ts'
import { FACTS, factsOf, ON_WHAT, WHO } from './question.ts'

/** A question about one subject, relation and object, as the API takes it. */
export interface Triple {
  readonly subject: string
  readonly relation: string
  readonly resource: string
  readonly caveat_context?: Readonly<Record<string, true>>
}

/** Arguments and flags of a command that asks about a triple. */
export const TRIPLE: Pick<Command, 'args' | 'flags' | 'uses'> = {
  args: [
    { name: 'subject', describe: WHO, noun: 'subjects', required: true },
    { name: 'relation', describe: 'What: read, manage, deploy, node-operate, …', required: true },
    { name: 'resource', describe: ON_WHAT, noun: 'objects', required: true },
  ],
  flags: { facts: FACTS, domain: placeFlag('domains'), project: placeFlag('projects') },
  uses: ['connection', 'curl', 'output'],
}

/** The first part of a triple that was not typed. */
export function missingOf(parts: Readonly<Record<string, string | undefined>>): string {
  const [name = ''] = Object.entries(parts).find(([, value]) => value === undefined) ?? []
  return `<${name}>`
}

/** Reads a triple, its names looked up. @throws CliError where a part is missing. */
export async function tripleOf(
  session: Session,
  { args, flags }: Given,
  command: string,
): Promise<{ readonly body: Triple; readonly resolver: Resolver }> {
  const [subject, relation, resource] = args
  if (subject === undefined || relation === undefined || resource === undefined)
    throw usageError(
      `${missingOf({ subject, relation, resource })} is missing`,
      `Write it as: ctl ${command} <subject> <relation> <resource>`,
      `For example: ctl ${command} me read project:default`,
    )
  const resolver = createResolver(session)
  const body = {
    subject: await resolver.subject(subject, {}),
    relation,
    resource: await resolver.resource(resource, {}),
    ...factsOf(flags),
  }
  return { body, resolver }
}
