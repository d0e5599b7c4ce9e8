import { ProblemAnswer } from '../../../client/failures.ts'
import type { Caller } from '../../../client/client.ts'
import type { Manifest, ManifestOperation } from '../../../shared/contract/manifest-format.ts'
import type { Command } from '../../argv/command.ts'
import type { FlagSpecs } from '../../argv/flags.ts'
import { derivedCommand } from '../../derive/derive.ts'
import { operationOf } from '../../session/noun-lists.ts'
import type { Session } from '../../session/session.ts'
import { steppingUp, withCaller } from '../../session/step-up.ts'

const FLAGS = {
  domain: {
    kind: 'text',
    value: 'DOMAIN',
    noun: 'domains',
    describe: 'Domain of the violation; needed where it is not your own and you may not read the platform',
  },
  'no-browser': {
    kind: 'switch',
    describe:
      'Only show the address and the code where a sign-in is needed, open nothing; also where stdin is no terminal',
  },
  idp: { kind: 'text', value: 'ALIAS', describe: 'Identity provider for that sign-in; the primary one by default' },
} as const satisfies FlagSpecs

const DESCRIPTION = [
  'Says that somebody has looked at an open violation, why it is there and what was done. The reason is kept with your name.',
  'Where the policy of your Domain asks for a stronger or more recent sign-in, an address and a code are shown, as ctl login does; the command goes on once you have signed in there and approved the code, on any machine. That sign-in is for this command alone: the context keeps its token.',
].join('\n')

/** `violations ack`: the derived command, which has a person sign in where the server asks for it. */
export function acknowledge(manifest: Manifest): Command {
  const operation = operationOf(manifest, 'AcknowledgeIntegrityViolation')
  const derived = derivedCommand(operation, manifest)
  return {
    ...derived,
    description: DESCRIPTION,
    flags: { ...derived.flags, ...FLAGS },
    examples: [
      "ctl violations ack 0198c2f0 --reason 'Hotfix 1.4.1 was rolled out by hand'",
      "ctl violations ack 0198c2f0 0198c2f1 --no-browser --reason 'Reinstalled'",
    ],
    async run(session, { args, flags: { 'no-browser': isElsewhere, idp, ...flags } }) {
      const how = { words: 'violations ack', isElsewhere: isElsewhere === true, idp: textOf(idp) }
      const stepped = steppingUp(session, how)
      const { perform } = await import('../../derive/perform.ts')
      try {
        const isOfDomain = flags['domain'] !== undefined
        if (isOfDomain) return await perform(stepped.session, { operation: ofDomain(manifest) }, { args, flags })
        const routed = withCaller(stepped.session, (caller) => fallingBack(stepped.session, caller))
        return await perform(routed, { operation }, { args, flags })
      } finally {
        await stepped.end()
      }
    },
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}

/** The operation of a Domain under the words of the command. */
function ofDomain(manifest: Manifest): ManifestOperation {
  const { cli } = operationOf(manifest, 'AcknowledgeIntegrityViolation')
  const operation = operationOf(manifest, 'AcknowledgeDomainIntegrityViolation')
  return cli === undefined ? operation : { ...operation, cli: { ...cli, refs: { ...cli.refs, domain_id: 'domains' } } }
}

/** Acknowledges in the caller's own Domain what it may not acknowledge on the platform. */
function fallingBack(session: Session, caller: Caller): Caller {
  return {
    ...caller,
    async call(operation, input, options) {
      try {
        return await caller.call(operation, input, options)
      } catch (error) {
        if (operation.id !== 'AcknowledgeIntegrityViolation' || !isDenied(error)) throw error
        const { domain_id: domainId } = await session.whoami()
        return caller.call(
          session.operation('AcknowledgeDomainIntegrityViolation'),
          { ...input, domain_id: domainId },
          options,
        )
      }
    },
  }
}

/** A token whose scopes do not cover the operation would be refused in the Domain as well. */
function isDenied(error: unknown): boolean {
  return (
    error instanceof ProblemAnswer && error.code === 'permission_denied' && error.document['reason'] !== 'out_of_scope'
  )
}
