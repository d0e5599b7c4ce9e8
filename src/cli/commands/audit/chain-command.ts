import type { Manifest, ManifestOperation } from '../../../shared/contract/manifest-format.ts'
import type { Given } from '../../argv/command.ts'
import { flagsOf } from '../../derive/derive.ts'
import type { FlagSpec } from '../../argv/flags.ts'
import type { Session } from '../../session/session.ts'

/** The derived flags of an operation, but for those that its command fills in itself. */
export function flagsBut(
  operation: ManifestOperation,
  manifest: Manifest,
  own: readonly string[],
): Readonly<Record<string, FlagSpec>> {
  const flags = Object.entries(flagsOf(operation, manifest))
  return Object.fromEntries(flags.filter(([word]) => !own.includes(word)))
}

/** The input of an operation from what was typed; the caller's own Domain is used if neither Domain nor platform was named. */
export async function inputOf(
  session: Session,
  operation: ManifestOperation,
  given: Given,
): Promise<Readonly<Record<string, unknown>>> {
  const { targetsOf } = await import('../../derive/input.ts')
  const [target] = await targetsOf(session, { operation }, given)
  return target?.input ?? {}
}
