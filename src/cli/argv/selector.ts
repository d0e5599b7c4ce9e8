import type { Manifest, ManifestOperation } from '../../shared/contract/manifest-format.ts'
import { CliError, usageError } from '../errors/cli-error.ts'
import { EXIT } from '../errors/exit-code.ts'
import type { FlagSpec, FlagValue } from './flags.ts'
import { listOf } from '../session/noun-lists.ts'
import { memberOf, nameOf } from '../output/members.ts'
import type { Resolver, Scope } from '../session/references.ts'
import type { Resolved } from '../session/pick.ts'
import { withScopeIds } from './selector-scopes.ts'

/** The name of the flag, `-l` for short. */
export const SELECTOR = 'selector'

/** The code of the failure when a selector matches nothing that the command could be about. */
export const SELECTION_EMPTY = 'selection_empty'

/** What completion offers for a selector: keys and values of labels. */
export const SELECTORS = 'selectors'

/** The flag of a command that takes objects of a noun by their labels. Commas belong to the selector. */
export function selectorFlag(noun: string): FlagSpec {
  return {
    kind: 'many',
    short: 'l',
    value: 'SELECTOR',
    noun: SELECTORS,
    describe: `Only ${noun} whose labels match, e.g. 'env=prod,tier in (web,api)'`,
  }
}

/** The operation that lists a noun, where it can be asked for those with certain labels. */
export function selectableList(manifest: Manifest, noun: string | undefined): ManifestOperation | undefined {
  const list = listOf(manifest, noun ?? '')
  return list?.cli?.selector === undefined ? undefined : list
}

/** What lists took as selectors before they had a grammar; they still do. */
const PAIRS = /^[^,=]+=[^,]*(,[^,=]+=[^,]*)*$/

/**
 * One selector of what was typed for the flag: what comes again must match as well. Throws a usage error that underlines what
 * is wrong. Whether its keys are defined is the server's to say. Names of scopes become ids where a resolver looks them up.
 */
export async function selectorText(typed: FlagValue, resolver?: Resolver): Promise<string> {
  const texts = Array.isArray(typed) ? typed.map(String) : [String(typed)]
  const joined = [...new Set(texts)].join(',')
  const text = resolver === undefined ? joined : await withScopeIds(resolver, joined)
  const [{ parseSelector }, { underline }] = await Promise.all([
    import('../../shared/selectors/parse-selector.ts'),
    import('../output/underline.ts'),
  ])
  const { errors } = parseSelector(text)
  if (errors.length === 0 || PAIRS.test(text)) return text
  throw usageError(`--${SELECTOR} cannot be read`, ...underline(text, errors).map((line) => `  ${line}`))
}

export interface Selection {
  readonly noun: string
  /** The value of the flag. */
  readonly typed: FlagValue
  readonly scope: Scope
}

/** Every object of the noun that a selector matches, in the order of the list. Throws not found when there is none. */
export async function selected(
  resolver: Resolver,
  manifest: Manifest,
  selection: Selection,
): Promise<readonly Resolved[]> {
  const { noun, typed, scope } = selection
  const list = selectableList(manifest, noun)
  if (list?.cli?.selector === undefined) throw usageError(`${noun} cannot be selected by labels`)
  const text = await selectorText(typed, resolver)
  const domains = Object.values(list.cli.refs ?? {}).includes('domains')
    ? await resolver.chosen('domains', scope)
    : undefined
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
  throw new CliError(`none of the ${noun} that you may see matches ${text}`, {
    exitCode: EXIT.notFound,
    code: SELECTION_EMPTY,
    hints: [`See which there are: ctl ${noun} list`],
  })
}
