import type { ManifestOperation } from '../../shared/contract/manifest-format.ts'
import { isNonZeroUuid } from '../../shared/ids.ts'
import { isText } from '../output/screen.ts'
import { isRow, memberOf } from '../output/members.ts'
import type { Session } from '../session/session.ts'
import type { Target } from './plan.ts'

/**
 * The answer for a table, with the handle that was typed where the server leaves it out: it shows handles to auditors alone.
 * Other formats have the API's own shape.
 */
export async function withTypedHandle(
  session: Session,
  operation: ManifestOperation,
  { value, target }: { readonly value: unknown; readonly target: Target | undefined },
): Promise<unknown> {
  if (!isRow(value) || value['handle'] !== undefined || target === undefined) return value
  const handle = typedHandle(operation, target)
  return handle !== undefined && (await isText(session)) ? { ...value, handle } : value
}

/** What a new object was called, or an old one was found by; undefined where that was its id. */
function typedHandle({ cli }: ManifestOperation, { input, labels }: Target): string | undefined {
  const created = cli?.handle && memberOf(input, `body.${cli.handle.member}`)
  const handle = created ?? labels[cli?.args?.at(-1) ?? '']
  return typeof handle === 'string' && !isNonZeroUuid(handle) ? handle : undefined
}
