import type { Manifest, ManifestOperation } from '../../shared/contract/manifest-format.ts'
import { CliError, usageError } from '../errors/cli-error.ts'
import { EXIT } from '../errors/exit-code.ts'
import type { FlagSpec } from './flags.ts'
import { listOf } from '../session/noun-lists.ts'
import { memberOf, nameOf } from '../output/members.ts'
import type { Resolver, Scope } from '../session/references.ts'
import type { Resolved } from '../session/pick.ts'

/** The name of the flag, `-l` for short. */
export const SELECTOR = 'selector'

/** The flag of a command that takes objects of a noun by their labels. */
export function selectorFlag(noun: string): FlagSpec {
  return { kind: 'list', short: 'l', value: 'KEY=VALUE', describe: `Only ${noun} that have all of these labels` }
}

/** The operation that lists a noun, where it can be asked for those with certain labels. */
export function selectableList(manifest: Manifest, noun: string | undefined): ManifestOperation | undefined {
  const list = listOf(manifest, noun ?? '')
  return list?.cli?.selector === undefined ? undefined : list
}

/** Typed pairs as lists are asked for them. Throws a usage error for one that is no pair, and for a key with two values. */
export function selectorText(pairs: readonly string[]): string {
  const values = new Map<string, string>()
  for (const pair of pairs) {
    const [key = '', ...rest] = pair.split('=')
    if (key === '' || rest.length === 0) throw usageError(`--${SELECTOR} needs key=value, not "${pair}"`)
    const value = rest.join('=')
    if ((values.get(key) ?? value) !== value) throw usageError(`--${SELECTOR} gives ${key} two values`)
    values.set(key, value)
  }
  if (values.size === 0) throw usageError(`--${SELECTOR} needs key=value`)
  return [...values].map(([key, value]) => `${key}=${value}`).join(',')
}

export interface Selection {
  readonly noun: string
  /** The value of the flag. */
  readonly pairs: readonly string[]
  readonly scope: Scope
}

/** Every object of the noun that has all of these labels, in the order of the list. Throws not found when none has. */
export async function selected(
  resolver: Resolver,
  manifest: Manifest,
  selection: Selection,
): Promise<readonly Resolved[]> {
  const { noun, pairs, scope } = selection
  const list = selectableList(manifest, noun)
  if (list?.cli?.selector === undefined) throw usageError(`${noun} cannot be selected by labels`)
  const domains = Object.values(list.cli.refs ?? {}).includes('domains')
    ? await resolver.chosen('domains', scope)
    : undefined
  const text = selectorText(pairs)
  const rows = await resolver.filtered(
    noun,
    { ...scope, ...(domains && { domains: domains.id }) },
    { [list.cli.selector]: text },
  )
  const found = rows.flatMap((row) => {
    const id = memberOf(row, 'id')
    return typeof id === 'string' ? [{ id, label: nameOf(row) ?? id, row }] : []
  })
  if (found.length > 0) return found
  throw new CliError(`none of the ${noun} that you may see has the labels ${text}`, {
    exitCode: EXIT.notFound,
    code: 'selection_empty',
    hints: [`See which there are: ctl ${noun} list`],
  })
}
