import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import { preview } from './preview.ts'
import { usageError } from '../../errors/cli-error.ts'
import type { Command } from '../../argv/command.ts'
import { bodyFromFile } from '../../derive/values.ts'
import { isRow } from '../../output/members.ts'
import { createResolver } from '../../session/references.ts'
import { operationOf } from '../../session/noun-lists.ts'

export function impact(manifest: Manifest): Command {
  operationOf(manifest, 'PostAuthzImpact')
  return {
    description:
      'Several changes together, as the API takes them: {"edits": […]}. One change is tried more easily with --dry-run on its own command. Exits 10 when anything would change.',
    flags: {
      'from-file': {
        kind: 'text',
        short: 'f',
        value: 'FILE',
        describe: 'Changes to try, JSON or YAML; - for stdin',
        required: true,
      },
    },
    uses: ['connection', 'curl', 'output'],
    examples: ['ctl authz impact -f edits.yaml', 'ctl tuples delete 7c2a91 --dry-run'],
    async run(session, { flags }) {
      const path = flags['from-file']
      if (typeof path !== 'string') throw usageError('--from-file is missing', 'See: ctl authz impact --help')
      const { edits } = await bodyFromFile(path, { io: session.io, isSecret: false })
      if (!Array.isArray(edits)) throw usageError(`${path} has no list of edits`)
      return preview(session, edits.filter(isRow), createResolver(session))
    },
  }
}
