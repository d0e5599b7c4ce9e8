import type { Manifest, ManifestOperation } from '../../../shared/contract/manifest-format.ts'
import type { FlagSpecs } from '../../argv/flags.ts'
import { operationOf } from '../../session/noun-lists.ts'
import { IN_DOMAIN } from './domain-route.ts'

/** Of the commands about one violation. */
export const DOMAIN_FLAG = {
  domain: {
    kind: 'text',
    value: 'DOMAIN',
    noun: 'domains',
    describe: 'Domain of the violation; where none is meant, any that you may read, else your own',
    also: 'CTL_DOMAIN',
  },
} as const satisfies FlagSpecs

/** The operation of a Domain under the words of the operation on all Domains. */
export function ofDomain(manifest: Manifest, { id, cli }: ManifestOperation): ManifestOperation {
  const operation = operationOf(manifest, IN_DOMAIN[id] ?? id)
  return cli === undefined ? operation : { ...operation, cli: { ...cli, refs: { ...cli.refs, domain_id: 'domains' } } }
}
