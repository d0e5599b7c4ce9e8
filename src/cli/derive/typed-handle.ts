import type { ManifestOperation } from '../../shared/contract/manifest-format.ts'
import { isNonZeroUuid } from '../../shared/ids.ts'
import { isText } from '../output/screen.ts'
import { isRow, memberOf } from '../output/members.ts'
import type { Session } from '../session.ts'
import type { Target } from './plan.ts'

/**
 * The answer for a table, with the handle that was typed where the server leaves it out: it shows handles to auditors alone.
 * Other formats have the API's own shape.
 */
export async function withTypedHandle(
  session: Session,
  { cli }: ManifestOperation,
  { value, target }: { readonly value: unknown; readonly target: Target | undefined },
): Promise<unknown> {
  if (!isRow(value) || value['handle'] !== undefined) return value
  const created = cli?.handle && memberOf(target?.input, `body.${cli.handle.member}`)
  const handle = created ?? target?.labels[cli?.args?.at(-1) ?? '']
  if (typeof handle !== 'string' || isNonZeroUuid(handle) || !(await isText(session))) return value
  return { ...value, handle }
}
