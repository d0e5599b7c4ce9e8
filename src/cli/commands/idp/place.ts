import type { Manifest } from '../../../shared/contract/manifest-format.ts'
import type { Command, Given } from '../../argv/command.ts'
import { derivedCommand } from '../../derive/derive.ts'
import type { Plan } from '../../derive/plan.ts'
import { operationOf } from '../../session/noun-lists.ts'
import type { FlagSpec } from '../../argv/flags.ts'
import type { Session } from '../../session/session.ts'

const SCOPE: FlagSpec = {
  kind: 'text',
  choices: ['platform'],
  value: 'SCOPE',
  describe: 'Look the binding up among those that the platform shares',
}

/** The derived command of an operation on one binding, which also finds the platform's by alias. */
export function bindingCommand(manifest: Manifest, operationId: string, run: Command['run']): Command {
  const command = derivedCommand(operationOf(manifest, operationId), manifest)
  return { ...command, flags: { ...command.flags, scope: SCOPE }, run }
}

/** The operation, with the place where its binding is looked up. */
export function bindingPlan(session: Session, operationId: string, { flags }: Given): Plan {
  const operation = session.operation(operationId)
  if (flags['scope'] !== 'platform') return { operation }
  return { operation, lists: { idp: { operation: session.operation('GetAdminIdP'), input: { scope: 'platform' } } } }
}
