import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import type { Command } from '../../argv/command.ts'
import type { FlagValues } from '../../argv/flags.ts'
import { SELECTOR } from '../../argv/selector.ts'
import { derivedCommand } from '../../derive/derive.ts'
import { operationOf } from '../../session/noun-lists.ts'
import type { Session } from '../../session/session.ts'
import { namingForPeople } from '../authz/named-list.ts'
import { routedToDomain } from './domain-route.ts'
import { VIOLATION_NAMES } from './naming.ts'

const DESCRIPTION =
  'Without --domain: those of all Domains that you may read, or, where you have no role on the platform, those of your own Domain.'

/** The derived list, which people of a Domain may read as well. */
export function list(manifest: Manifest): Command {
  const operation = operationOf(manifest, 'ListIntegrityViolations')
  const derived = derivedCommand(operation, manifest)
  const selector = derived.flags?.[SELECTOR]
  const artifact = derived.flags?.['artifact-id']
  return {
    ...derived,
    description: DESCRIPTION,
    flags: {
      ...derived.flags,
      ...(selector !== undefined && { [SELECTOR]: { ...selector, describe: OF_NODES } }),
      ...(artifact !== undefined && { 'artifact-id': { ...artifact, describe: OF_ARTIFACT } }),
    },
    examples: [
      'ctl violations list --status open',
      "ctl violations list --domain acme -l 'env=prod' --kind binary",
      'ctl violations list --node web-1 -o wide',
    ],
    async run(session, given) {
      const { perform } = await import('../../derive/perform.ts')
      const routed = routedToDomain(session)
      const flags = await withWholeIds(routed, given.flags)
      await perform(await namingForPeople(routed, VIOLATION_NAMES), { operation }, { ...given, flags })
    },
  }
}

async function withWholeIds(session: Session, flags: FlagValues): Promise<FlagValues> {
  const artifact = flags['artifact-id']
  if (typeof artifact !== 'string') return flags
  const { wholeArtifactId } = await import('./artifact-id.ts')
  return { ...flags, 'artifact-id': await wholeArtifactId(session, artifact) }
}

const OF_ARTIFACT = 'One artifact only, on all nodes of its Domain; its id, or 6 or more digits of either end of it'
const OF_NODES = "Only those of nodes whose labels match, e.g. 'env=prod,tier in (web,api)'"
